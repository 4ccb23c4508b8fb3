/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ordered regions run in the order of their iterations, whatever the schedule. */
#include <omp.h>
#include <stdio.h>

#define NUMBER 60

static int failed;
static int seen[NUMBER], number;

static void expect_order(const char *name, int threads, int step)
{
	for (int i = 0; i < number; i++)
		if (seen[i] != i * step) {
			printf("%s, %d threads: %d came at %d\n", name, threads, seen[i], i);
			failed = 1;
			break;
		}
	if (number != NUMBER / step)
		printf("%s, %d threads: %d came\n", name, threads, number), failed = 1;
	number = 0;
}

/* All iterations are ordered, then every other one. */
#define ORDERED(name, clause) \
static void name(int threads) \
{ \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma(clause) \
	for (int i = 0; i < NUMBER; i++) { \
		_Pragma("omp ordered") \
		seen[number++] = i; \
	} \
	expect_order(#name, threads, 1); \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma(clause) \
	for (long i = 0; i < NUMBER; i++) \
		if (i % 2 == 0) { \
			_Pragma("omp ordered") \
			seen[number++] = i; \
		} \
	expect_order(#name " half", threads, 2); \
}

ORDERED(of_blocks, "omp for ordered schedule(static)")
ORDERED(of_static_chunks, "omp for ordered schedule(static, 2)")
ORDERED(of_dynamic, "omp for ordered schedule(dynamic)")
ORDERED(of_dynamic_chunks, "omp for ordered schedule(dynamic, 4)")
ORDERED(of_guided, "omp for ordered schedule(guided, 2)")
ORDERED(of_runtime, "omp for ordered schedule(runtime)")

static void of_a_region(int threads)
{
#pragma omp parallel for ordered num_threads(threads) schedule(dynamic)
	for (unsigned long i = 0; i < NUMBER; i++) {
#pragma omp ordered
		seen[number++] = i;
	}
	expect_order("region", threads, 1);
}

int main(void)
{
	int sizes[] = {1, 3, 4};
	omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};

	for (int round = 0; round < 12; round++) {
		int threads = sizes[round % 3];

		omp_set_schedule(kinds[round % 3], round % 4);
		of_blocks(threads), of_static_chunks(threads);
		of_dynamic(threads), of_dynamic_chunks(threads);
		of_guided(threads), of_runtime(threads), of_a_region(threads);
	}
	if (!failed)
		puts("ok");
	return failed;
}

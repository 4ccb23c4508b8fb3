/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each iteration of a loop runs once, whatever the schedule; the last one keeps its values. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define MOST 200

static int hits[MOST];
static int failed;

static void expect_each_once(const char *name, int threads, int number)
{
	for (int i = 0; i < MOST; i++)
		if (hits[i] != (i < number)) {
			printf("%s, %d threads: iteration %d of %d came %d times\n", name, threads,
			       i, number, hits[i]);
			failed = 1;
			break;
		}
	memset(hits, 0, sizeof(hits));
}

static void hit(long i)
{
	__atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
}

/* One loop by itself, one that is a region, one that counts down by 3 and one of another type. */
#define LOOPS(name, clause) \
static void name(int threads) \
{ \
	int last = -1; \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma(clause) \
	for (int i = 0; i < 100; i++) { \
		hit(i); \
		last = i; \
	} \
	expect_each_once(#name, threads, 100); \
	if (last != 99) \
		printf("%s: last %d\n", #name, last), failed = 1; \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma(clause) \
	for (long i = LONG_MAX - 1; i > LONG_MAX - 301; i -= 3) { \
		hit((LONG_MAX - 1 - i) / 3); \
		last = (LONG_MAX - 1 - i) / 3; \
	} \
	expect_each_once(#name " down", threads, 100); \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma(clause) \
	for (unsigned long i = ULONG_MAX - 201; i < ULONG_MAX - 1; i += 2) { \
		hit((i - (ULONG_MAX - 201)) / 2); \
		last = (i - (ULONG_MAX - 201)) / 2; \
	} \
	expect_each_once(#name " unsigned", threads, 100); \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma(clause) \
	for (int i = 5; i < threads - 20; i++) { \
		hit(i); \
		last = i; \
	} \
	expect_each_once(#name " empty", threads, 0); \
	if (last != 99) \
		printf("%s: last %d\n", #name, last), failed = 1; \
}

LOOPS(of_blocks, "omp for schedule(static) lastprivate(last)")
LOOPS(of_static_chunks, "omp for schedule(static, 3) lastprivate(last)")
LOOPS(of_dynamic, "omp for schedule(dynamic) lastprivate(last)")
LOOPS(of_dynamic_chunks, "omp for schedule(dynamic, 7) lastprivate(last)")
LOOPS(of_monotonic, "omp for schedule(monotonic: dynamic, 2) lastprivate(last)")
LOOPS(of_nonmonotonic, "omp for schedule(nonmonotonic: guided) lastprivate(last)")
LOOPS(of_guided, "omp for schedule(guided) lastprivate(last)")
LOOPS(of_guided_chunks, "omp for schedule(guided, 5) lastprivate(last)")
LOOPS(of_auto, "omp for schedule(auto) lastprivate(last)")
LOOPS(of_runtime, "omp for schedule(runtime) lastprivate(last)")
LOOPS(of_monotonic_runtime, "omp for schedule(monotonic: runtime) lastprivate(last)")
LOOPS(of_huge_chunks, "omp for schedule(dynamic, 0x7fffffff) lastprivate(last)")

static void of_the_whole_region(int threads)
{
#pragma omp parallel for num_threads(threads) schedule(dynamic, 3)
	for (int i = 0; i < 150; i++)
		hit(i);
	expect_each_once("dynamic region", threads, 150);
#pragma omp parallel for num_threads(threads) schedule(guided)
	for (int i = 0; i < 150; i++)
		hit(i);
	expect_each_once("guided region", threads, 150);
#pragma omp parallel for num_threads(threads) schedule(runtime)
	for (int i = 0; i < 150; i++)
		hit(i);
	expect_each_once("runtime region", threads, 150);
#pragma omp parallel for num_threads(threads) schedule(static, 1) collapse(2)
	for (int i = 0; i < 15; i++)
		for (int j = 0; j < 10; j++)
			hit(i * 10 + j);
	expect_each_once("static region", threads, 150);
}

/* Threads may be many loops apart. */
static void without_waiting(int threads)
{
	long sum = 0;

#pragma omp parallel num_threads(threads) reduction(+: sum)
	for (int k = 0; k < 300; k++) {
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < 10; i++)
			sum += i;
#pragma omp for schedule(guided) nowait
		for (int i = 0; i < 10; i++)
			sum += i;
#pragma omp for schedule(static) nowait
		for (int i = 0; i < 10; i++)
			sum += i;
	}
	if (sum != 300 * 3 * 45)
		printf("%d threads, nowait: %ld\n", threads, sum), failed = 1;
}

/* A loop in a region in a loop. */
static void nested(int threads)
{
	omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
	for (int i = 0; i < 10; i++) {
#pragma omp parallel for num_threads(2) schedule(dynamic)
		for (int j = 0; j < 10; j++)
			hit(i * 10 + j);
	}
	expect_each_once("nested", threads, 100);
}

/* Whoever runs an iteration of a static loop runs it in the next such loop, too. */
static void static_loops_agree(int threads)
{
	int who[MOST] = {0}, wrong = 0;

#pragma omp parallel num_threads(threads) reduction(+: wrong)
	{
#pragma omp for schedule(static) nowait
		for (int i = 0; i < 101; i++)
			who[i] = omp_get_thread_num();
#pragma omp for schedule(static) nowait
		for (int i = 0; i < 101; i++)
			wrong += who[i] != omp_get_thread_num();
	}
	if (wrong)
		printf("%d threads: %d iterations changed places\n", threads, wrong), failed = 1;
}

int main(void)
{
	int sizes[] = {1, 3, 4};
	omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
			       omp_sched_auto};

	for (int round = 0; round < 30; round++) {
		int threads = sizes[round % 3];

		of_blocks(threads), of_static_chunks(threads);
		of_dynamic(threads), of_dynamic_chunks(threads);
		of_monotonic(threads), of_nonmonotonic(threads);
		of_guided(threads), of_guided_chunks(threads);
		of_auto(threads), of_huge_chunks(threads);
		for (int kind = 0; kind < 4; kind++) {
			omp_set_schedule(kinds[kind], round % 5);
			of_runtime(threads), of_monotonic_runtime(threads);
			of_the_whole_region(threads);
		}
		without_waiting(threads), nested(threads), static_loops_agree(threads);
	}
	if (!failed)
		puts("ok");
	return failed;
}

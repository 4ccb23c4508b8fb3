/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loops in tasks: each iteration runs once, in tasks of the wanted number and size. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define MOST 1000

static int hits[MOST], failed;

static void hit(long i)
{
	__atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
}

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

#define TASKLOOP(name, clause) \
static void name(int threads) \
{ \
	int last = -1, given = 7; \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma("omp single") \
	{ \
		_Pragma(clause) \
		for (int i = 0; i < MOST; i++) { \
			hit(i * (given == 7)); \
			last = i; \
		} \
		expect_each_once(#name, threads, MOST); \
		if (last != MOST - 1) \
			printf("%s: last %d\n", #name, last), failed = 1; \
		_Pragma(clause) \
		for (long i = LONG_MAX - 1; i > LONG_MAX - 301; i -= 3) { \
			hit((LONG_MAX - 1 - i) / 3); \
			last = 1; \
		} \
		expect_each_once(#name " down", threads, 100); \
		_Pragma(clause) \
		for (unsigned long i = ULONG_MAX - 201; i < ULONG_MAX - 1; i += 2) { \
			hit((i - (ULONG_MAX - 201)) / 2); \
			last = 2; \
		} \
		expect_each_once(#name " unsigned", threads, 100); \
		_Pragma(clause) \
		for (int i = 5; i < threads - 20; i++) { \
			hit(i); \
			last = 3; \
		} \
		expect_each_once(#name " empty", threads, 0); \
		if (last != 2) \
			printf("%s: last %d\n", #name, last), failed = 1; \
	} \
}

TASKLOOP(plain, "omp taskloop lastprivate(last) firstprivate(given)")
TASKLOOP(in_grains, "omp taskloop grainsize(7) lastprivate(last) firstprivate(given)")
TASKLOOP(in_single, "omp taskloop grainsize(1) lastprivate(last) firstprivate(given)")
TASKLOOP(in_tasks, "omp taskloop num_tasks(13) lastprivate(last) firstprivate(given)")
TASKLOOP(at_once, "omp taskloop if(0) lastprivate(last) firstprivate(given)")
TASKLOOP(in_final, "omp taskloop final(1) lastprivate(last) firstprivate(given)")

static void without_group(int threads)
{
	int seen = -1, ran = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskloop nogroup grainsize(1) shared(ran)
		for (int i = 0; i < 500; i++)
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
#pragma omp taskwait
		seen = ran;
	}
	if (seen != 500)
		printf("%d threads: %d of 500 before taskwait ended\n", threads, seen), failed = 1;
}

/* Tasks of tasks of a loop, whose group waits for them, too. */
static void of_tasks(int threads)
{
	int seen = -1, ran = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskloop grainsize(1) shared(ran)
		for (int i = 0; i < 300; i++) {
#pragma omp task shared(ran)
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		}
		seen = ran;
	}
	if (seen != 300)
		printf("%d threads: %d of 300 before the group ended\n", threads, seen), failed = 1;
}

int main(void)
{
	int sizes[] = {1, 3, 4};

	for (int round = 0; round < 15; round++) {
		int threads = sizes[round % 3];

		plain(threads), in_grains(threads), in_single(threads), in_tasks(threads);
		at_once(threads), in_final(threads), without_group(threads), of_tasks(threads);
	}
	if (!failed)
		puts("ok");
	return failed;
}

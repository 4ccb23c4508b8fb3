/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Cancelled constructs end early, and threads that wait in a cancelled construct go on. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int failed;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d, %d threads: %s\n", __LINE__, threads, #claim); \
			failed = 1; \
		} \
	} while (0)

static void a_region(int threads)
{
	int passed = 0, came = 0;

#pragma omp parallel num_threads(threads)
	{
		__atomic_fetch_add(&came, 1, __ATOMIC_RELAXED);
		if (omp_get_thread_num() == threads - 1) {
#pragma omp cancel parallel
		}
		/* Without cancellation nobody would pass: one thread does not come. */
#pragma omp barrier
		__atomic_fetch_add(&passed, 1, __ATOMIC_RELAXED);
	}
	CHECK(came == threads && passed == 0);
	/* The next region is whole. */
#pragma omp parallel num_threads(threads)
	{
#pragma omp for schedule(dynamic)
		for (int i = 0; i < 10; i++)
			__atomic_fetch_add(&passed, 1, __ATOMIC_RELAXED);
	}
	CHECK(passed == 10);
}

static void tasks_of_a_region(int threads)
{
	int ran = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp single
		for (int i = 0; i < 100; i++) {
#pragma omp task shared(ran)
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		}
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
#pragma omp cancellation point parallel
	}
	CHECK(ran <= 100);
}

#define LOOP(name, clause) \
static void name(int threads) \
{ \
	int ran = 0, after = 0; \
	_Pragma("omp parallel num_threads(threads)") \
	{ \
		_Pragma(clause) \
		for (int i = 0; i < 1000000; i++) { \
			_Pragma("omp cancellation point for") \
			if (__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED) >= 100) { \
				_Pragma("omp cancel for") \
			} \
		} \
		_Pragma("omp for schedule(dynamic)") \
		for (int i = 0; i < 100; i++) \
			__atomic_fetch_add(&after, 1, __ATOMIC_RELAXED); \
	} \
	CHECK(ran > 100 && ran < 1000000 && after == 100); \
}

LOOP(a_static_loop, "omp for schedule(static)")
LOOP(a_chunked_loop, "omp for schedule(static, 4)")
LOOP(a_dynamic_loop, "omp for schedule(dynamic)")
LOOP(a_guided_loop, "omp for schedule(guided)")

/* gcc warns that such a loop does not wait for the others. */
#ifdef __clang__
static void a_loop_that_is_a_region(int threads)
{
	int ran = 0;

#pragma omp parallel for num_threads(threads) schedule(dynamic)
	for (int i = 0; i < 1000000; i++) {
#pragma omp cancellation point for
		if (__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED) >= 100) {
#pragma omp cancel for
		}
	}
	CHECK(ran > 100 && ran < 1000000);
}
#else
#define a_loop_that_is_a_region a_dynamic_loop
#endif

/* What was cancelled is whole the next time; a condition that fails cancels nothing. */
static void one_loop_after_another(int threads)
{
	int ran = 0, never = 0, zero = 0;

#pragma omp parallel num_threads(threads)
	for (int round = 0; round < 10; round++) {
#pragma omp cancel parallel if (__atomic_load_n(&zero, __ATOMIC_RELAXED))
#pragma omp for
		for (int i = 0; i < 100; i++) {
#pragma omp cancel for if (!__atomic_load_n(&zero, __ATOMIC_RELAXED))
			__atomic_fetch_add(&never, 1, __ATOMIC_RELAXED);
		}
#pragma omp for
		for (int i = 0; i < 100; i++) {
#pragma omp cancel for if (__atomic_load_n(&zero, __ATOMIC_RELAXED))
			__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
		}
	}
	CHECK(ran == 1000 && never == 0);
}

static void some_sections(int threads)
{
	int passed = 0, after = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp sections
		{
#pragma omp section
			{
#pragma omp cancel sections
				__atomic_fetch_add(&passed, 1, __ATOMIC_RELAXED);
			}
#pragma omp section
			{
#pragma omp cancellation point sections
			}
		}
#pragma omp sections
		{
#pragma omp section
			__atomic_fetch_add(&after, 1, __ATOMIC_RELAXED);
		}
	}
	CHECK(passed == 0 && after == 1);
}

/* One thread does not come; the others copy what one of them has, while that waits for them. */
static void what_a_single_gives(int threads)
{
	static int bodies[8];
	int wrong = 0;

	if (threads < 3)
		return;
#pragma omp parallel num_threads(threads)
	{
		int *given[8] = {0};

		if (omp_get_thread_num() == threads - 1) {
			usleep(50);
#pragma omp cancel parallel
		}
		for (int i = 0; i < 8; i++) {
			int value = i;
			int *from = &bodies[0];
#pragma omp single copyprivate(value, from)
			{
				__atomic_fetch_add(&bodies[i], 1, __ATOMIC_RELAXED);
				value = 100 + i;
				from = &bodies[i];
				usleep(i == 5 ? 100 : 0);
			}
			given[i] = from;
			if (value != 100 + i)
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
#pragma omp cancellation point parallel
		}
		for (int i = 0; i < 8; i++)
			if (given[i] != NULL && given[i] != &bodies[i])
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	for (int i = 0; i < 8; i++) {
		CHECK(bodies[i] <= 1);
		bodies[i] = 0;
	}
	CHECK(wrong == 0);
}

static void a_group(int threads)
{
	int ran = 0, after = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskgroup
		for (int i = 0; i < 1000; i++) {
#pragma omp task shared(ran)
			{
#pragma omp cancellation point taskgroup
				if (__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED) >= 10) {
#pragma omp cancel taskgroup
				}
			}
		}
#pragma omp task shared(after)
		after = 1;
	}
	CHECK(ran > 10 && ran < 1000 && after == 1);
}

int main(int argc, char **argv)
{
	int sizes[] = {1, 3, 4};

	(void)argc;
	if (!omp_get_cancellation()) {
		if (getenv("OMP_CANCELLATION"))
			return puts("the variable is not heard"), 1;
		setenv("OMP_CANCELLATION", "true", 1);
		execv("/proc/self/exe", argv);
		return puts("not started again"), 1;
	}
	for (int round = 0; round < 30; round++) {
		int threads = sizes[round % 3];

		one_loop_after_another(threads);
		a_region(threads), tasks_of_a_region(threads);
		a_static_loop(threads), a_chunked_loop(threads);
		a_dynamic_loop(threads), a_guided_loop(threads);
		a_loop_that_is_a_region(threads), some_sections(threads), a_group(threads);
		what_a_single_gives(threads);
	}
	if (!failed)
		puts("ok");
	return failed;
}

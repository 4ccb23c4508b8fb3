/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* More threads of the program use one runtime than may enter in parallel. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 20, RUNS = 20, TASKS = 200, CLOSES = 300 };

static struct ekrt_runtime *runtime;
static long total;
static int has_asked;

struct sums {
	long free;
	long ordered;
};

static void add_free(void *arguments)
{
	struct sums *sums = *(struct sums **)arguments;

	__atomic_fetch_add(&sums->free, 1, __ATOMIC_RELAXED);
}

static void add_ordered(void *arguments)
{
	(*(struct sums **)arguments)->ordered++;
}

static void create(void *arguments)
{
	struct sums *sums = arguments;
	const struct ekrt_dependence turns = {&sums->ordered, EKRT_COMMUTATIVE};
	int i;

	for (i = 0; i < TASKS; i++) {
		CHECK(ekrt_spawn(add_free, &sums, sizeof(sums), NULL, 0, 0) == EKRT_OK);
		CHECK(ekrt_spawn(add_ordered, &sums, sizeof(sums), &turns, 1, 0) == EKRT_OK);
	}
}

/* Acts as a function of a library that opens a scope although a task calls. */
static void nested(void *arguments)
{
	CHECK(ekrt_run(runtime, create, arguments) == EKRT_OK);
	create(arguments);
}

static void *submits(void *arguments)
{
	int i;

	(void)arguments;
	for (i = 0; i < RUNS; i++) {
		struct sums sums = {0, 0};
		int is_nested = i % 5 == 0;

		CHECK(ekrt_run(runtime, is_nested ? nested : create, &sums) == EKRT_OK);
		CHECK(sums.free == TASKS << is_nested && sums.ordered == TASKS << is_nested);
		__atomic_fetch_add(&total, sums.free, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* A thread that asks for the number of workers does not keep a runtime from being closed. */
static void *asks(void *arguments)
{
	struct ekrt_runtime *asked = arguments;

	while (ekrt_workers(asked) == 1)
		__atomic_store_n(&has_asked, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&has_asked, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void close_asked(void)
{
	struct ekrt_runtime *asked = open_with(1);
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, asks, asked) == 0);
	while (!__atomic_exchange_n(&has_asked, 0, __ATOMIC_ACQUIRE))
		continue;
	CHECK(ekrt_close(asked) == EKRT_OK);
	CHECK(pthread_join(thread, NULL) == 0);
}

int main(void)
{
	pthread_t threads[THREADS];
	int i;

	runtime = open_with(2);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, submits, NULL) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(total == (long)THREADS * (RUNS + RUNS / 5) * TASKS);
	CHECK(ekrt_close(runtime) == EKRT_OK);
	for (i = 0; i < CLOSES; i++)
		close_asked();
	puts("ok");
	return 0;
}

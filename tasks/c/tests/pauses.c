/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks that pause until another task, another thread or their own start function resumes them. */
#include "check.h"

#include <pthread.h>
#include <sched.h>

enum { TASKS = 100, LONG = 10000 };

static struct ekrt_paused *paused[TASKS];
static int done;

static void keep(struct ekrt_paused *token, void *place)
{
	__atomic_store_n((struct ekrt_paused **)place, token, __ATOMIC_RELEASE);
}

static void at_once(struct ekrt_paused *token, void *data)
{
	(void)data;
	CHECK(ekrt_resume(token) == EKRT_OK);
}

static void *resume(void *place)
{
	struct ekrt_paused *token;

	while (!(token = __atomic_load_n((struct ekrt_paused **)place, __ATOMIC_ACQUIRE)))
		sched_yield();
	CHECK(ekrt_resume(token) == EKRT_OK);
	return NULL;
}

static void stop(void *arguments)
{
	const int *number = arguments;
	pthread_t before = pthread_self();

	CHECK(ekrt_pause(keep, &paused[*number]) == EKRT_OK);
	CHECK(pthread_equal(before, pthread_self()));
	CHECK(ekrt_pause(at_once, NULL) == EKRT_OK);
	__atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
}

static void release(void *arguments)
{
	resume(&paused[*(const int *)arguments]);
}

static void refused(void *arguments)
{
	(void)arguments;
	CHECK(ekrt_pause(at_once, NULL) == EKRT_EDEFERRED);
}

static void create(void *arguments)
{
	struct ekrt_paused *own = NULL;
	pthread_t thread;
	int i;

	(void)arguments;
	for (i = 0; i < TASKS; i++)
		CHECK(ekrt_spawn(stop, &i, sizeof(i), NULL, 0, EKRT_DEFERRED) == EKRT_OK);
	CHECK(ekrt_spawn(refused, NULL, 0, NULL, 0, 0) == EKRT_OK);
	/* All tasks pause, more than there are workers, and the workers run other tasks. */
	CHECK(pthread_create(&thread, NULL, resume, &own) == 0);
	CHECK(ekrt_pause(keep, &own) == EKRT_OK);
	CHECK(pthread_join(thread, NULL) == 0);
	for (i = 0; i < TASKS; i++)
		release(&i);
	CHECK(ekrt_wait() == EKRT_OK);
	CHECK(done == TASKS);
}

static void stop_in_chain(void *arguments)
{
	(void)arguments;
	CHECK(ekrt_pause(keep, &paused[0]) == EKRT_OK);
	done++;
}

/*
 * Creates more unfinished tasks than a creator may have before it runs queued ones: if it ran
 * one of these, it would stop with that task.
 */
static void create_chain(void *arguments)
{
	const struct ekrt_dependence on = {&done, EKRT_INOUT};
	int i;

	(void)arguments;
	for (i = 0; i < LONG; i++)
		CHECK(ekrt_spawn(stop_in_chain, NULL, 0, &on, 1, EKRT_DEFERRED) == EKRT_OK);
	for (i = 0; i < LONG; i++) {
		struct ekrt_paused *token;

		/* Under valgrind, threads run in long turns: yields for the other threads. */
		while (!(token = __atomic_exchange_n(&paused[0], NULL, __ATOMIC_ACQUIRE)))
			sched_yield();
		CHECK(ekrt_resume(token) == EKRT_OK);
	}
	CHECK(ekrt_wait() == EKRT_OK && done == LONG);
}

static void try_with(uint32_t workers)
{
	struct ekrt_runtime *runtime = open_with(workers);
	int i;

	done = 0;
	for (i = 0; i < TASKS; i++)
		paused[i] = NULL;
	CHECK(ekrt_run(runtime, create, NULL) == EKRT_OK);
	done = 0;
	paused[0] = NULL;
	CHECK(ekrt_run(runtime, create_chain, NULL) == EKRT_OK);
	CHECK(ekrt_close(runtime) == EKRT_OK);
}

int main(void)
{
	try_with(3);
	try_with(2);
	puts("ok");
	return 0;
}

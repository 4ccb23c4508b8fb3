/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events are fulfilled by threads of no team, and need not be where their task was cancelled. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int x;

static void *fulfils(void *event)
{
	usleep(1000);
	omp_fulfill_event((omp_event_handle_t)event);
	return NULL;
}

/* A task that excludes others is over once, and lets the next one have its turn. */
static int in_turn(int threads)
{
	int ran = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	for (int i = 0; i < 4; i++) {
		omp_event_handle_t event;

#pragma omp task depend(mutexinoutset: x) detach(event) shared(ran)
		{
			pthread_t other;

			ran++;
			if (!pthread_create(&other, NULL, fulfils, (void *)event))
				pthread_detach(other);
		}
	}
	return ran == 4;
}

static void wait_for(int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(10);
}

/* Who fulfils an event in a task and goes on with that keeps nobody waiting. */
static void amid_another(void)
{
	static int has_begun, is_known, has_passed;
	static omp_event_handle_t known;
	omp_event_handle_t event = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task
		{
			__atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
			wait_for(&is_known);
			omp_fulfill_event(known);
			wait_for(&has_passed);
		}
		wait_for(&has_begun);
#pragma omp taskgroup
		{
#pragma omp task detach(event)
			{
				known = event;
				__atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
			}
		}
		__atomic_store_n(&has_passed, 1, __ATOMIC_RELEASE);
	}
}

/* Its code would have fulfilled the event, or somebody else does, too late. */
static int cancelled(int threads)
{
	int ran = 0;
	omp_event_handle_t event = 0, other = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskgroup
		{
#pragma omp task depend(out: x)
			{
				usleep(1000);
#pragma omp cancel taskgroup
			}
#pragma omp task depend(in: x) detach(event) shared(ran)
			{
				ran++;
				omp_fulfill_event(event);
			}
#pragma omp task depend(in: x) detach(other) shared(ran)
			ran++;
		}
		/* Where the group was cancelled before there was such a task, there is no event. */
		if (other)
			omp_fulfill_event(other);
	}
	return ran == 0;
}

int main(int argc, char **argv)
{
	(void)argc;
	if (!omp_get_cancellation()) {
		if (getenv("OMP_CANCELLATION"))
			return puts("the variable is not heard"), 1;
		setenv("OMP_CANCELLATION", "true", 1);
		execv("/proc/self/exe", argv);
		return puts("not started again"), 1;
	}
	alarm(60);
	amid_another();
	for (int threads = 1; threads < 4; threads++) {
		if (!in_turn(threads))
			return printf("%d threads: not all had their turn\n", threads), 1;
		if (!cancelled(threads))
			return printf("%d threads: what was cancelled ran\n", threads), 1;
	}
	puts("ok");
	return 0;
}

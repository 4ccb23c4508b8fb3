/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Events are fulfilled by threads of no team. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
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

int main(void)
{
	alarm(60);
	for (int threads = 1; threads < 4; threads++) {
		if (!in_turn(threads))
			return printf("%d threads: not all had their turn\n", threads), 1;
	}
	puts("ok");
	return 0;
}

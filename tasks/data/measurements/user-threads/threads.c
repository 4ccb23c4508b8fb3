/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Threads of the program's own, each with a team of two: prints the microseconds that all of them
 * took together. Arguments are the threads and the regions that each of them begins.
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ADDITIONS = 1000, THREADS_MAX = 256 };

static int regions;
static pthread_barrier_t ready;
static long sums[THREADS_MAX];

static void region(long *sum)
{
	long mine = 0;

#pragma omp parallel for num_threads(2) reduction(+ : mine)
	for (int i = 0; i < ADDITIONS; i++) {
		/* Keeps the compiler from adding up by a formula. */
		__asm__ volatile("" : "+r"(i));
		mine += i;
	}
	*sum += mine;
}

static void *run(void *number)
{
	long *sum = &sums[(long)number];

	pthread_barrier_wait(&ready);
	for (int i = 0; i < regions; i++)
		region(sum);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[THREADS_MAX];

	if (argc != 3)
		return 2;
	int threads = atoi(argv[1]);
	regions = atoi(argv[2]);
	if (threads < 1 || threads > THREADS_MAX || regions < 1)
		return 2;
	pthread_barrier_init(&ready, NULL, threads + 1);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, run, (void *)i))
			return 3;
	double begin = omp_get_wtime();
	pthread_barrier_wait(&ready);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	double end = omp_get_wtime();
	for (int i = 0; i < threads; i++)
		if (sums[i] != (long)regions * ADDITIONS * (ADDITIONS - 1) / 2)
			return 4;
	printf("%.0f\n", (end - begin) * 1e6);
	return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Critical sections exclude each other by name, from whatever thread. */
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 5000

static long nameless, named;
static long double wide;

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical
		nameless++;
#pragma omp critical(some)
		named++;
		/* No instruction adds these: gcc calls GOMP_atomic_start. */
#pragma omp atomic
		wide += 1;
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (nameless != THREADS * ROUNDS || named != nameless || wide != nameless)
		return printf("%ld, %ld, %Lf\n", nameless, named, wide), 1;
	puts("ok");
	return 0;
}

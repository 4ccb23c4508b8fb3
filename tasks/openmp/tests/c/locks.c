/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Locks stay in the room that the compiler's header gives them, and do what they promise. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 5000

/* What is behind a lock must not change. */
static struct {
	omp_lock_t lock;
	unsigned char behind[16];
} simple;

static struct {
	omp_nest_lock_t lock;
	unsigned char behind[16];
} nest;

static long count, nested;

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		omp_set_lock(&simple.lock);
		count++;
		omp_unset_lock(&simple.lock);
		omp_set_nest_lock(&nest.lock);
		if (omp_test_nest_lock(&nest.lock) == 2)
			nested++;
		omp_unset_nest_lock(&nest.lock);
		omp_unset_nest_lock(&nest.lock);
	}
	return unused;
}

int main(void)
{
	static const unsigned char zero[16];
	pthread_t threads[THREADS];

	omp_init_lock(&simple.lock);
	omp_init_nest_lock(&nest.lock);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (count != THREADS * ROUNDS || nested != THREADS * ROUNDS)
		return printf("%ld and %ld of %d\n", count, nested, THREADS * ROUNDS), 1;
	if (!omp_test_lock(&simple.lock) || omp_test_lock(&simple.lock))
		return printf("a lock is had twice\n"), 1;
	omp_unset_lock(&simple.lock);
	omp_destroy_lock(&simple.lock);
	omp_destroy_nest_lock(&nest.lock);
	if (memcmp(simple.behind, zero, 16) || memcmp(nest.behind, zero, 16))
		return printf("a lock is larger than its room\n"), 1;
	puts("ok");
	return 0;
}

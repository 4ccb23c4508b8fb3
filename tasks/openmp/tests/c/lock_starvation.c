/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A thread that waits for long for a lock that is hardly ever free gets the lock. */
#include <omp.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 5 };

static int failed;
static omp_lock_t lock;
static omp_nest_lock_t nest;
/* Changed by who has the lock, and looked at by others to end. */
static int inside, had;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d: %s\n", __LINE__, #claim); \
			failed = 1; \
		} \
	} while (0)

/* Holds the lock for `us` microseconds. Returns how many of the other threads have held it. */
static int hold(int us)
{
	double end = omp_get_wtime() + us * 1e-6;

	CHECK(++inside == 1);
	while (omp_get_wtime() < end)
		;
	CHECK(--inside == 0);
	return us ? had : ++had;
}

static int with_lock(int us)
{
	int seen;

	omp_set_lock(&lock);
	seen = hold(us);
	omp_unset_lock(&lock);
	return seen;
}

static int with_nest_lock(int us)
{
	int seen;

	omp_set_nest_lock(&nest);
	omp_set_nest_lock(&nest);
	seen = hold(us);
	omp_unset_nest_lock(&nest);
	omp_unset_nest_lock(&nest);
	return seen;
}

static int in_critical(int us)
{
	int seen;

#pragma omp critical
	seen = hold(us);
	return seen;
}

/* The first thread takes it again as soon as it has let go, until all others have had it. */
static void hog(int (*with)(int))
{
	for (int round = 0; round < ROUNDS; round++) {
		had = 0;
#pragma omp parallel num_threads(THREADS)
		{
			if (omp_get_thread_num() > 0)
				with(0);
			else
				while (with(200) < THREADS - 1)
					;
		}
		CHECK(had == THREADS - 1 && inside == 0);
	}
}

int main(void)
{
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	hog(with_lock);
	hog(with_nest_lock);
	hog(in_critical);
	CHECK(omp_test_lock(&lock) == 1);
	CHECK(omp_test_nest_lock(&nest) == 1);
	if (!failed)
		puts("ok");
	return failed;
}

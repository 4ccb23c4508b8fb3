/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Each section runs once: in a region, as a region, and with fewer threads than sections. */
#include <omp.h>
#include <stdio.h>

static int failed;

static void by(int threads)
{
	int hits[5] = {0}, last = 0;

#pragma omp parallel num_threads(threads)
	for (int k = 0; k < 50; k++) {
#pragma omp sections lastprivate(last)
		{
#pragma omp section
			{ __atomic_fetch_add(&hits[0], 1, __ATOMIC_RELAXED); last = 1; }
#pragma omp section
			{ __atomic_fetch_add(&hits[1], 1, __ATOMIC_RELAXED); last = 2; }
#pragma omp section
			{ __atomic_fetch_add(&hits[2], 1, __ATOMIC_RELAXED); last = 3; }
		}
#pragma omp sections nowait
		{
#pragma omp section
			__atomic_fetch_add(&hits[3], 1, __ATOMIC_RELAXED);
		}
	}
	for (int k = 0; k < 50; k++) {
#pragma omp parallel sections num_threads(threads)
		{
#pragma omp section
			__atomic_fetch_add(&hits[3], 1, __ATOMIC_RELAXED);
#pragma omp section
			__atomic_fetch_add(&hits[4], 2, __ATOMIC_RELAXED);
		}
	}
	if (hits[0] != 50 || hits[1] != 50 || hits[2] != 50 || hits[3] != 100 || hits[4] != 100)
		printf("%d threads: %d %d %d %d %d\n", threads, hits[0], hits[1], hits[2], hits[3],
		       hits[4]), failed = 1;
	if (last != 3)
		printf("%d threads: last %d\n", threads, last), failed = 1;
}

int main(void)
{
	for (int round = 0; round < 5; round++)
		by(1), by(3), by(4);
	if (!failed)
		puts("ok");
	return failed;
}

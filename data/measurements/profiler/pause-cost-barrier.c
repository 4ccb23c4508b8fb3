// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Threads that meet at a barrier about every 100 us, as often as asked: a pause of one stops all.
 * Prints the seconds that it took.
 *
 *     gcc -O2 -fopenmp pause-cost-barrier.c -o barrier && OMP_NUM_THREADS=2 ./barrier 20000
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Dependent additions, one a cycle: 100 us at 3.2 GHz. */
#define ADDITIONS 320000L

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;
	double start_s = omp_get_wtime();

#pragma omp parallel
	{
		for (long round = 0; round < rounds; round++) {
			long sum = 0;

			for (long i = 0; i < ADDITIONS; i++)
				__asm__ volatile("add $7, %0" : "+r"(sum));
#pragma omp barrier
		}
	}
	printf("%.6f\n", omp_get_wtime() - start_s);
	return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Prints the nanoseconds of an empty region: arguments are threads and regions. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	int threads = atoi(argv[1]), regions = atoi(argv[2]);
	double begin = 0;

	/* The first half warms up. */
	for (int i = -regions; i < regions; i++) {
		if (i == 0)
			begin = omp_get_wtime();
#pragma omp parallel num_threads(threads)
		__asm__ volatile("" ::: "memory");
	}
	printf("%.0f\n", (omp_get_wtime() - begin) * 1e9 / regions);
	return 0;
}

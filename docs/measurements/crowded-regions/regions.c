/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Prints the nanoseconds of an empty region. Arguments: threads, how many regions, and, if each
 * thread is to begin a region of its own in it, the threads of those.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void inside(int threads)
{
	if (threads == 0)
		return;
#pragma omp parallel num_threads(threads)
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	int threads = atoi(argv[1]), regions = atoi(argv[2]), inner = argc > 3 ? atoi(argv[3]) : 0;
	double begin = 0;

	omp_set_max_active_levels(2);
	/* The first half warms up. */
	for (int i = -regions; i < regions; i++) {
		if (i == 0)
			begin = omp_get_wtime();
#pragma omp parallel num_threads(threads)
		inside(inner);
	}
	printf("%.0f\n", (omp_get_wtime() - begin) * 1e9 / regions);
	return 0;
}

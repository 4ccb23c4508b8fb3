/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Teams: every thread runs a region once; regions follow each other, nest, and have singles. */
#include <omp.h>
#include <stdio.h>

static int every_thread_comes_once(int threads)
{
	int hits[8] = {0}, size = 0;

#pragma omp parallel num_threads(threads)
	{
		hits[omp_get_thread_num()]++;
#pragma omp master
		size = omp_get_num_threads();
	}
	for (int i = 0; i < 8; i++)
		if (hits[i] != (i < threads))
			return printf("thread %d of %d came %d times\n", i, threads, hits[i]), 1;
	if (size != threads)
		return printf("%d threads, not %d\n", size, threads), 1;
	return 0;
}

static int regions_follow_each_other(int regions)
{
	long total = 0;

	for (int i = 0; i < regions; i++) {
#pragma omp parallel num_threads(2)
		{
			long mine = omp_get_thread_num() + 1;
#pragma omp atomic
			total += mine;
		}
	}
	if (total != 3L * regions)
		return printf("%d regions gave %ld\n", regions, total), 1;
	return 0;
}

static int one_thread_runs_a_single(int threads)
{
	int sum = 0, given = 0;

#pragma omp parallel num_threads(threads)
	for (int k = 0; k < 200; k++) {
		int mine = -1;
#pragma omp single
		sum += k;
#pragma omp single copyprivate(mine)
		mine = k;
#pragma omp atomic
		given += mine == k;
	}
	if (sum != 199 * 100 || given != 200 * threads)
		return printf("%d threads: sum %d, given %d\n", threads, sum, given), 1;
	return 0;
}

static int regions_nest(void)
{
	int inner = 0, wrong = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
	{
		int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
		{
#pragma omp atomic
			inner++;
			if (omp_get_level() != 2 || omp_get_ancestor_thread_num(1) != outer)
#pragma omp atomic
				wrong++;
		}
	}
	if (inner != 6 || wrong)
		return printf("%d inner threads, %d wrong\n", inner, wrong), 1;
	return 0;
}

int main(void)
{
	int sizes[] = {1, 3, 4};

	for (int i = 0; i < 3; i++)
		if (every_thread_comes_once(sizes[i]) || one_thread_runs_a_single(sizes[i]))
			return 1;
	if (regions_follow_each_other(5000) || regions_nest())
		return 1;
	puts("ok");
	return 0;
}

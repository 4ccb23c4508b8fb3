/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The reduction of a scope covers its threads and their tasks. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
	int sizes[] = {1, 3, 4};

	for (int round = 0; round < 60; round++) {
		int threads = sizes[round % 3], sum = 0, plain = 0;

#pragma omp parallel num_threads(threads)
		{
#pragma omp scope reduction(task, +: sum)
			for (int i = 0; i < 10; i++) {
				sum += 1;
#pragma omp task in_reduction(+: sum)
				sum += 2;
			}
#pragma omp scope reduction(+: plain) nowait
			plain += 1;
		}
		if (sum != 30 * threads || plain != threads)
			return printf("%d threads: %d and %d\n", threads, sum, plain), 1;
	}
	puts("ok");
	return 0;
}

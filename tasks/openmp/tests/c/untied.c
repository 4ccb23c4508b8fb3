/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Untied tasks stop and go on at their scheduling points, and still run once. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
	int sizes[] = {1, 3, 4};

	for (int round = 0; round < 60; round++) {
		int threads = sizes[round % 3], parts = 0, inner = 0, now = 0, seen = -1;

#pragma omp parallel num_threads(threads)
#pragma omp single
		{
			for (int i = 0; i < 50; i++) {
#pragma omp task untied shared(parts, inner) firstprivate(i)
				{
					__atomic_fetch_add(&parts, 1, __ATOMIC_RELAXED);
#pragma omp taskyield
					__atomic_fetch_add(&parts, 1, __ATOMIC_RELAXED);
#pragma omp task shared(inner)
					__atomic_fetch_add(&inner, i, __ATOMIC_RELAXED);
#pragma omp taskwait
					__atomic_fetch_add(&parts, 1, __ATOMIC_RELAXED);
				}
			}
#pragma omp taskwait
			seen = parts;
#pragma omp task untied if(0) shared(now)
			{
				now++;
#pragma omp taskyield
				now++;
			}
		}
		if (seen != 150 || inner != 1225 || now != 2)
			return printf("%d threads: %d, %d, %d\n", threads, seen, inner, now), 1;
	}
	puts("ok");
	return 0;
}

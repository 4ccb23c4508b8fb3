/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A barrier waits for the tasks of a group that has not ended. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
	int sizes[] = {1, 3, 4}, failed = 0;

	for (int round = 0; round < 300; round++) {
		int threads = sizes[round % 3], ran = 0, missing = 0;

#pragma omp parallel num_threads(threads) reduction(+: missing)
		{
#pragma omp taskgroup
			{
				for (int i = 0; i < 10; i++) {
#pragma omp task shared(ran)
					__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
				}
#pragma omp barrier
				missing += 10 * threads - __atomic_load_n(&ran, __ATOMIC_RELAXED);
#pragma omp barrier
			}
		}
		if (missing) {
			printf("%d threads: %d tasks missing\n", threads, missing);
			failed = 1;
		}
	}
	if (!failed)
		puts("ok");
	return failed;
}

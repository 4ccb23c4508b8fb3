/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Prints the nanoseconds of a program's first, second and third region, of two threads each. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
	double times[4];

	times[0] = omp_get_wtime();
	for (int i = 1; i < 4; i++) {
#pragma omp parallel num_threads(2)
		__asm__ volatile("" ::: "memory");
		times[i] = omp_get_wtime();
	}
	for (int i = 1; i < 4; i++)
		printf("%s%.0f", i > 1 ? "," : "", (times[i] - times[i - 1]) * 1e9);
	puts("");
	return 0;
}

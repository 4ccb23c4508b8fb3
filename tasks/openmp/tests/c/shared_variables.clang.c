/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* clang passes every variable that a region shares; here are 20. */
#include <stdio.h>

int main(void)
{
	long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10;
	long k = 11, l = 12, m = 13, n = 14, o = 15, p = 16, q = 17, r = 18;
	long threads = 0, sum = 0;

#pragma omp parallel
	{
		__atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&sum, __atomic_load_n(&a, __ATOMIC_RELAXED) + b + c + d + e + f +
				   g + h + __atomic_load_n(&i, __ATOMIC_RELAXED) + j + k + l +
				   m + n + o + p + q + __atomic_load_n(&r, __ATOMIC_RELAXED),
				   __ATOMIC_RELAXED);
		/* Only what is written somewhere is shared by address. */
		__atomic_store_n(&a, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&i, 9, __ATOMIC_RELAXED);
		__atomic_store_n(&r, 18, __ATOMIC_RELAXED);
	}
	if (!threads || sum != 171 * threads)
		return printf("%ld by %ld threads\n", sum, threads), 1;
	puts("ok");
	return 0;
}

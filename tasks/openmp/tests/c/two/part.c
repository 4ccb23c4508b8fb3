/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* clang's half. */
#include <omp.h>

long part(int threads, void **address);

long part(int threads, void **address)
{
	long ran = 0;

	if (omp_get_max_threads() != threads)
		return 0;
#pragma omp parallel
	__atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED);
	*address = (void *)omp_get_wtime;
	return ran;
}

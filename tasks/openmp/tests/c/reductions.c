/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reductions over regions: of one variable, and of several kinds at once. */
#include <omp.h>
#include <stdio.h>

static int of_one(int threads)
{
	long total = 0;

	for (int i = 0; i < 500; i++) {
#pragma omp parallel num_threads(threads) reduction(+: total)
		total += omp_get_thread_num() + 1;
	}
	if (total != 250L * threads * (threads + 1))
		return printf("%d threads: total %ld\n", threads, total), 1;
	return 0;
}

static int of_several(int threads)
{
	double product = 1;
	int largest = -1, parts[3] = {0};
	unsigned bits = 0;

#pragma omp parallel num_threads(threads) reduction(*: product) reduction(max: largest) \
	reduction(|: bits) reduction(+: parts)
	{
		product *= 2;
		largest = omp_get_thread_num();
		bits = 1u << omp_get_thread_num();
		parts[1] = 7;
	}
	if (product != 1 << threads || largest != threads - 1 || bits != (1u << threads) - 1 ||
	    parts[1] != 7 * threads || parts[0] || parts[2])
		return printf("%d threads: %f %d %u %d\n", threads, product, largest, bits,
			      parts[1]), 1;
	return 0;
}

int main(void)
{
	int sizes[] = {1, 3, 4};

	for (int i = 0; i < 3; i++)
		if (of_one(sizes[i]) || of_several(sizes[i]))
			return 1;
	puts("ok");
	return 0;
}

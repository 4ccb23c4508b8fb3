/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "blocks.h"

#include <stdlib.h>

#include "tally.h"

static void create(struct block *blocks, long count, long steps)
{
	for (long s = 0; s < steps; s++) {
#pragma omp task depend(inout : blocks[0])
		block_step(blocks, s, 0);
		for (long j = 1; j < count; j++) {
#pragma omp task depend(in : blocks[j - 1]) depend(inout : blocks[j])
			block_step(blocks, s, j);
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("blocks", "openmp", argc, argv);
	long count = measure_parameter("blocks", 1024, 1, 1L << 24);
	long steps = measure_parameter("steps", 1000, 1, 1L << 24);
	int threads = measure_threads();
	struct block *blocks = calloc((size_t)count, sizeof(*blocks));

	if (!blocks)
		abort();
#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(blocks, count, steps);
	measure_stop();

	return measure_close((uint64_t)(count * steps), blocks_failure(blocks, count, steps));
}

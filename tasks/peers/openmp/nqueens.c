/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All ways to put queens on a board (queens.h): every position is a task, nobody waits. */
#include "measure.h"
#include "queens.h"
#include "tally.h"

static void search(struct position position)
{
	queens_count(position);
	for (uint32_t free = queens_free(position); free; free &= free - 1) {
#pragma omp task
		search(queens_put(position, free & -free));
	}
}

static void create(long size)
{
#pragma omp task
	search(queens_empty(size));
}

int main(int argc, char **argv)
{
	measure_open("nqueens", "openmp", argc, argv);
	long size = measure_parameter("size", 11, 1, QUEENS_MAX);
	int threads = measure_threads();

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(size);
	measure_stop();

	return measure_close(queens_positions(size), queens_failure(size));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All ways to put queens on a board (queens.h): every position is a task, nobody waits. */
#include "measure.h"
#include "queens.h"
#include "workers.hpp"

static void search(tf::Runtime &all, position here)
{
	queens_count(here);
	for (uint32_t free = queens_free(here); free; free &= free - 1) {
		position next = queens_put(here, free & -free);

		all.silent_async([&all, next] { search(all, next); });
	}
}

int main(int argc, char **argv)
{
	measure_open("nqueens", "taskflow", argc, argv);
	long size = measure_parameter("size", 11, 1, QUEENS_MAX);
	Workers workers(measure_threads());

	measure_start();
	workers.execute([=](tf::Runtime &all) { search(all, queens_empty(size)); });
	measure_stop();

	return measure_close(queens_positions(size), queens_failure(size));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All ways to put queens on a board (queens.h): every position is a task, nobody waits. */
#include "arena.hpp"
#include "measure.h"
#include "queens.h"

static void search(tbb::task_group &group, position here)
{
	queens_count(here);
	for (uint32_t free = queens_free(here); free; free &= free - 1) {
		position next = queens_put(here, free & -free);

		group.run([&group, next] { search(group, next); });
	}
}

int main(int argc, char **argv)
{
	measure_open("nqueens", "tbb", argc, argv);
	long size = measure_parameter("size", 11, 1, QUEENS_MAX);
	Arena arena(measure_threads());

	measure_start();
	arena.execute([=] {
		tbb::task_group group;

		group.run_and_wait([&group, size] { search(group, queens_empty(size)); });
	});
	measure_stop();

	return measure_close(queens_positions(size), queens_failure(size));
}

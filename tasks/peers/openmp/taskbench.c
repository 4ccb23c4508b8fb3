/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The grid of grid.h, from one creator, by dependences on two rows of cells. */
#include "grid.h"
#include "measure.h"
#include "tally.h"

/* One pragma for each number of needs, since a pragma's dependences are fixed. */
static void create_point(struct grid grid, long step, long point)
{
	struct needs needs = grid_needs(grid, step, point);
	struct cell *own = grid_cell(grid, step, point), *need[NEEDS_MAX];

	for (int i = 0; i < needs.count; i++)
		need[i] = grid_cell(grid, step - 1, needs.point[i]);
	switch (needs.count) {
	case 0:
#pragma omp task depend(out : *own)
		grid_run(grid, step, point);
		break;
	case 1:
#pragma omp task depend(in : *need[0]) depend(out : *own)
		grid_run(grid, step, point);
		break;
	case 2:
#pragma omp task depend(in : *need[0], *need[1]) depend(out : *own)
		grid_run(grid, step, point);
		break;
	default:
#pragma omp task depend(in : *need[0], *need[1], *need[2]) depend(out : *own)
		grid_run(grid, step, point);
	}
}

static void create(struct grid grid)
{
	for (long step = 0; step < grid.steps; step++) {
		for (long point = 0; point < grid.width; point++) {
			if (grid.pattern == TRIVIAL) {
#pragma omp task
				grid_run(grid, step, point);
			} else {
				create_point(grid, step, point);
			}
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("taskbench", "openmp", argc, argv);
	struct grid grid = grid_new(0);
	int threads = measure_threads();

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(grid);
	measure_stop();

	return measure_close((uint64_t)(grid.width * grid.steps), grid_failure(grid));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The grid of grid.h with an edge for each need. All rows of cells are kept, so that no task has
 * to wait until its row was read.
 */
#include <vector>

#include "graph.hpp"
#include "grid.h"
#include "measure.h"

static void create(Graph &graph, grid grid)
{
	std::vector<tf::Task> before((size_t)grid.width), row((size_t)grid.width);

	for (long step = 0; step < grid.steps; step++) {
		for (long point = 0; point < grid.width; point++) {
			needs needs = grid_needs(grid, step, point);
			tf::Task need[NEEDS_MAX];

			for (int i = 0; i < needs.count; i++)
				need[i] = before[(size_t)needs.point[i]];
			row[(size_t)point] = graph.after(need, needs.count,
							 [=] { grid_run(grid, step, point); });
		}
		before.swap(row);
	}
}

int main(int argc, char **argv)
{
	measure_open("taskbench", "taskflow", argc, argv);
	grid grid = grid_new(1);
	Workers workers(measure_threads());
	Graph graph;

	measure_start();
	create(graph, grid);
	graph.run(workers);
	measure_stop();

	return measure_close((uint64_t)(grid.width * grid.steps), grid_failure(grid));
}

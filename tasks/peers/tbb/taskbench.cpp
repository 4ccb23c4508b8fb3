/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The grid of grid.h with an edge for each need. All rows of cells are kept, so that no task has
 * to wait until its row was read; a grid without needs is a group of tasks instead.
 */
#include <vector>

#include "arena.hpp"
#include "graph.hpp"
#include "grid.h"
#include "measure.h"

static void create(Graph &graph, grid grid)
{
	std::vector<Node *> before((size_t)grid.width), row((size_t)grid.width);

	for (long step = 0; step < grid.steps; step++) {
		for (long point = 0; point < grid.width; point++) {
			needs needs = grid_needs(grid, step, point);
			Node *need[NEEDS_MAX];

			for (int i = 0; i < needs.count; i++)
				need[i] = before[(size_t)needs.point[i]];
			row[(size_t)point] = graph.after(need, needs.count,
							 [=] { grid_run(grid, step, point); });
		}
		before.swap(row);
	}
}

static void run_freely(grid grid)
{
	tbb::task_group group;

	for (long step = 0; step < grid.steps; step++) {
		for (long point = 0; point < grid.width; point++)
			group.run([=] { grid_run(grid, step, point); });
	}
	group.wait();
}

int main(int argc, char **argv)
{
	measure_open("taskbench", "tbb", argc, argv);
	grid grid = grid_new(1);
	Arena arena(measure_threads());
	Graph *graph = nullptr;

	measure_start();
	arena.execute([&] {
		if (grid.pattern == TRIVIAL) {
			run_freely(grid);
		} else {
			graph = new Graph;
			create(*graph, grid);
			graph->run();
		}
	});
	measure_stop();
	delete graph;

	return measure_close((uint64_t)(grid.width * grid.steps), grid_failure(grid));
}

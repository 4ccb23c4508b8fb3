/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "grid.h"

#include <stdlib.h>

#include "measure.h"
#include "spin.h"
#include "tally.h"

struct grid grid_new(int keep_all_rows)
{
	struct grid grid;

	grid.pattern = measure_parameter("pattern", STENCIL, 0, PATTERNS - 1);
	grid.width = measure_parameter("width", 64, 2, 1 << 20);
	grid.steps = measure_parameter("steps", 250, 1, 1 << 20);
	grid.iterations = measure_parameter("iterations", 1024, 0, 1L << 40);
	grid.width_log2 = 63 - __builtin_clzl((unsigned long)grid.width);
	grid.rows = keep_all_rows ? grid.steps : 2;
	grid.cells = (struct cell *)malloc((size_t)(grid.rows * grid.width) * sizeof(*grid.cells));
	if (!grid.cells || grid.width != 1L << grid.width_log2)
		abort();
	for (long i = 0; i < grid.rows * grid.width; i++)
		grid.cells[i].step = -1;
	return grid;
}

/* Adds a point that is on the grid and not yet in the list. */
static void add(struct needs *needs, struct grid grid, long point)
{
	if (point < 0 || point >= grid.width)
		return;
	for (int i = 0; i < needs->count; i++) {
		if (needs->point[i] == point)
			return;
	}
	needs->point[needs->count++] = point;
}

/* Both neighbours at a distance, and the point itself. */
static void add_around(struct needs *needs, struct grid grid, long point, long distance)
{
	add(needs, grid, point - distance);
	add(needs, grid, point);
	add(needs, grid, point + distance);
}

/* From one point to all in log2(width) steps, then back to one, and again. */
static void add_tree(struct needs *needs, struct grid grid, long step, long point)
{
	long turn = (step - 1) % (2 * grid.width_log2);

	if (turn < grid.width_log2) {
		add(needs, grid, point & ~(grid.width >> (turn + 1)));
		return;
	}
	long distance = 1L << (turn - grid.width_log2);

	add(needs, grid, point);
	if (point % (2 * distance) == 0)
		add(needs, grid, point + distance);
}

/* Anywhere; the same in every run. */
static void add_random(struct needs *needs, struct grid grid, long step, long point)
{
	uint64_t mix = ((uint64_t)step << 32 | (uint64_t)point) * 0x9e3779b97f4a7c15u;

	mix = (mix ^ mix >> 30) * 0xbf58476d1ce4e5b9u;
	for (int i = 0; i < NEEDS_MAX; i++)
		add(needs, grid, (long)(mix >> (20 * i) & (uint64_t)(grid.width - 1)));
}

struct needs grid_needs(struct grid grid, long step, long point)
{
	struct needs needs = {0, {0}};

	if (step == 0)
		return needs;
	switch (grid.pattern) {
	case STENCIL:
		add_around(&needs, grid, point, 1);
		break;
	case FFT:
		add_around(&needs, grid, point, 1L << ((step - 1) % grid.width_log2));
		break;
	case TREE:
		add_tree(&needs, grid, step, point);
		break;
	case RANDOM:
		add_random(&needs, grid, step, point);
		break;
	}
	return needs;
}

void grid_run(struct grid grid, long step, long point)
{
	struct needs needs = grid_needs(grid, step, point);

	for (int i = 0; i < needs.count; i++) {
		if (grid_cell(grid, step - 1, needs.point[i])->step != step - 1)
			return;
	}
	spin((uint64_t)grid.iterations);
	/* Tasks that need nothing may meet here in any order. */
	if (grid.pattern != TRIVIAL)
		grid_cell(grid, step, point)->step = step;
	tally_task();
}

const char *grid_failure(struct grid grid)
{
	return measure_differ("tasks in order", tally_tasks(), (uint64_t)(grid.width * grid.steps));
}

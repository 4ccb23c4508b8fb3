/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A grid of tasks, steps by points, each of which needs a few points of the step before.
 *
 * The shapes are those of Task Bench (Slaughter et al., SC 2020, table 2), and are
 * defined by grid_needs() alone. A task checks that the points that it needs have run,
 * works, and counts itself; a task that runs too early does not count.
 */
#ifndef PEERS_GRID_H
#define PEERS_GRID_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pattern { TRIVIAL, STENCIL, FFT, TREE, RANDOM, PATTERNS };

#define NEEDS_MAX 3

struct cell {
	/* The last step that ran here; -1 at first. */
	long step;
	char apart[64 - sizeof(long)];
};

struct grid {
	long pattern;
	/* Points a step; a power of two. */
	long width, width_log2;
	long steps;
	/* Length of the work, see spin.h. */
	long iterations;
	/* Rows kept: step s is in row s % rows. */
	long rows;
	struct cell *cells;
};

/* Points needed, of the step before, by a point. */
struct needs {
	int count;
	long point[NEEDS_MAX];
};

/* Reads the parameters pattern, width, steps, iterations. */
struct grid grid_new(int keep_all_rows);

struct needs grid_needs(struct grid grid, long step, long point);

/* The body of a task. */
void grid_run(struct grid grid, long step, long point);

static inline struct cell *grid_cell(struct grid grid, long step, long point)
{
	return &grid.cells[step % grid.rows * grid.width + point];
}

/* The fault of the result, or NULL. */
const char *grid_failure(struct grid grid);

#ifdef __cplusplus
}
#endif
#endif

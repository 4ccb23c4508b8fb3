/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Queens that do not attack each other, one a row, as three sets of columns.
 *
 * A position is a task: the empty board, and every way to put one more queen on one.
 */
#ifndef PEERS_QUEENS_H
#define PEERS_QUEENS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QUEENS_MAX 14

struct position {
	/* Columns of the board. */
	uint32_t board;
	/* Columns taken, and those that the next row's diagonals hit. */
	uint32_t taken, left, right;
};

static inline struct position queens_empty(long size)
{
	struct position empty = {(UINT32_C(1) << size) - 1, 0, 0, 0};

	return empty;
}

/* Columns where the next row can have its queen. */
static inline uint32_t queens_free(struct position position)
{
	return position.board & ~(position.taken | position.left | position.right);
}

/* The position with a queen in that column of the next row. */
static inline struct position queens_put(struct position position, uint32_t column)
{
	position.taken |= column;
	position.left = (position.left | column) << 1;
	position.right = (position.right | column) >> 1;
	return position;
}

/* Counts the position as a task, and a full board also as a solution. */
void queens_count(struct position position);

/* The number of positions, from a table. */
uint64_t queens_positions(long size);

/* The fault of the counted positions and solutions, or NULL. */
const char *queens_failure(long size);

#ifdef __cplusplus
}
#endif
#endif

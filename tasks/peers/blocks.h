/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A row of blocks, swept step by step: the task of a step and a block changes the block
 * and reads the block to the left, as this step left it.
 *
 * So task (s, j) comes after (s, j - 1), whose block the task reads, and after (s - 1, j + 1),
 * which reads block j before the change. The last block has no j + 1: its task comes after
 * (s - 1, j), which for all other blocks is already before (s - 1, j + 1). A program with
 * explicit edges needs only these.
 */
#ifndef PEERS_BLOCKS_H
#define PEERS_BLOCKS_H

#include "measure.h"

struct block {
	/* Steps done. */
	long steps;
	char apart[64 - sizeof(long)];
};

/* The task, which leaves the block unchanged if run out of turn. */
static inline void block_step(struct block *blocks, long step, long j)
{
	if (blocks[j].steps == step && (j == 0 || blocks[j - 1].steps == step + 1))
		blocks[j].steps = step + 1;
}

/* The fault of the blocks after this many steps, or NULL. */
static inline const char *blocks_failure(const struct block *blocks, long count, long steps)
{
	uint64_t behind = 0;

	for (long j = 0; j < count; j++)
		behind += blocks[j].steps != steps;
	return measure_differ("blocks left behind", behind, 0);
}

#endif

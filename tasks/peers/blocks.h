/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A row of blocks, swept step by step: the task of a step and a block changes the block
 * and reads the one before it, as this step left it.
 *
 * So task (s, j) comes after (s, j - 1), whose block it reads, and after (s - 1, j + 1),
 * which reads what it changes; where there is no j + 1, after (s - 1, j), which is
 * before (s - 1, j + 1) everywhere else. Who draws edges needs no others.
 */
#ifndef PEERS_BLOCKS_H
#define PEERS_BLOCKS_H

#include "measure.h"

struct block {
	/* Steps done. */
	long steps;
	char apart[64 - sizeof(long)];
};

/* The task; out of its turn it leaves the block behind. */
static inline void block_step(struct block *blocks, long step, long j)
{
	if (blocks[j].steps == step && (j == 0 || blocks[j - 1].steps == step + 1))
		blocks[j].steps = step + 1;
}

/* NULL, or what is wrong after so many steps. */
static inline const char *blocks_failure(const struct block *blocks, long count, long steps)
{
	uint64_t behind = 0;

	for (long j = 0; j < count; j++)
		behind += blocks[j].steps != steps;
	return measure_differ("blocks left behind", behind, 0);
}

#endif

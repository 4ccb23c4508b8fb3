/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A vector halved until a piece fits a block, several times over: how many tasks?
 *
 * Sizes and blocks are powers of two, given as such, so that every leaf is a whole block
 * and the numbers are those of table A.1 of the Nanos6 thesis, without its main task.
 */
#ifndef PEERS_HALVES_H
#define PEERS_HALVES_H

#include "measure.h"

struct halves {
	long size, block, iterations;
};

/* Reads the parameters; both sizes are logarithms to base 2. */
static inline struct halves halves_parameters(long size_log2, long iterations)
{
	struct halves halves;

	halves.size = 1L << measure_parameter("size_log2", size_log2, 0, 40);
	halves.block = 1L << measure_parameter("block_log2", 12, 0, 40);
	halves.iterations = measure_parameter("iterations", iterations, 1, 1000);
	if (halves.block > halves.size)
		halves.block = halves.size;
	return halves;
}

static inline uint64_t halves_leaves(struct halves halves)
{
	return (uint64_t)(halves.size / halves.block * halves.iterations);
}

/* Leaves and inner nodes. */
static inline uint64_t halves_nodes(struct halves halves)
{
	return 2 * halves_leaves(halves) - (uint64_t)halves.iterations;
}

#endif

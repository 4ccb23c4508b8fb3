/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The LU factorization, without pivoting, of a matrix of blocks most of which are
 * empty: A = L U.
 *
 * The functions below are the bodies of the tasks, the same machine code in every
 * model; each counts as a task. For k: lu0(k); fwd(k, j) and bdiv(i, k) for the blocks
 * right of and below block (k, k); then bmod(i, j, k) for i, j > k where both exist.
 * Blocks that the factorization fills are known before; they exist and hold zeros.
 */
#ifndef PEERS_SPARSE_H
#define PEERS_SPARSE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sparse {
	/* Blocks a side. */
	long count;
	/* Elements a side of a block. */
	long size;
	/* By row; NULL where empty for ever. Each column by column. */
	double **block;
	/* How many tasks the factorization has. */
	uint64_t tasks;
};

struct sparse sparse_new(long count, long size);

static inline double *sparse_at(struct sparse matrix, long i, long j)
{
	return matrix.block[i * matrix.count + j];
}

void sparse_lu0(struct sparse matrix, long k);
void sparse_fwd(struct sparse matrix, long k, long j);
void sparse_bdiv(struct sparse matrix, long i, long k);
void sparse_bmod(struct sparse matrix, long i, long j, long k);

/* The fault of the result, a task too few or L U v far from A v, or NULL. */
const char *sparse_failure(struct sparse matrix);

#ifdef __cplusplus
}
#endif
#endif

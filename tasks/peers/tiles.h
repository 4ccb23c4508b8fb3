/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The Cholesky factorization of a symmetric matrix, tile by tile: A = L L'.
 *
 * The functions below are the bodies of the tasks, the same machine code in every
 * model. Each counts as a task, and does nothing unless the tiles that the task needs are
 * in the state that the sequential program would find them in; a task that runs too early
 * therefore shows in the result. For k: potrf(k, k); trsm(i, k) for i > k; then
 * syrk(i, k) and gemm(i, j, k) for i > j > k.
 */
#ifndef PEERS_TILES_H
#define PEERS_TILES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often a tile was written. */
struct written {
	long times;
	char apart[64 - sizeof(long)];
};

struct tiles {
	/* Tiles a side. */
	long count;
	/* Elements a side of a tile; 0: the tasks compute nothing. */
	long size;
	/* Lower triangle, tile by tile, each column by column. */
	double *elements;
	/* Of each tile: tile (i, j) is final at j + 1. */
	struct written *written;
};

struct tiles tiles_new(long count, long size);

/* Where tile (i, j), i >= j, is among the written ones. */
static inline long tiles_at(long i, long j)
{
	return i * (i + 1) / 2 + j;
}

/* count (count + 1) (count + 2) / 6 */
uint64_t tiles_tasks(long count);

void tiles_potrf(struct tiles tiles, long k);
void tiles_trsm(struct tiles tiles, long i, long k);
void tiles_syrk(struct tiles tiles, long i, long k);
void tiles_gemm(struct tiles tiles, long i, long j, long k);

/* The fault of the result, a task too few or too early or L L' v far from A v, or NULL. */
const char *tiles_failure(struct tiles tiles);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* y += a x on vectors whose result is known: x is 1, 2, ..., and y begins at 1. */
#ifndef PEERS_AXPY_H
#define PEERS_AXPY_H

#ifdef __cplusplus
extern "C" {
#endif

struct vectors {
	long size;
	double *x, *y;
};

/* Both vectors, every page touched; ends the process where memory is short. */
struct vectors axpy_vectors(long size);

/* One block; counts as a task. */
void axpy(struct vectors vectors, long begin, long length);

/* The fault of the result after this many iterations, or NULL. */
const char *axpy_failure(struct vectors vectors, long times);

#ifdef __cplusplus
}
#endif
#endif

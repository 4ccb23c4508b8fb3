/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "axpy.h"

#include <stdlib.h>

#include "measure.h"
#include "tally.h"

/* A whole number: the result is exact. */
#define A 3.0
/* x repeats, so that its values stay exact for any size. */
#define PERIOD 1024
/* Not 0: compilers replace memory filled with zeros by calloc, whose pages are untouched. */
#define BEGIN 1.0

struct vectors axpy_vectors(long size)
{
	size_t bytes = (size_t)size * sizeof(double);
	struct vectors vectors = {size, (double *)malloc(bytes), (double *)malloc(bytes)};

	if (!vectors.x || !vectors.y)
		abort();
	for (long i = 0; i < size; i++) {
		vectors.x[i] = (double)(i % PERIOD + 1);
		vectors.y[i] = BEGIN;
	}
	return vectors;
}

void axpy(struct vectors vectors, long begin, long length)
{
	const double *restrict x = vectors.x + begin;
	double *restrict y = vectors.y + begin;

	tally_task();
	for (long i = 0; i < length; i++)
		y[i] += A * x[i];
}

const char *axpy_failure(struct vectors vectors, long times)
{
	uint64_t wrong = 0;

	for (long i = 0; i < vectors.size; i++)
		wrong += vectors.y[i] != BEGIN + (double)times * A * (double)(i % PERIOD + 1);
	return measure_differ("wrong elements", wrong, 0);
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tiles.h"

#include <math.h>
#include <stdlib.h>

#include "measure.h"
#include "tally.h"

/* Of the norm: far above rounding, far below any mistake. */
#define RESIDUAL_MAX 1e-10

/* Element of the matrix to factorize: positive definite, for the diagonal outweighs its row. */
static double original(long order, long i, long j)
{
	uint64_t low = (uint64_t)(i < j ? i : j), high = (uint64_t)(i < j ? j : i);
	uint64_t mixed = (low * 0x9e3779b97f4a7c15u + high + 1) * 0xbf58476d1ce4e5b9u;

	return (double)(mixed >> 40) / (1 << 24) + (i == j ? (double)order : 0);
}

static double *tile(struct tiles tiles, long i, long j)
{
	return tiles.elements + tiles_at(i, j) * tiles.size * tiles.size;
}

struct tiles tiles_new(long count, long size)
{
	long all = tiles_at(count, 0);
	struct tiles tiles = {count, size, NULL, NULL};

	tiles.written = (struct written *)calloc((size_t)all, sizeof(*tiles.written));
	tiles.elements = (double *)malloc((size_t)(all * size * size + 1) * sizeof(double));
	if (!tiles.written || !tiles.elements)
		abort();
	for (long i = 0; i < count; i++) {
		for (long j = 0; j <= i; j++) {
			double *element = tile(tiles, i, j);

			for (long column = j * size; column < (j + 1) * size; column++) {
				for (long row = i * size; row < (i + 1) * size; row++)
					*element++ = original(count * size, row, column);
			}
		}
	}
	return tiles;
}

uint64_t tiles_tasks(long count)
{
	return (uint64_t)count * (uint64_t)(count + 1) * (uint64_t)(count + 2) / 6;
}

/* Whether a tile was written that often. */
static int is_at(struct tiles tiles, long i, long j, long times)
{
	return tiles.written[tiles_at(i, j)].times == times;
}

static void wrote(struct tiles tiles, long i, long j)
{
	tiles.written[tiles_at(i, j)].times++;
}

void tiles_potrf(struct tiles tiles, long k)
{
	long n = tiles.size;
	double *a = tile(tiles, k, k);

	tally_task();
	if (!is_at(tiles, k, k, k))
		return;
	for (long j = 0; j < n; j++) {
		for (long l = 0; l < j; l++) {
			for (long i = j; i < n; i++)
				a[j * n + i] -= a[l * n + i] * a[l * n + j];
		}
		double root = sqrt(a[j * n + j]);

		for (long i = j; i < n; i++)
			a[j * n + i] /= root;
	}
	wrote(tiles, k, k);
}

void tiles_trsm(struct tiles tiles, long i, long k)
{
	long n = tiles.size;
	const double *restrict l = tile(tiles, k, k);
	double *restrict b = tile(tiles, i, k);

	tally_task();
	if (!is_at(tiles, k, k, k + 1) || !is_at(tiles, i, k, k))
		return;
	for (long column = 0; column < n; column++) {
		for (long before = 0; before < column; before++) {
			for (long row = 0; row < n; row++)
				b[column * n + row] -= b[before * n + row] * l[before * n + column];
		}
		for (long row = 0; row < n; row++)
			b[column * n + row] /= l[column * n + column];
	}
	wrote(tiles, i, k);
}

/* c -= a b'. The inner loop runs down columns, which a compiler makes vectors of. */
static void subtract_product(long n, const double *restrict a, const double *restrict b,
			     double *restrict c)
{
	for (long column = 0; column < n; column++) {
		for (long inner = 0; inner < n; inner++) {
			double factor = b[inner * n + column];

			for (long row = 0; row < n; row++)
				c[column * n + row] -= a[inner * n + row] * factor;
		}
	}
}

void tiles_syrk(struct tiles tiles, long i, long k)
{
	tally_task();
	if (!is_at(tiles, i, k, k + 1) || !is_at(tiles, i, i, k))
		return;
	subtract_product(tiles.size, tile(tiles, i, k), tile(tiles, i, k), tile(tiles, i, i));
	wrote(tiles, i, i);
}

void tiles_gemm(struct tiles tiles, long i, long j, long k)
{
	tally_task();
	if (!is_at(tiles, i, k, k + 1) || !is_at(tiles, j, k, k + 1) || !is_at(tiles, i, j, k))
		return;
	subtract_product(tiles.size, tile(tiles, i, k), tile(tiles, j, k), tile(tiles, i, j));
	wrote(tiles, i, j);
}

/* L at a row and a column of the matrix. */
static double factor_at(struct tiles tiles, long row, long column)
{
	long n = tiles.size;

	return tile(tiles, row / n, column / n)[column % n * n + row % n];
}

/* |L L' v - A v| / |A v| for one v that is not special. */
static double residual(struct tiles tiles)
{
	long order = tiles.count * tiles.size;
	double *inner = (double *)calloc((size_t)order + 1, sizeof(double));
	double error = 0, norm = 0;

	if (!inner)
		abort();
	for (long column = 0; column < order; column++) {
		for (long row = column; row < order; row++)
			inner[column] += factor_at(tiles, row, column) * (double)(row % 7 - 2);
	}
	for (long row = 0; row < order; row++) {
		double is = 0, should_be = 0;

		for (long column = 0; column <= row; column++)
			is += factor_at(tiles, row, column) * inner[column];
		for (long column = 0; column < order; column++)
			should_be += original(order, row, column) * (double)(column % 7 - 2);
		error += (is - should_be) * (is - should_be);
		norm += should_be * should_be;
	}
	free(inner);
	return norm > 0 ? sqrt(error / norm) : 0;
}

const char *tiles_failure(struct tiles tiles)
{
	const char *failure = measure_differ("tasks", tally_tasks(), tiles_tasks(tiles.count));

	for (long i = 0; i < tiles.count && !failure; i++) {
		for (long j = 0; j <= i && !failure; j++) {
			uint64_t times = (uint64_t)tiles.written[tiles_at(i, j)].times;

			failure = measure_differ("a tile was written", times, (uint64_t)j + 1);
		}
	}
	if (!failure && !(residual(tiles) < RESIDUAL_MAX))
		failure = "the factors do not give the matrix";
	return failure;
}

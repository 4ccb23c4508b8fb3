/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sparse.h"

#include <math.h>
#include <stdlib.h>

#include "measure.h"
#include "tally.h"

/* Of the norm: far above rounding, far below any mistake. */
#define RESIDUAL_MAX 1e-10
/* Off the three diagonals, one block of this many exists from the beginning. */
#define ONE_OF 8

static uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t mix = (a * 0x9e3779b97f4a7c15u + b + 1) * 0xbf58476d1ce4e5b9u;

	return (mix ^ mix >> 29) * 0x94d049bb133111ebu >> 32;
}

/* Whether a block exists from the beginning. */
static int is_given(long i, long j)
{
	return labs(i - j) <= 1 || mixed((uint64_t)i, (uint64_t)j) % ONE_OF == 0;
}

/* Element of the matrix to factorize; the diagonal outweighs its row and its column. */
static double original(struct sparse matrix, long row, long column)
{
	if (!is_given(row / matrix.size, column / matrix.size))
		return 0;
	double order = (double)(matrix.count * matrix.size);

	return (double)mixed((uint64_t)row, (uint64_t)column) / 4294967296.0 +
	       (row == column ? order : 0);
}

static double *block_new(struct sparse matrix, long i, long j)
{
	long n = matrix.size;
	double *block = (double *)malloc((size_t)(n * n) * sizeof(double));

	if (!block)
		abort();
	for (long column = 0; column < n; column++) {
		for (long row = 0; row < n; row++)
			block[column * n + row] = original(matrix, i * n + row, j * n + column);
	}
	return block;
}

static void make(struct sparse *matrix, long i, long j)
{
	double **block = &matrix->block[i * matrix->count + j];

	if (!*block)
		*block = block_new(*matrix, i, j);
}

/* Plans step k of the factorization: counts its tasks, and makes the blocks that the step fills. */
static void foresee(struct sparse *matrix, long k)
{
	matrix->tasks++;
	for (long j = k + 1; j < matrix->count; j++) {
		matrix->tasks += sparse_at(*matrix, k, j) != NULL;
		matrix->tasks += sparse_at(*matrix, j, k) != NULL;
	}
	for (long i = k + 1; i < matrix->count; i++) {
		for (long j = k + 1; j < matrix->count && sparse_at(*matrix, i, k); j++) {
			if (sparse_at(*matrix, k, j)) {
				make(matrix, i, j);
				matrix->tasks++;
			}
		}
	}
}

struct sparse sparse_new(long count, long size)
{
	struct sparse matrix = {count, size, NULL, 0};

	matrix.block = (double **)calloc((size_t)(count * count), sizeof(*matrix.block));
	if (!matrix.block)
		abort();
	for (long i = 0; i < count; i++) {
		for (long j = 0; j < count; j++) {
			if (is_given(i, j))
				make(&matrix, i, j);
		}
	}
	for (long k = 0; k < count; k++)
		foresee(&matrix, k);
	return matrix;
}

void sparse_lu0(struct sparse matrix, long k)
{
	long n = matrix.size;
	double *a = sparse_at(matrix, k, k);

	tally_task();
	for (long l = 0; l < n; l++) {
		for (long i = l + 1; i < n; i++)
			a[l * n + i] /= a[l * n + l];
		for (long j = l + 1; j < n; j++) {
			for (long i = l + 1; i < n; i++)
				a[j * n + i] -= a[l * n + i] * a[j * n + l];
		}
	}
}

void sparse_fwd(struct sparse matrix, long k, long j)
{
	long n = matrix.size;
	const double *restrict l = sparse_at(matrix, k, k);
	double *restrict b = sparse_at(matrix, k, j);

	tally_task();
	for (long column = 0; column < n; column++) {
		for (long step = 0; step < n; step++) {
			double factor = b[column * n + step];

			for (long row = step + 1; row < n; row++)
				b[column * n + row] -= l[step * n + row] * factor;
		}
	}
}

void sparse_bdiv(struct sparse matrix, long i, long k)
{
	long n = matrix.size;
	const double *restrict u = sparse_at(matrix, k, k);
	double *restrict b = sparse_at(matrix, i, k);

	tally_task();
	for (long column = 0; column < n; column++) {
		for (long before = 0; before < column; before++) {
			for (long row = 0; row < n; row++)
				b[column * n + row] -= b[before * n + row] * u[column * n + before];
		}
		for (long row = 0; row < n; row++)
			b[column * n + row] /= u[column * n + column];
	}
}

void sparse_bmod(struct sparse matrix, long i, long j, long k)
{
	long n = matrix.size;
	const double *restrict a = sparse_at(matrix, i, k);
	const double *restrict b = sparse_at(matrix, k, j);
	double *restrict c = sparse_at(matrix, i, j);

	tally_task();
	for (long column = 0; column < n; column++) {
		for (long inner = 0; inner < n; inner++) {
			double factor = b[column * n + inner];

			for (long row = 0; row < n; row++)
				c[column * n + row] -= a[inner * n + row] * factor;
		}
	}
}

/* An element of the factored matrix: of U on and above the diagonal, of L below. */
static double factored(struct sparse matrix, long row, long column)
{
	long n = matrix.size;
	const double *block = sparse_at(matrix, row / n, column / n);

	return block ? block[column % n * n + row % n] : 0;
}

/* |L U v - A v| / |A v| for one v that is not special. */
static double residual(struct sparse matrix)
{
	long order = matrix.count * matrix.size;
	double *inner = (double *)calloc((size_t)order, sizeof(double));
	double error = 0, norm = 0;

	if (!inner)
		abort();
	for (long row = 0; row < order; row++) {
		for (long column = row; column < order; column++)
			inner[row] += factored(matrix, row, column) * (double)(column % 7 - 2);
	}
	for (long row = 0; row < order; row++) {
		double is = inner[row], should_be = 0;

		for (long column = 0; column < row; column++)
			is += factored(matrix, row, column) * inner[column];
		for (long column = 0; column < order; column++)
			should_be += original(matrix, row, column) * (double)(column % 7 - 2);
		error += (is - should_be) * (is - should_be);
		norm += should_be * should_be;
	}
	free(inner);
	return sqrt(error / norm);
}

const char *sparse_failure(struct sparse matrix)
{
	const char *failure = measure_differ("tasks", tally_tasks(), matrix.tasks);

	if (!failure && !(residual(matrix) < RESIDUAL_MAX))
		failure = "the factors do not give the matrix";
	return failure;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The factorization of sparse.h, from one creator, by dependences on blocks. */
#include "measure.h"
#include "sparse.h"
#include "tally.h"

/* The first element of a block stands for the block. */
static void create_products(struct sparse matrix, long i, long k)
{
	double *left = sparse_at(matrix, i, k);

	for (long j = k + 1; j < matrix.count; j++) {
		double *above = sparse_at(matrix, k, j), *block = sparse_at(matrix, i, j);

		if (above) {
#pragma omp task depend(in : left[0], above[0]) depend(inout : block[0])
			sparse_bmod(matrix, i, j, k);
		}
	}
}

static void create(struct sparse matrix)
{
	for (long k = 0; k < matrix.count; k++) {
		double *diagonal = sparse_at(matrix, k, k);

#pragma omp task depend(inout : diagonal[0])
		sparse_lu0(matrix, k);
		for (long j = k + 1; j < matrix.count; j++) {
			double *right = sparse_at(matrix, k, j), *below = sparse_at(matrix, j, k);

			if (right) {
#pragma omp task depend(in : diagonal[0]) depend(inout : right[0])
				sparse_fwd(matrix, k, j);
			}
			if (below) {
#pragma omp task depend(in : diagonal[0]) depend(inout : below[0])
				sparse_bdiv(matrix, j, k);
			}
		}
		for (long i = k + 1; i < matrix.count; i++) {
			if (sparse_at(matrix, i, k))
				create_products(matrix, i, k);
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("sparselu", "openmp", argc, argv);
	long count = measure_parameter("blocks", 32, 1, 4096);
	long size = measure_parameter("size", 16, 1, 4096);
	int threads = measure_threads();
	struct sparse matrix = sparse_new(count, size);

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(matrix);
	measure_stop();

	return measure_close(matrix.tasks, sparse_failure(matrix));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The factorization of tiles.h, from one creator, by dependences on tiles. */
#include "measure.h"
#include "tally.h"
#include "tiles.h"

static void create(struct tiles tiles)
{
	/* A tile's counter stands for the tile. */
	struct written *tile = tiles.written;

	for (long k = 0; k < tiles.count; k++) {
#pragma omp task depend(inout : tile[tiles_at(k, k)])
		tiles_potrf(tiles, k);
		for (long i = k + 1; i < tiles.count; i++) {
#pragma omp task depend(in : tile[tiles_at(k, k)]) depend(inout : tile[tiles_at(i, k)])
			tiles_trsm(tiles, i, k);
		}
		for (long i = k + 1; i < tiles.count; i++) {
			for (long j = k + 1; j < i; j++) {
/* clang-format off */
#pragma omp task depend(in : tile[tiles_at(i, k)], tile[tiles_at(j, k)]) \
	depend(inout : tile[tiles_at(i, j)])
				/* clang-format on */
				tiles_gemm(tiles, i, j, k);
			}
#pragma omp task depend(in : tile[tiles_at(i, k)]) depend(inout : tile[tiles_at(i, i)])
			tiles_syrk(tiles, i, k);
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("cholesky", "openmp", argc, argv);
	long count = measure_parameter("blocks", 32, 1, 4096);
	long size = measure_parameter("size", 32, 0, 8192);
	int threads = measure_threads();
	struct tiles tiles = tiles_new(count, size);

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(tiles);
	measure_stop();

	return measure_close(tiles_tasks(count), tiles_failure(tiles));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The factorization of tiles.h. A tile that was read is final, so a task needs edges only from
 * the tasks that last wrote its tiles.
 */
#include <vector>

#include "arena.hpp"
#include "graph.hpp"
#include "measure.h"
#include "tiles.h"

static void create(Graph &graph, tiles tiles)
{
	std::vector<Node *> writers((size_t)tiles_at(tiles.count, 0), nullptr);
	auto writer = [&](long i, long j) -> Node *& { return writers[(size_t)tiles_at(i, j)]; };

	for (long k = 0; k < tiles.count; k++) {
		writer(k, k) = graph.after({writer(k, k)}, [=] { tiles_potrf(tiles, k); });
		for (long i = k + 1; i < tiles.count; i++) {
			writer(i, k) = graph.after({writer(k, k), writer(i, k)},
						   [=] { tiles_trsm(tiles, i, k); });
		}
		for (long i = k + 1; i < tiles.count; i++) {
			for (long j = k + 1; j < i; j++) {
				writer(i, j) =
					graph.after({writer(i, k), writer(j, k), writer(i, j)},
						    [=] { tiles_gemm(tiles, i, j, k); });
			}
			writer(i, i) = graph.after({writer(i, k), writer(i, i)},
						   [=] { tiles_syrk(tiles, i, k); });
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("cholesky", "tbb", argc, argv);
	long count = measure_parameter("blocks", 32, 1, 4096);
	long size = measure_parameter("size", 32, 0, 8192);
	Arena arena(measure_threads());
	tiles tiles = tiles_new(count, size);
	Graph *graph = nullptr;

	measure_start();
	arena.execute([&] {
		graph = new Graph;
		create(*graph, tiles);
		graph->run();
	});
	measure_stop();
	delete graph;

	return measure_close(tiles_tasks(count), tiles_failure(tiles));
}

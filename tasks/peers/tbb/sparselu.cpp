/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The factorization of sparse.h. A block that was read is final, so a task needs edges only from
 * the tasks that last wrote its blocks.
 */
#include <vector>

#include "arena.hpp"
#include "graph.hpp"
#include "measure.h"
#include "sparse.h"

class Factorization {
	Graph &graph;
	sparse matrix;
	std::vector<Node *> writers;

	Node *&writer(long i, long j)
	{
		return writers[(size_t)(i * matrix.count + j)];
	}

	void create_panels(long k)
	{
		for (long j = k + 1; j < matrix.count; j++) {
			if (sparse_at(matrix, k, j)) {
				writer(k, j) =
					graph.after({writer(k, k), writer(k, j)},
						    [m = matrix, k, j] { sparse_fwd(m, k, j); });
			}
			if (sparse_at(matrix, j, k)) {
				writer(j, k) =
					graph.after({writer(k, k), writer(j, k)},
						    [m = matrix, k, j] { sparse_bdiv(m, j, k); });
			}
		}
	}

	void create_products(long i, long k)
	{
		for (long j = k + 1; j < matrix.count; j++) {
			if (sparse_at(matrix, k, j)) {
				auto product = [m = matrix, i, j, k] { sparse_bmod(m, i, j, k); };

				writer(i, j) = graph.after(
					{writer(i, k), writer(k, j), writer(i, j)}, product);
			}
		}
	}

public:
	Factorization(Graph &graph, sparse matrix)
		: graph(graph), matrix(matrix),
		  writers((size_t)(matrix.count * matrix.count), nullptr)
	{
	}

	void create()
	{
		for (long k = 0; k < matrix.count; k++) {
			writer(k, k) =
				graph.after({writer(k, k)}, [m = matrix, k] { sparse_lu0(m, k); });
			create_panels(k);
			for (long i = k + 1; i < matrix.count; i++) {
				if (sparse_at(matrix, i, k))
					create_products(i, k);
			}
		}
	}
};

int main(int argc, char **argv)
{
	measure_open("sparselu", "tbb", argc, argv);
	long count = measure_parameter("blocks", 32, 1, 4096);
	long size = measure_parameter("size", 16, 1, 4096);
	Arena arena(measure_threads());
	sparse matrix = sparse_new(count, size);
	Graph *graph = nullptr;

	measure_start();
	arena.execute([&] {
		graph = new Graph;
		Factorization(*graph, matrix).create();
		graph->run();
	});
	measure_stop();
	delete graph;

	return measure_close(matrix.tasks, sparse_failure(matrix));
}

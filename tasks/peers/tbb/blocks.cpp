/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "blocks.h"

#include <vector>

#include "arena.hpp"
#include "graph.hpp"

static void create(Graph &graph, std::vector<block> &blocks, long steps)
{
	long count = (long)blocks.size();
	/* Of the step before from j on, of this one up to j. */
	std::vector<Node *> latest(blocks.size(), nullptr);

	for (long s = 0; s < steps; s++) {
		for (long j = 0; j < count; j++) {
			Node *left = j > 0 ? latest[j - 1] : nullptr;
			Node *reader = latest[j + 1 < count ? j + 1 : j];

			latest[j] = graph.after({left, reader}, [first = blocks.data(), s, j] {
				block_step(first, s, j);
			});
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("blocks", "tbb", argc, argv);
	long count = measure_parameter("blocks", 1024, 1, 1L << 24);
	long steps = measure_parameter("steps", 1000, 1, 1L << 24);
	Arena arena(measure_threads());
	std::vector<block> blocks((size_t)count);
	Graph *graph = nullptr;

	measure_start();
	arena.execute([&] {
		graph = new Graph;
		create(*graph, blocks, steps);
		graph->run();
	});
	measure_stop();
	delete graph;

	return measure_close((uint64_t)(count * steps),
			     blocks_failure(blocks.data(), count, steps));
}

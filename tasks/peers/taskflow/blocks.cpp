/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "blocks.h"

#include <vector>

#include "graph.hpp"

static void create(Graph &graph, std::vector<block> &blocks, long steps)
{
	long count = (long)blocks.size();
	/* Of the step before from j on, of this one up to j. */
	std::vector<tf::Task> latest(blocks.size());

	for (long s = 0; s < steps; s++) {
		for (long j = 0; j < count; j++) {
			tf::Task left = j > 0 ? latest[j - 1] : tf::Task();
			tf::Task reader = latest[j + 1 < count ? j + 1 : j];

			latest[j] = graph.after({left, reader}, [first = blocks.data(), s, j] {
				block_step(first, s, j);
			});
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("blocks", "taskflow", argc, argv);
	long count = measure_parameter("blocks", 1024, 1, 1L << 24);
	long steps = measure_parameter("steps", 1000, 1, 1L << 24);
	Workers workers(measure_threads());
	std::vector<block> blocks((size_t)count);
	Graph graph;

	measure_start();
	create(graph, blocks, steps);
	graph.run(workers);
	measure_stop();

	return measure_close((uint64_t)(count * steps),
			     blocks_failure(blocks.data(), count, steps));
}

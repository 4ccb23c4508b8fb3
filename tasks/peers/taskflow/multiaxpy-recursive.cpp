/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * y += a x, several times over: by recursive halving, where an iteration ends before the next
 * begins; or by leaves alone, with an edge from each to the same leaf of the next iteration.
 */
#include <vector>

#include "axpy.h"
#include "graph.hpp"
#include "halves.h"

static void node(tf::Runtime &all, vectors vectors, long begin, long length, long block)
{
	if (length <= block) {
		axpy(vectors, begin, length);
		return;
	}
	tally_task();
	long half = length / 2;

	all.silent_async([=, &all] { node(all, vectors, begin, half, block); });
	all.silent_async([=, &all] { node(all, vectors, begin + half, half, block); });
}

static void run_recursively(Workers &workers, vectors vectors, halves halves)
{
	workers.execute([=](tf::Runtime &all) {
		for (long i = 0; i < halves.iterations; i++) {
			node(all, vectors, 0, halves.size, halves.block);
			all.corun_all();
		}
	});
}

static void create_leaves(Graph &graph, vectors vectors, halves halves)
{
	std::vector<tf::Task> latest((size_t)(halves.size / halves.block));

	for (long i = 0; i < halves.iterations; i++) {
		for (size_t leaf = 0; leaf < latest.size(); leaf++) {
			latest[leaf] = graph.after({latest[leaf]}, [=] {
				axpy(vectors, (long)leaf * halves.block, halves.block);
			});
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("multiaxpy-recursive", "taskflow", argc, argv);
	halves halves = halves_parameters(22, 10);
	long dependences = measure_parameter("dependences", 0, 0, 1);
	Workers workers(measure_threads());
	vectors vectors = axpy_vectors(halves.size);
	uint64_t tasks = dependences ? halves_leaves(halves) : halves_nodes(halves);
	Graph graph;

	measure_start();
	if (dependences) {
		create_leaves(graph, vectors, halves);
		graph.run(workers);
	} else {
		run_recursively(workers, vectors, halves);
	}
	measure_stop();

	const char *failure = measure_differ("tasks", tally_tasks(), tasks);

	return measure_close(tasks, failure ? failure : axpy_failure(vectors, halves.iterations));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * y += a x, several times over: by recursive halving, where an iteration ends before the next
 * begins; or by leaves alone, with an edge from each to the same leaf of the next iteration.
 */
#include <vector>

#include "arena.hpp"
#include "axpy.h"
#include "graph.hpp"
#include "halves.h"

static void node(tbb::task_group &group, vectors vectors, long begin, long length, long block)
{
	if (length <= block) {
		axpy(vectors, begin, length);
		return;
	}
	tally_task();
	long half = length / 2;

	group.run([=, &group] { node(group, vectors, begin, half, block); });
	group.run([=, &group] { node(group, vectors, begin + half, half, block); });
}

static void run_recursively(vectors vectors, halves halves)
{
	for (long i = 0; i < halves.iterations; i++) {
		tbb::task_group group;

		group.run_and_wait(
			[=, &group] { node(group, vectors, 0, halves.size, halves.block); });
	}
}

static void create_leaves(Graph &graph, vectors vectors, halves halves)
{
	std::vector<Node *> latest((size_t)(halves.size / halves.block), nullptr);

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
	measure_open("multiaxpy-recursive", "tbb", argc, argv);
	halves halves = halves_parameters(22, 10);
	long dependences = measure_parameter("dependences", 0, 0, 1);
	Arena arena(measure_threads());
	vectors vectors = axpy_vectors(halves.size);
	uint64_t tasks = dependences ? halves_leaves(halves) : halves_nodes(halves);
	Graph *graph = nullptr;

	measure_start();
	arena.execute([&] {
		if (dependences) {
			graph = new Graph;
			create_leaves(*graph, vectors, halves);
			graph->run();
		} else {
			run_recursively(vectors, halves);
		}
	});
	measure_stop();
	delete graph;

	const char *failure = measure_differ("tasks", tally_tasks(), tasks);

	return measure_close(tasks, failure ? failure : axpy_failure(vectors, halves.iterations));
}

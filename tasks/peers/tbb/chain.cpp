/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks that all change one value: each needs the one before. */
#include "arena.hpp"
#include "graph.hpp"
#include "measure.h"

int main(int argc, char **argv)
{
	measure_open("chain", "tbb", argc, argv);
	long tasks = measure_parameter("tasks", 1000000, 1, 1L << 40);
	Arena arena(measure_threads());
	Graph *graph = nullptr;
	long value = 0;

	measure_start();
	arena.execute([&] {
		Node *last = nullptr;

		graph = new Graph;
		for (long i = 0; i < tasks; i++) {
			last = graph->after({last}, [&value, i] {
				if (value == i)
					value = i + 1;
			});
		}
		graph->run();
	});
	measure_stop();
	delete graph;

	return measure_close((uint64_t)tasks,
			     measure_differ("in order", (uint64_t)value, (uint64_t)tasks));
}

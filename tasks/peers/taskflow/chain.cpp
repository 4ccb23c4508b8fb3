/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks that all change one value: each needs the one before. */
#include "graph.hpp"
#include "measure.h"

int main(int argc, char **argv)
{
	measure_open("chain", "taskflow", argc, argv);
	long tasks = measure_parameter("tasks", 1000000, 1, 1L << 40);
	Workers workers(measure_threads());
	Graph graph;
	tf::Task last;
	long value = 0;

	measure_start();
	for (long i = 0; i < tasks; i++) {
		last = graph.after({last}, [&value, i] {
			if (value == i)
				value = i + 1;
		});
	}
	graph.run(workers);
	measure_stop();

	return measure_close((uint64_t)tasks,
			     measure_differ("in order", (uint64_t)value, (uint64_t)tasks));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Empty tasks that need nothing: a graph without edges is faster than asynchronous tasks. */
#include "graph.hpp"
#include "measure.h"

int main(int argc, char **argv)
{
	measure_open("independent", "taskflow", argc, argv);
	long tasks = measure_parameter("tasks", 1000000, 1, 1L << 40);
	Workers workers(measure_threads());
	Graph graph;

	measure_start();
	for (long i = 0; i < tasks; i++)
		graph.after({}, tally_task);
	graph.run(workers);
	measure_stop();

	return measure_close((uint64_t)tasks,
			     measure_differ("tasks", tally_tasks(), (uint64_t)tasks));
}

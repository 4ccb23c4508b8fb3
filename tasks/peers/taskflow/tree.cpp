/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recursive halving: every node is a task, nobody waits, and a leaf does nothing. */
#include "measure.h"
#include "workers.hpp"

/* All tasks belong to one runtime, which is waited for in the end. */
static void node(tf::Runtime &all, long depth)
{
	tally_task();
	if (depth == 0)
		return;
	all.silent_async([&all, depth] { node(all, depth - 1); });
	all.silent_async([&all, depth] { node(all, depth - 1); });
}

int main(int argc, char **argv)
{
	measure_open("tree", "taskflow", argc, argv);
	long depth = measure_parameter("depth", 19, 0, 40);
	Workers workers(measure_threads());
	uint64_t tasks = (UINT64_C(2) << depth) - 1;

	measure_start();
	workers.execute([=](tf::Runtime &all) { node(all, depth); });
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

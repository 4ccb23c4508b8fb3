/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recursive halving: every node is a task, nobody waits, and a leaf does nothing. */
#include "arena.hpp"
#include "measure.h"

static void node(tbb::task_group &group, long depth)
{
	tally_task();
	if (depth == 0)
		return;
	group.run([&group, depth] { node(group, depth - 1); });
	group.run([&group, depth] { node(group, depth - 1); });
}

int main(int argc, char **argv)
{
	measure_open("tree", "tbb", argc, argv);
	long depth = measure_parameter("depth", 19, 0, 40);
	Arena arena(measure_threads());
	uint64_t tasks = (UINT64_C(2) << depth) - 1;

	measure_start();
	arena.execute([=] {
		tbb::task_group group;

		group.run_and_wait([&group, depth] { node(group, depth); });
	});
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

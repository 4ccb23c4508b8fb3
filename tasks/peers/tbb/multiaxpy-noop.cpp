/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Recursive halving without dependences, several times; a leaf spins as often as its block has
 * elements.
 */
#include "arena.hpp"
#include "halves.h"
#include "spin.h"

static void node(tbb::task_group &group, long length, long block)
{
	tally_task();
	if (length <= block) {
		spin((uint64_t)length);
		return;
	}
	group.run([&group, length, block] { node(group, length / 2, block); });
	group.run([&group, length, block] { node(group, length / 2, block); });
}

int main(int argc, char **argv)
{
	measure_open("multiaxpy-noop", "tbb", argc, argv);
	halves halves = halves_parameters(26, 10);
	Arena arena(measure_threads());
	uint64_t tasks = halves_nodes(halves);

	measure_start();
	arena.execute([=] {
		tbb::task_group group;

		for (long i = 0; i < halves.iterations; i++)
			group.run([&group, halves] { node(group, halves.size, halves.block); });
		group.wait();
	});
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

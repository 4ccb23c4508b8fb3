/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Recursive halving without dependences, several times; a leaf spins as often as its block has
 * elements.
 */
#include "halves.h"
#include "spin.h"
#include "workers.hpp"

static void node(tf::Runtime &all, long length, long block)
{
	tally_task();
	if (length <= block) {
		spin((uint64_t)length);
		return;
	}
	all.silent_async([&all, length, block] { node(all, length / 2, block); });
	all.silent_async([&all, length, block] { node(all, length / 2, block); });
}

int main(int argc, char **argv)
{
	measure_open("multiaxpy-noop", "taskflow", argc, argv);
	halves halves = halves_parameters(26, 10);
	Workers workers(measure_threads());
	uint64_t tasks = halves_nodes(halves);

	measure_start();
	workers.execute([=](tf::Runtime &all) {
		for (long i = 0; i < halves.iterations; i++)
			all.silent_async([&all, halves] { node(all, halves.size, halves.block); });
	});
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

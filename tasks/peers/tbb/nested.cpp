/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every task creates one child and waits for its end, down to a depth, again and again. */
#include "arena.hpp"
#include "measure.h"

static void nest(long depth)
{
	tally_task();
	if (depth == 1)
		return;
	tbb::task_group group;

	group.run([depth] { nest(depth - 1); });
	group.wait();
}

int main(int argc, char **argv)
{
	measure_open("nested", "tbb", argc, argv);
	long times = measure_parameter("times", 5000, 1, 1L << 30);
	long depth = measure_parameter("depth", 20, 1, 1000);
	Arena arena(measure_threads());
	uint64_t tasks = (uint64_t)(times * depth);

	measure_start();
	arena.execute([=] {
		tbb::task_group group;

		for (long i = 0; i < times; i++) {
			group.run([=] { nest(depth); });
			group.wait();
		}
	});
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

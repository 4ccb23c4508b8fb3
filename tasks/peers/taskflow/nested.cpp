/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every task creates one child and waits for its end, down to a depth, again and again. */
#include "measure.h"
#include "workers.hpp"

static void nest(tf::Runtime &runtime, long depth)
{
	tally_task();
	if (depth == 1)
		return;
	runtime.silent_async([depth](tf::Runtime &inner) { nest(inner, depth - 1); });
	runtime.corun_all();
}

int main(int argc, char **argv)
{
	measure_open("nested", "taskflow", argc, argv);
	long times = measure_parameter("times", 5000, 1, 1L << 30);
	long depth = measure_parameter("depth", 20, 1, 1000);
	Workers workers(measure_threads());
	uint64_t tasks = (uint64_t)(times * depth);

	measure_start();
	workers.execute([=](tf::Runtime &runtime) {
		for (long i = 0; i < times; i++) {
			runtime.silent_async([=](tf::Runtime &inner) { nest(inner, depth); });
			runtime.corun_all();
		}
	});
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

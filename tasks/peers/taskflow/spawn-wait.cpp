/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One task is created and waited for, again and again. */
#include "measure.h"
#include "workers.hpp"

int main(int argc, char **argv)
{
	measure_open("spawn-wait", "taskflow", argc, argv);
	long tasks = measure_parameter("tasks", 100000, 1, 1L << 40);
	Workers workers(measure_threads());

	measure_start();
	workers.execute([=](tf::Runtime &runtime) {
		for (long i = 0; i < tasks; i++) {
			runtime.silent_async([] { tally_task(); });
			runtime.corun_all();
		}
	});
	measure_stop();

	return measure_close((uint64_t)tasks,
			     measure_differ("tasks", tally_tasks(), (uint64_t)tasks));
}

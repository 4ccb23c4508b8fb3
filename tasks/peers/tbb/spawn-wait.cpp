/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One task is created and waited for, again and again. */
#include "arena.hpp"
#include "measure.h"

int main(int argc, char **argv)
{
	measure_open("spawn-wait", "tbb", argc, argv);
	long tasks = measure_parameter("tasks", 100000, 1, 1L << 40);
	Arena arena(measure_threads());

	measure_start();
	arena.execute([=] {
		tbb::task_group group;

		for (long i = 0; i < tasks; i++) {
			group.run(tally_task);
			group.wait();
		}
	});
	measure_stop();

	return measure_close((uint64_t)tasks,
			     measure_differ("tasks", tally_tasks(), (uint64_t)tasks));
}

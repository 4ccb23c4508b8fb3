/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two tasks that spin, or do not, are created and waited for, again and again. */
#include "measure.h"
#include "spin.h"
#include "workers.hpp"

int main(int argc, char **argv)
{
	measure_open("fork-join", "taskflow", argc, argv);
	long regions = measure_parameter("regions", 1000, 1, 1L << 40);
	uint64_t size = (uint64_t)measure_parameter("size", 0, 0, 1L << 40);
	Workers workers(measure_threads());

	measure_start();
	workers.execute([=](tf::Runtime &runtime) {
		auto side = [=] {
			tally_task();
			spin(size);
		};
		for (long i = 0; i < regions; i++) {
			runtime.silent_async(side);
			runtime.silent_async(side);
			runtime.corun_all();
		}
	});
	measure_stop();

	return measure_close((uint64_t)regions,
			     measure_differ("runs", tally_tasks(), 2 * (uint64_t)regions));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two functions that spin, or do not, are invoked in parallel, again and again. */
#include <tbb/parallel_invoke.h>

#include "arena.hpp"
#include "measure.h"
#include "spin.h"

int main(int argc, char **argv)
{
	measure_open("fork-join", "tbb", argc, argv);
	long regions = measure_parameter("regions", 1000, 1, 1L << 40);
	uint64_t size = (uint64_t)measure_parameter("size", 0, 0, 1L << 40);
	Arena arena(measure_threads());

	measure_start();
	arena.execute([=] {
		auto side = [=] {
			tally_task();
			spin(size);
		};
		for (long i = 0; i < regions; i++)
			tbb::parallel_invoke(side, side);
	});
	measure_stop();

	return measure_close((uint64_t)regions,
			     measure_differ("runs", tally_tasks(), 2 * (uint64_t)regions));
}

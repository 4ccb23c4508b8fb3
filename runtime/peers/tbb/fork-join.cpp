/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Two empty functions are invoked in parallel, again and again. */
#include <tbb/parallel_invoke.h>

#include "arena.hpp"
#include "measure.h"

int main(int argc, char **argv)
{
	measure_open("fork-join", "tbb", argc, argv);
	long regions = measure_parameter("regions", 1000, 1, 1L << 40);
	Arena arena(measure_threads());

	measure_start();
	arena.execute([=] {
		for (long i = 0; i < regions; i++)
			tbb::parallel_invoke(tally_task, tally_task);
	});
	measure_stop();

	return measure_close((uint64_t)regions,
			     measure_differ("runs", tally_tasks(), 2 * (uint64_t)regions));
}

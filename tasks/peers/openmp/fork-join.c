/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A parallel region whose threads spin for a while, or not at all, again and again. */
#include "measure.h"
#include "spin.h"
#include "tally.h"

int main(int argc, char **argv)
{
	measure_open("fork-join", "openmp", argc, argv);
	long regions = measure_parameter("regions", 1000, 1, 1L << 40);
	uint64_t size = (uint64_t)measure_parameter("size", 0, 0, 1L << 40);
	int threads = measure_threads();
	uint64_t runs = (uint64_t)(regions * threads);

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
	for (long i = 0; i < regions; i++) {
#pragma omp parallel num_threads(threads)
		{
			tally_task();
			spin(size);
		}
	}
	measure_stop();

	return measure_close((uint64_t)regions, measure_differ("runs", tally_tasks(), runs));
}

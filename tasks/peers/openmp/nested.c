/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every task creates one child and waits for its end, down to a depth, again and again. */
#include "measure.h"
#include "tally.h"

static void nest(long depth)
{
	tally_task();
	if (depth == 1)
		return;
#pragma omp task
	nest(depth - 1);
#pragma omp taskwait
}

static void create(long times, long depth)
{
	for (long i = 0; i < times; i++) {
#pragma omp task
		nest(depth);
#pragma omp taskwait
	}
}

int main(int argc, char **argv)
{
	measure_open("nested", "openmp", argc, argv);
	long times = measure_parameter("times", 5000, 1, 1L << 30);
	long depth = measure_parameter("depth", 20, 1, 1000);
	int threads = measure_threads();
	uint64_t tasks = (uint64_t)(times * depth);

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(times, depth);
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

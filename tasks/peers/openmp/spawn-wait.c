/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One task is created and waited for, again and again. */
#include "measure.h"
#include "tally.h"

static void create(long tasks)
{
	for (long i = 0; i < tasks; i++) {
#pragma omp task
		tally_task();
#pragma omp taskwait
	}
}

int main(int argc, char **argv)
{
	measure_open("spawn-wait", "openmp", argc, argv);
	long tasks = measure_parameter("tasks", 100000, 1, 1L << 40);
	int threads = measure_threads();

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(tasks);
	measure_stop();

	return measure_close((uint64_t)tasks,
			     measure_differ("tasks", tally_tasks(), (uint64_t)tasks));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks that all change one value: each needs the one before. */
#include "measure.h"
#include "tally.h"

/* A task that runs out of its turn leaves the value short. */
static void step(long *value, long turn)
{
	if (*value == turn)
		*value = turn + 1;
}

static void create(long tasks, long *value)
{
	for (long i = 0; i < tasks; i++) {
#pragma omp task depend(inout : *value)
		step(value, i);
	}
}

int main(int argc, char **argv)
{
	measure_open("chain", "openmp", argc, argv);
	long tasks = measure_parameter("tasks", 1000000, 1, 1L << 40);
	int threads = measure_threads();
	long value = 0;

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(tasks, &value);
	measure_stop();

	return measure_close((uint64_t)tasks,
			     measure_differ("in order", (uint64_t)value, (uint64_t)tasks));
}

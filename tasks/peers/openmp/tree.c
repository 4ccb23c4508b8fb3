/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Recursive halving: every node is a task, nobody waits, and a leaf does nothing. */
#include "measure.h"
#include "tally.h"

static void node(long depth)
{
	tally_task();
	if (depth == 0)
		return;
#pragma omp task
	node(depth - 1);
#pragma omp task
	node(depth - 1);
}

static void create(long depth)
{
#pragma omp task
	node(depth);
}

int main(int argc, char **argv)
{
	measure_open("tree", "openmp", argc, argv);
	long depth = measure_parameter("depth", 19, 0, 40);
	int threads = measure_threads();
	uint64_t tasks = (UINT64_C(2) << depth) - 1;

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(depth);
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

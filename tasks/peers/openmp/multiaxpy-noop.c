/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The program of appendix A.1 of the Nanos6 thesis: recursive halving without dependences,
 * every node a task, and a leaf that spins as often as its block has elements.
 */
#include "halves.h"
#include "spin.h"
#include "tally.h"

static void node(long length, long block)
{
	tally_task();
	if (length <= block) {
		spin((uint64_t)length);
		return;
	}
#pragma omp task
	node(length / 2, block);
#pragma omp task
	node(length / 2, block);
}

static void create(struct halves halves)
{
	for (long i = 0; i < halves.iterations; i++) {
#pragma omp task
		node(halves.size, halves.block);
	}
}

int main(int argc, char **argv)
{
	measure_open("multiaxpy-noop", "openmp", argc, argv);
	struct halves halves = halves_parameters(26, 10);
	int threads = measure_threads();
	uint64_t tasks = halves_nodes(halves);

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	create(halves);
	measure_stop();

	return measure_close(tasks, measure_differ("tasks", tally_tasks(), tasks));
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * y += a x by recursive halving, several times over.
 *
 * Without dependences an iteration ends before the next begins. With dependences, one task
 * creates all leaves: OpenMP orders only siblings by dependences, and an inner node of the
 * tree would have to wait for its children, which again ends the iteration.
 */
#include "axpy.h"
#include "halves.h"
#include "tally.h"

static void node(struct vectors vectors, long begin, long length, long block)
{
	if (length <= block) {
		axpy(vectors, begin, length);
		return;
	}
	tally_task();
#pragma omp task
	node(vectors, begin, length / 2, block);
#pragma omp task
	node(vectors, begin + length / 2, length / 2, block);
}

static void create_recursively(struct vectors vectors, struct halves halves)
{
	for (long i = 0; i < halves.iterations; i++) {
#pragma omp taskgroup
		{
#pragma omp task
			node(vectors, 0, halves.size, halves.block);
		}
	}
}

static void create_leaves(struct vectors vectors, struct halves halves)
{
	for (long i = 0; i < halves.iterations; i++) {
		for (long begin = 0; begin < halves.size; begin += halves.block) {
#pragma omp task depend(inout : vectors.y[begin])
			axpy(vectors, begin, halves.block);
		}
	}
}

int main(int argc, char **argv)
{
	measure_open("multiaxpy-recursive", "openmp", argc, argv);
	struct halves halves = halves_parameters(22, 10);
	long dependences = measure_parameter("dependences", 0, 0, 1);
	int threads = measure_threads();
	struct vectors vectors = axpy_vectors(halves.size);
	uint64_t tasks = dependences ? halves_leaves(halves) : halves_nodes(halves);

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	if (dependences)
		create_leaves(vectors, halves);
	else
		create_recursively(vectors, halves);
	measure_stop();

	const char *failure = measure_differ("tasks", tally_tasks(), tasks);

	return measure_close(tasks, failure ? failure : axpy_failure(vectors, halves.iterations));
}

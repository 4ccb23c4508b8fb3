/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks of a higher priority run first, where the environment lets them have one. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 40, HIGHEST = 9 };

static int order[TASKS], ran;

/* With two threads, of which one is busy until all have run, the other runs them in turn. */
static int run(void)
{
	int begun = 0;

	ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
	{
#pragma omp task shared(begun)
		{
#pragma omp atomic write
			begun = 1;
			for (int others = 0; others < TASKS;) {
#pragma omp atomic read
				others = ran;
			}
		}
		for (int is = 0; !is;) {
#pragma omp atomic read
			is = begun;
		}
		for (int i = 0; i < TASKS; i++) {
#pragma omp task priority(i % (HIGHEST + 1)) firstprivate(i)
			{
				order[ran] = i % (HIGHEST + 1);
#pragma omp atomic
				ran++;
			}
		}
	}
	for (int i = 1; i < TASKS; i++) {
		if (order[i] > order[i - 1])
			return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	if (!getenv("OMP_MAX_TASK_PRIORITY")) {
		setenv("OMP_MAX_TASK_PRIORITY", "9", 1);
		setenv("EVENKEEL_RULES", "tree-nocutoff", 1);
		execv("/proc/self/exe", argv);
	}
	(void)argc;
	if (omp_get_max_task_priority() != HIGHEST)
		return 2;
	puts(run() ? "ok" : "not by priority");
	return 0;
}

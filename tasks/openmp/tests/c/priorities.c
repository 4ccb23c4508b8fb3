/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks of a higher priority run first, those of loops too, where the environment lets them have
 * one. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 40, HIGHEST = 9 };

static int order[TASKS], ran;

/* With two threads, of which one is busy until all have run, the other runs them in turn. */
static int run(int are_loops)
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
		for (int i = 0; are_loops && i < TASKS; i++) {
#pragma omp taskloop nogroup num_tasks(1) priority(i % (HIGHEST + 1)) firstprivate(i)
			for (int j = 0; j < 1; j++) {
				order[ran] = i % (HIGHEST + 1);
#pragma omp atomic
				ran++;
			}
		}
		for (int i = 0; !are_loops && i < TASKS; i++) {
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
	puts(run(0) && run(1) ? "ok" : "not by priority");
	return 0;
}

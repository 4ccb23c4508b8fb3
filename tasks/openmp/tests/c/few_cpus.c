/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A process that may use one CPU, or one thread, runs all constructs correctly. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int work(void)
{
	int sum = 0, order = 0, tasks = 0;

#pragma omp parallel reduction(+ : sum)
#pragma omp for schedule(guided) nowait
	for (int i = 0; i < 1000; i++)
		sum += i;
#pragma omp parallel num_threads(5)
#pragma omp single
	{
		for (int i = 0; i < 100; i++) {
#pragma omp task depend(inout : order) shared(order) firstprivate(i)
			order = order == i ? i + 1 : -1000;
#pragma omp task shared(tasks)
#pragma omp atomic
			tasks++;
		}
	}
#pragma omp parallel num_threads(5)
	{
#pragma omp barrier
	}
	return sum != 499500 || order != 100 || tasks != 100;
}

int main(int argc, char **argv)
{
	char self[4096] = "", command[8192];
	const char *variables[] = {
		"OMP_NUM_THREADS=1", "OMP_THREAD_LIMIT=1", "OMP_THREAD_LIMIT=3",
		"OMP_DYNAMIC=true",  "OMP_WAIT_POLICY=active", "OMP_WAIT_POLICY=passive",
		"OMP_NUM_THREADS=40", "OMP_STACKSIZE=100k",
	};
	cpu_set_t mask, one;

	if (argc > 1) {
		int cpus = atoi(argv[1]);

		if (cpus && (omp_get_num_procs() != cpus || omp_get_max_threads() > cpus))
			return printf("%d CPUs, %d threads\n", omp_get_num_procs(),
				      omp_get_max_threads()), 1;
		return work();
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		snprintf(command, sizeof(command), "%s timeout 60 %s 0", variables[i], self);
		if (system(command))
			return printf("%s\n", variables[i]), 1;
	}
	/* A mask smaller than the machine, as of taskset and of a cgroup's set of CPUs. */
	if (sched_getaffinity(0, sizeof(mask), &mask))
		return 1;
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &mask)) {
			CPU_SET(cpu, &one);
			break;
		}
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	snprintf(command, sizeof(command), "unset OMP_NUM_THREADS; timeout 60 %s 1", self);
	if (system(command))
		return printf("one CPU\n"), 1;
	puts("ok");
	return 0;
}

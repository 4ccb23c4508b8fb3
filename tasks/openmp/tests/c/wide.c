/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All tasks run, wide ones and others, for every set of CPUs for wide tasks. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS = 400, CELLS = 8 };

static long cells[CELLS + 1];

static long count(void)
{
	long free_tasks = 0, all = 0;

#pragma omp parallel num_threads(3)
#pragma omp single
	for (int i = 0; i < TASKS; i++) {
		int cell = i % CELLS;

#pragma omp task depend(inout : cells[cell]) depend(in : cells[cell + 1])
		cells[cell] += 1;
#pragma omp task shared(free_tasks)
		{
#pragma omp atomic
			free_tasks += 1;
		}
		if (i % 50 == 0) {
#pragma omp taskwait
		}
	}
	for (int cell = 0; cell < CELLS; cell++)
		all += cells[cell];
	return all + free_tasks;
}

static int runs(const char *cpus, const char *functions)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		setenv("EVENKEEL_WIDE_CPUS", cpus, 1);
		setenv("EVENKEEL_WIDE", functions, 1);
		setenv("WIDE", "1", 1);
		execl("/proc/self/exe", "wide", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	if (status)
		printf("CPUs %s, functions %s: status %x\n", cpus, functions, status);
	return !status;
}

int main(void)
{
	/* Those of gcc and of clang. */
	const char *functions = "count._omp_fn.1,.omp_task_entry.,.omp_task_entry..2";
	char file[] = "wideXXXXXX";

	if (getenv("WIDE"))
		return count() == 2 * TASKS ? 0 : 2;
	int opened = mkstemp(file);

	if (opened < 0 || write(opened, "0\n", 2) != 2)
		return 1;
	int are_right = runs("0", functions) && runs("0-1023", functions) && runs("1023", functions) &&
			runs("0", "") && runs(file, functions);

	unlink(file);
	if (are_right)
		puts("ok");
	return 0;
}

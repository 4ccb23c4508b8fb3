/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A child process has none of its parent's threads, and gets its own. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int count(void)
{
	int threads = 0;

#pragma omp parallel num_threads(3) reduction(+ : threads)
	threads += 1;
	return threads;
}

/* A child of one thread of a region begins others in it. */
static int fails_inside(void)
{
	int status = 1;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp masked
	{
		pid_t child = count() == 3 ? fork() : -1;

		if (child == 0)
			_exit(count() == 3 && count() == 3 ? 0 : 1);
		if (child > 0 && waitpid(child, &status, 0) == child)
			status |= count() != 3;
	}
	omp_set_max_active_levels(1);
	return status;
}

int main(void)
{
	int status = 0;

	if (count() != 3) {
		puts("a region has three threads");
		return 1;
	}
	for (int again = 0; again < 3; again++) {
		pid_t child = fork();

		if (child == 0)
			exit(count() == 3 && count() == 3 ? 0 : 1);
		waitpid(child, &status, 0);
		if (status != 0) {
			printf("a region of a child process: status %d\n", status);
			return 1;
		}
		if (count() != 3) {
			puts("a region of the parent, afterwards");
			return 1;
		}
	}
	if (fails_inside()) {
		puts("a region of a child process, in the region that forked");
		return 1;
	}
	puts("ok");
	return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Without memory for threads or tasks, the program ends with a message that says why. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(size_t bytes)
{
	unsigned long pages = 0;
	FILE *sizes = fopen("/proc/self/statm", "r");

	if (!sizes || fscanf(sizes, "%lu", &pages) != 1)
		exit(2);
	fclose(sizes);
	size_t most = pages * (size_t)sysconf(_SC_PAGESIZE) + bytes;
	struct rlimit limit = {most, most};

	if (setrlimit(RLIMIT_AS, &limit))
		exit(2);
}

static void threads(void)
{
	leave(64 << 20);
#pragma omp parallel num_threads(200)
	omp_get_thread_num();
}

/* More bytes than there are, in tasks that are all to wait for the first. */
static void tasks(void)
{
	static int chain;
	char large[1 << 18] = {0};

#pragma omp parallel num_threads(2)
#pragma omp master
	{
		leave(32 << 20);
		for (int i = 0; i < 4000; i++) {
#pragma omp task depend(inout : chain) firstprivate(large)
			usleep(1000 + large[i] + (chain++ > 0));
		}
	}
}

int main(int argc, char **argv)
{
	static const char *const ways[] = {"threads", "tasks"};
	char self[4096] = "", command[8192], text[4096];

	if (argc > 1) {
		if (!strcmp(argv[1], "tasks"))
			tasks();
		else
			threads();
		return 0;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		snprintf(command, sizeof(command), "timeout 60 %s %s 2>&1", self, ways[i]);
		FILE *output = popen(command, "r");
		size_t length = fread(text, 1, sizeof(text) - 1, output);
		int status = pclose(output);

		text[length] = '\0';
		if (!status || (WIFEXITED(status) && WEXITSTATUS(status) == 124) ||
		    !strstr(text, "evenkeel: "))
			return printf("%s: status %x, `%s`\n", ways[i], status, text), 1;
		/* What a user can ask too much of ends as with other runtimes, in a line. */
		if (!i && (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_FAILURE ||
			   !strstr(text, "OMP_NUM_THREADS") ||
			   strchr(text, '\n') != text + length - 1))
			return printf("%s: status %x, `%s`\n", ways[i], status, text), 1;
	}
	puts("ok");
	return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks are counted and named by their function, however they come to run. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { TASKS = 300, WAITS = 20 };

static long turns;

static void free_task(void *arguments)
{
	(void)arguments;
}

static void takes_turns(void *arguments)
{
	(void)arguments;
	turns++;
}

static void begins_all(void *arguments)
{
	const struct ekrt_dependence in_turn = {&turns, EKRT_COMMUTATIVE};
	const struct ekrt_dependence after = {&turns, EKRT_IN};
	int i;

	(void)arguments;
	for (i = 0; i < TASKS; i++) {
		CHECK(ekrt_spawn(free_task, NULL, 0, NULL, 0, EKRT_DEFERRED) == EKRT_OK);
		CHECK(ekrt_spawn(takes_turns, NULL, 0, &in_turn, 1, 0) == EKRT_OK);
		if (i % (TASKS / WAITS) == 0)
			CHECK(ekrt_wait_on(&after, 1) == EKRT_OK);
	}
}

/* Whether a line of the summary has this many runs of this function. */
static int has(char *summary, const char *runs, const char *function)
{
	char *line;

	for (line = summary; line; line = strchr(line, '\n')) {
		size_t length;

		line += strspn(line, "\n ");
		length = strcspn(line, "\n");
		if (!strncmp(line, runs, strlen(runs))) {
			char copy[512] = "";

			strncpy(copy, line, length < sizeof(copy) ? length : sizeof(copy) - 1);
			if (strstr(copy, function))
				return 1;
		}
	}
	return 0;
}

static void check(const char *path)
{
	static char summary[1 << 16];
	FILE *file = fopen(path, "r");
	size_t bytes;

	CHECK(file);
	bytes = fread(summary, 1, sizeof(summary) - 1, file);
	CHECK(fclose(file) == 0 && unlink(path) == 0);
	summary[bytes] = 0;
	if (!has(summary, "601 tasks", "") || !has(summary, "300 ", "  free_task") ||
	    !has(summary, "300 ", "  takes_turns") || !has(summary, "1 ", "  begins_all") ||
	    !has(summary, "1 ", "  ekrt_run, around tasks")) {
		fputs(summary, stderr);
		abort();
	}
}

int main(int count, char **arguments)
{
	char folder[] = "seenXXXXXX", path[64];
	int status = 1;
	pid_t child;

	if (count > 1) {
		struct ekrt_runtime *runtime = open_with(3);

		CHECK(!strcmp(arguments[1], "watched"));
		CHECK(ekrt_run(runtime, begins_all, NULL) == EKRT_OK && turns == TASKS);
		return ekrt_close(runtime);
	}
	CHECK(mkdtemp(folder));
	sprintf(path, "%s/summary", folder);
	child = fork();
	if (!child) {
		CHECK(setenv("EVENKEEL_SUMMARY", path, 1) == 0);
		execl("/proc/self/exe", arguments[0], "watched", (char *)NULL);
		abort();
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	check(path);
	CHECK(rmdir(folder) == 0);
	puts("ok");
	return 0;
}

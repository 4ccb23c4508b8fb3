/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A misspelt environment variable is reported once, however many runtimes are opened. */
#include "check.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void open_two(int out)
{
	int times;

	CHECK(dup2(out, STDERR_FILENO) >= 0 && setenv("EVENKEEL_RULSE", "tree", 1) == 0);
	for (times = 0; times < 2; times++)
		CHECK(ekrt_close(open_with(1)) == EKRT_OK);
	_exit(0);
}

int main(void)
{
	const char *name;
	char said[4096] = "";
	size_t length = 0;
	ssize_t bytes;
	int ends[2], status = 1;
	pid_t child;

	CHECK(pipe(ends) == 0);
	child = fork();
	if (!child)
		open_two(ends[1]);
	CHECK(close(ends[1]) == 0);
	while ((bytes = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0)
		length += (size_t)bytes;
	CHECK(waitpid(child, &status, 0) == child);
	name = strstr(said, "no variable EVENKEEL_RULSE is known");
	if (status || !name || strstr(name + 1, "no variable") ||
	    !strstr(name, "; is EVENKEEL_RULES meant?\n")) {
		fprintf(stderr, "status %d: %s\n", status, said);
		abort();
	}
	puts("ok");
	return 0;
}

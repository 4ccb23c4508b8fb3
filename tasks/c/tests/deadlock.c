/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* In a closed runtime, a deadlock is reported and ends the process. */
#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ekrt_paused *tokens[2];

static void keep(struct ekrt_paused *paused, void *place)
{
	*(struct ekrt_paused **)place = paused;
}

/* Each task is to be resumed by the other one, which itself waits first. */
static void waits(void *argument)
{
	int mine = *(int *)argument;

	CHECK(ekrt_pause(keep, &tokens[mine]) == EKRT_OK);
	CHECK(ekrt_resume(tokens[1 - mine]) == EKRT_OK);
}

static void create_both(void *data)
{
	int mine;

	(void)data;
	for (mine = 0; mine < 2; mine++)
		CHECK(ekrt_spawn(waits, &mine, sizeof(mine), NULL, 0, EKRT_DEFERRED) == EKRT_OK);
	CHECK(ekrt_wait() == EKRT_OK);
}

static int times(const char *text, const char *word)
{
	int count = 0;

	for (text = strstr(text, word); text; text = strstr(text + 1, word))
		count++;
	return count;
}

/* Runs in a child process, whose report of the deadlock goes to `out`. */
static void stand_still(int out)
{
	const struct rlimit none = {0, 0};
	struct ekrt_options options = EKRT_OPTIONS;
	struct ekrt_runtime *runtime;

	CHECK(setrlimit(RLIMIT_CORE, &none) == 0 && dup2(out, STDERR_FILENO) >= 0);
	options.workers = 3;
	options.closed = 1;
	CHECK(ekrt_open(&options, &runtime) == EKRT_OK);
	ekrt_run(runtime, create_both, NULL);
	_exit(0);
}

int main(void)
{
	char said[4096] = "";
	size_t length = 0;
	ssize_t bytes;
	int ends[2], status = 0;
	pid_t child;

	CHECK(pipe(ends) == 0);
	child = fork();
	if (!child)
		stand_still(ends[1]);
	CHECK(close(ends[1]) == 0);
	while ((bytes = read(ends[0], said + length, sizeof(said) - 1 - length)) > 0)
		length += (size_t)bytes;
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
	    times(said, "nobody will let these go on") != 1 ||
	    times(said, "somebody waits to be resumed") != 2 ||
	    times(said, "2 events or pauses are theirs to end.") != 1) {
		fprintf(stderr, "status %d: %s\n", status, said);
		abort();
	}
	puts("ok");
	return 0;
}

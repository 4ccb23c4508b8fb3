/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "measure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define PARAMETERS_MAX 16
#define THREADS_MAX 4096

static struct {
	const char *program, *runtime;
	int argc;
	char **argv;
	/* Bit i: the program asked for argument i. */
	uint64_t asked;
	int parameters;
	const char *name[PARAMETERS_MAX];
	long value[PARAMETERS_MAX];
	uint64_t started_ns, wall_ns;
} run;

static void refuse(const char *argument, const char *why)
{
	fprintf(stderr, "%s: `%s` %s\n", run.program, argument, why);
	exit(2);
}

/* The text after `name=` in the arguments; NULL if no argument begins so. */
static const char *argument(const char *name)
{
	size_t length = strlen(name);

	for (int i = 1; i < run.argc; i++) {
		if (strncmp(run.argv[i], name, length) == 0 && run.argv[i][length] == '=') {
			run.asked |= UINT64_C(1) << i;
			return run.argv[i] + length + 1;
		}
	}
	return NULL;
}

void measure_open(const char *program, const char *model, int argc, char **argv)
{
	run.program = program;
	run.argc = argc;
	run.argv = argv;
	if (argc > 63)
		refuse(argv[63], "is one argument too many");
	const char *runtime = argument("runtime");

	run.runtime = runtime ? runtime : model;
	if (strpbrk(run.runtime, "\"\\"))
		refuse(run.runtime, "cannot be a name");
}

long measure_parameter(const char *name, long otherwise, long least, long most)
{
	const char *text = argument(name);
	char *end = NULL;
	long value = text ? strtol(text, &end, 10) : otherwise;

	if (text && (end == text || *end))
		refuse(name, "takes a whole number");
	if (value < least || value > most)
		refuse(name, "is out of range");
	if (run.parameters == PARAMETERS_MAX)
		refuse(name, "is one parameter too many");
	run.name[run.parameters] = name;
	run.value[run.parameters++] = value;
	return value;
}

const char *measure_text(const char *name)
{
	return argument(name);
}

int measure_threads(void)
{
	return (int)measure_parameter("threads", 2, 1, THREADS_MAX);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void measure_start(void)
{
	for (int i = 1; i < run.argc; i++) {
		if (!(run.asked >> i & 1))
			refuse(run.argv[i], "is no parameter of this program");
	}
	run.started_ns = now_ns();
}

void measure_stop(void)
{
	run.wall_ns = now_ns() - run.started_ns;
}

static uint64_t ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

int measure_close(uint64_t tasks, const char *failure)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("{\"schema\":1,\"program\":\"%s\",\"runtime\":\"%s\",\"parameters\":{", run.program,
	       run.runtime);
	for (int i = 0; i < run.parameters; i++)
		printf("%s\"%s\":%ld", i ? "," : "", run.name[i], run.value[i]);
	printf("},\"tasks\":%llu,\"wall_ns\":%llu,\"cpu_ns\":%llu,\"rss_kb\":%ld,",
	       (unsigned long long)tasks, (unsigned long long)run.wall_ns,
	       (unsigned long long)(ns(usage.ru_utime) + ns(usage.ru_stime)), usage.ru_maxrss);
	printf("\"check\":\"%s%s\"}\n", failure ? "failed: " : "ok", failure ? failure : "");
	return failure ? 1 : 0;
}

const char *measure_differ(const char *what, uint64_t is, uint64_t should_be)
{
	static char sentence[160];

	if (is == should_be)
		return NULL;
	snprintf(sentence, sizeof(sentence), "%s: %llu, not %llu", what, (unsigned long long)is,
		 (unsigned long long)should_be);
	return sentence;
}

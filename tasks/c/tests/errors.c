/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A call with a mistake returns its code and has no effect. */
#include "check.h"

#include <string.h>

static struct ekrt_runtime *runtime;
static int ran, data[2];

static void nothing(void *arguments)
{
	(void)arguments;
	ran++;
}

static void paused(struct ekrt_paused *token, void *arguments)
{
	(void)token;
	(void)arguments;
}

static void says(const char *word)
{
	if (!strstr(ekrt_error(), word)) {
		fprintf(stderr, "expected `%s` in: %s\n", word, ekrt_error());
		abort();
	}
}

static void foreign(void *task)
{
	/* The handle of another task's child, and a handle of no task. */
	CHECK(ekrt_submit(*(struct ekrt_task **)task) == EKRT_ETASK);
	CHECK(ekrt_submit((struct ekrt_task *)&data) == EKRT_ETASK);
}

static void reads(void *arguments)
{
	const struct ekrt_dependence writes = {&data[0], EKRT_INOUT};
	struct ekrt_task *task = ekrt_create(nothing, 0, NULL, 0);

	(void)arguments;
	CHECK(ekrt_inout(task, &data[0]) == EKRT_EACCESS);
	says("task around");
	CHECK(ekrt_spawn(nothing, NULL, 0, &writes, 1, 0) == EKRT_EACCESS);
	CHECK(ekrt_in(task, &data[0]) == EKRT_OK && ekrt_inout(task, &data[1]) == EKRT_OK);
	CHECK(ekrt_submit(task) == EKRT_OK);
}

static void mistakes(void *arguments)
{
	const struct ekrt_dependence weak = {&data[0], EKRT_IN | EKRT_WEAK};
	const struct ekrt_dependence in = {&data[0], EKRT_IN};
	void *block = &block;
	struct ekrt_task *task;

	(void)arguments;
	CHECK(ekrt_close(runtime) == EKRT_EBUSY);
	CHECK(!ekrt_create(NULL, 0, NULL, 0));
	says("`function`");
	CHECK(!ekrt_create(nothing, EKRT_ARGUMENTS_MAX + 1, &block, 0) && !block);
	says("`bytes`");
	CHECK(!ekrt_create(nothing, 0, NULL, 4));
	says("`flags`");

	task = ekrt_create(nothing, 8, &block, EKRT_DEFERRED);
	CHECK(task && block);
	CHECK(ekrt_priority(task, 128) == EKRT_ERANGE && ekrt_priority(task, -128) == EKRT_OK);
	CHECK(ekrt_depend(task, data, 0) == EKRT_ERANGE);
	CHECK(ekrt_depend(task, data, EKRT_WEAK) == EKRT_ERANGE);
	CHECK(ekrt_depend_region(task, data, 8, EKRT_IN | EKRT_WEAK) == EKRT_ERANGE);
	CHECK(ekrt_depend_region(task, data, 8, 0) == EKRT_ERANGE);
	CHECK(ekrt_depend_region(NULL, data, 8, EKRT_IN) == EKRT_ETASK);
	CHECK(ekrt_depend_region(task, data, 0, EKRT_IN) == EKRT_OK);
	CHECK(ekrt_depend(NULL, data, EKRT_IN) == EKRT_ETASK);
	CHECK(ekrt_priority(NULL, 0) == EKRT_ETASK);
	CHECK(ekrt_depend(task, NULL, EKRT_INOUT) == EKRT_OK);
	CHECK(ekrt_spawn(foreign, &task, sizeof(task), NULL, 0, 0) == EKRT_OK);
	CHECK(ekrt_wait() == EKRT_OK && ran == 0);
	CHECK(ekrt_submit(task) == EKRT_OK);
	CHECK(ekrt_submit(task) == EKRT_ETASK);
	says("submitted");
	CHECK(ekrt_in(task, data) == EKRT_ETASK && ekrt_priority(task, 1) == EKRT_ETASK);
	CHECK(ekrt_submit(NULL) == EKRT_ETASK);
	CHECK(ekrt_wait() == EKRT_OK && ran == 1);
	CHECK(ekrt_submit(task) == EKRT_ETASK);

	CHECK(ekrt_spawn(NULL, NULL, 0, NULL, 0, 0) == EKRT_ENULL);
	CHECK(ekrt_spawn(nothing, NULL, 8, NULL, 0, 0) == EKRT_ENULL);
	CHECK(ekrt_spawn(nothing, NULL, 0, NULL, 1, 0) == EKRT_ENULL);
	CHECK(ekrt_spawn(reads, NULL, 0, &in, 1, 0) == EKRT_OK);
	CHECK(ekrt_wait() == EKRT_OK && ran == 2);
	CHECK(ekrt_wait_on(NULL, 1) == EKRT_ENULL && ekrt_wait_on(NULL, 0) == EKRT_OK);
	CHECK(ekrt_wait_on(&weak, 1) == EKRT_ERANGE);
	CHECK(ekrt_pause(NULL, NULL) == EKRT_ENULL && ekrt_resume(NULL) == EKRT_ENULL);
	CHECK(ekrt_event_decrease(NULL, 1) == EKRT_ENULL);
	CHECK(ekrt_event_increase(UINT32_MAX) && !ekrt_event_increase(1));
	says("`number`");
	CHECK(ekrt_event_decrease(ekrt_event_increase(0), UINT32_MAX) == EKRT_OK);
}

static void outside(void)
{
	CHECK(!ekrt_create(nothing, 0, NULL, 0) && !ekrt_event_increase(1));
	says("ekrt_run");
	CHECK(ekrt_submit(NULL) == EKRT_EOUTSIDE && ekrt_wait() == EKRT_EOUTSIDE);
	CHECK(ekrt_wait_on(NULL, 0) == EKRT_EOUTSIDE && ekrt_in(NULL, data) == EKRT_EOUTSIDE);
	CHECK(ekrt_spawn(nothing, NULL, 0, NULL, 0, 0) == EKRT_EOUTSIDE);
	CHECK(ekrt_pause(paused, NULL) == EKRT_EOUTSIDE);
}

static void options(void)
{
	static const char *const wrong[] = {"", "0", "2x", "2x24x1x1", "\xff", "99999x99999"};
	struct ekrt_options options = EKRT_OPTIONS;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		options.topology = wrong[i];
		CHECK(ekrt_open(&options, &runtime) == EKRT_EOPTION && !runtime);
		says("`topology`");
	}
	options.topology = NULL;
	options.rules = "tree-sideways";
	CHECK(ekrt_open(&options, &runtime) == EKRT_EOPTION && !runtime);
	says("sideways");
	options.rules = NULL;
	options.workers = UINT32_MAX;
	CHECK(ekrt_open(&options, &runtime) == EKRT_EOPTION && !runtime);
	says("`workers`");
	options.workers = 2;
	options.bytes--;
	CHECK(ekrt_open(&options, &runtime) == EKRT_EOPTION && !runtime);
	says("EKRT_OPTIONS");
	CHECK(ekrt_open(&options, NULL) == EKRT_ENULL);

	CHECK(setenv("EVENKEEL_TOPOLOGY", "round", 1) == 0);
	CHECK(ekrt_open(NULL, &runtime) == EKRT_EOPTION && !runtime);
	says("EVENKEEL_TOPOLOGY");
	CHECK(setenv("EVENKEEL_TOPOLOGY", " 1x3 ", 1) == 0);
	CHECK(setenv("EVENKEEL_RULES", "\xff", 1) == 0);
	CHECK(ekrt_open(NULL, &runtime) == EKRT_EOPTION && !runtime);
	says("EVENKEEL_RULES is not UTF-8");
	CHECK(setenv("EVENKEEL_RULES", "central-fifo", 1) == 0);
}

int main(void)
{
	struct ekrt_runtime *closed;

	CHECK(ekrt_error()[0] == '\0');
	options();
	outside();
	CHECK(ekrt_run(NULL, nothing, NULL) == EKRT_ECLOSED);
	CHECK(ekrt_close(NULL) == EKRT_ECLOSED && ekrt_workers(NULL) == EKRT_ECLOSED);
	CHECK(ekrt_open(NULL, &runtime) == EKRT_OK);
	CHECK(ekrt_workers(runtime) == 3);
	CHECK(ekrt_run(runtime, NULL, NULL) == EKRT_ENULL);
	CHECK(ekrt_run(runtime, mistakes, NULL) == EKRT_OK);
	outside();
	closed = runtime;
	CHECK(ekrt_close(closed) == EKRT_OK);
	CHECK(ekrt_close(closed) == EKRT_ECLOSED && ekrt_workers(closed) == EKRT_ECLOSED);
	says("no runtime that is open");
	outside();
	CHECK(ekrt_open(NULL, &runtime) == EKRT_OK && runtime != closed);
	CHECK(ekrt_run(closed, nothing, NULL) == EKRT_ECLOSED);
	CHECK(ekrt_close(runtime) == EKRT_OK);
	puts("ok");
	return 0;
}

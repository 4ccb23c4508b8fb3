/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Schedulers with priorities run ready tasks in their order. */
#include "check.h"

enum { TASKS = 20 };

static int order[TASKS];
static int ran;

static void record(void *arguments)
{
	order[ran++] = *(const int *)arguments;
}

static void create(void *arguments)
{
	int i;

	(void)arguments;
	for (i = 0; i < TASKS; i++) {
		const int priority = i * 7 % TASKS - TASKS / 2;
		void *block;
		struct ekrt_task *task = ekrt_create(record, sizeof(int), &block, EKRT_DEFERRED);

		*(int *)block = priority;
		CHECK(ekrt_priority(task, priority) == EKRT_OK);
		CHECK(ekrt_submit(task) == EKRT_OK);
	}
	CHECK(ekrt_wait() == EKRT_OK);
}

int main(void)
{
	struct ekrt_options options = EKRT_OPTIONS;
	struct ekrt_runtime *runtime;
	int i;

	options.workers = 1;
	options.rules = "central-priority";
	CHECK(ekrt_open(&options, &runtime) == EKRT_OK);
	CHECK(ekrt_run(runtime, create, NULL) == EKRT_OK);
	CHECK(ekrt_close(runtime) == EKRT_OK);
	CHECK(ran == TASKS);
	for (i = 1; i < TASKS; i++)
		CHECK(order[i] < order[i - 1]);
	puts("ok");
	return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* 100,000 tasks of each sort: free ones, a chain, and some that are created long before. */
#include "check.h"

enum { TASKS = 100000, KEPT = 1000 };

static long counted;
static long chain;

static void count(void *arguments)
{
	(void)arguments;
	__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
}

static void link_up(void *arguments)
{
	CHECK(chain == *(const long *)arguments);
	chain++;
}

static void create(void *arguments)
{
	static struct ekrt_task *kept[KEPT];
	const struct ekrt_dependence on_chain = {&chain, EKRT_INOUT};
	long i;

	(void)arguments;
	for (i = 0; i < KEPT; i++) {
		kept[i] = ekrt_create(count, 0, NULL, 0);
		CHECK(kept[i]);
	}
	for (i = 0; i < TASKS; i++) {
		CHECK(ekrt_spawn(count, NULL, 0, NULL, 0, i % 2 ? EKRT_DEFERRED : 0) == EKRT_OK);
		CHECK(ekrt_spawn(link_up, &i, sizeof(i), &on_chain, 1, 0) == EKRT_OK);
	}
	for (i = 0; i < KEPT / 2; i++)
		CHECK(ekrt_submit(kept[i]) == EKRT_OK);
	/* Tasks that were not submitted are freed with this one. */
}

int main(void)
{
	struct ekrt_runtime *runtime = open_with(3);

	CHECK(ekrt_run(runtime, create, NULL) == EKRT_OK);
	CHECK(counted == TASKS + KEPT / 2 && chain == TASKS);
	CHECK(ekrt_close(runtime) == EKRT_OK);
	puts("ok");
	return 0;
}

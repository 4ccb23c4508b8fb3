/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A first program: a = 1, b = a + 1, and then c = a + b, in this order. */
#include <evenkeel_rt.h>
#include <stdio.h>

static int a, b, c;

static void one(void *arguments)
{
	(void)arguments;
	a = 1;
}

static void more(void *arguments)
{
	(void)arguments;
	b = a + 1;
}

static void both(void *arguments)
{
	(void)arguments;
	c = a + b;
}

static void create(void *arguments)
{
	struct ekrt_task *first = ekrt_create(one, 0, NULL, 0);
	struct ekrt_task *second = ekrt_create(more, 0, NULL, 0);
	struct ekrt_task *third = ekrt_create(both, 0, NULL, 0);

	(void)arguments;
	ekrt_out(first, &a);
	ekrt_in(second, &a);
	ekrt_out(second, &b);
	ekrt_in(third, &a);
	ekrt_in(third, &b);
	ekrt_out(third, &c);
	ekrt_submit(first);
	ekrt_submit(second);
	ekrt_submit(third);
}

int main(void)
{
	struct ekrt_runtime *runtime;

	if (ekrt_open(NULL, &runtime) || ekrt_run(runtime, create, NULL)) {
		fprintf(stderr, "%s\n", ekrt_error());
		return 1;
	}
	ekrt_close(runtime);
	puts(c == 3 ? "ok" : "not ordered");
	return 0;
}

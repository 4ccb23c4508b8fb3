/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A task that depends on another begins when that one's events have happened, and not before. */
#include "check.h"

#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 50, EVENTS = 3 };

static int sent, answer, read_answers;

static void *device(void *events)
{
	int i;

	for (i = 0; i < EVENTS; i++) {
		sched_yield();
		if (i == EVENTS - 1)
			answer = sent * 7;
		CHECK(ekrt_event_decrease(events, 1) == EKRT_OK);
	}
	return NULL;
}

static void ask(void *arguments)
{
	pthread_t thread;
	struct ekrt_events *events = ekrt_event_increase(EVENTS - 1);

	(void)arguments;
	CHECK(events && ekrt_event_increase(2) == events);
	/* One event happens here; more than are left cannot. */
	CHECK(ekrt_event_decrease(events, EVENTS + 2) == EKRT_ERANGE);
	CHECK(ekrt_event_decrease(events, 1) == EKRT_OK);
	sent++;
	CHECK(pthread_create(&thread, NULL, device, events) == 0);
	CHECK(pthread_detach(thread) == 0);
}

static void take(void *arguments)
{
	CHECK(answer == 7 * (*(const int *)arguments + 1));
	read_answers++;
}

/* All of them have happened when its code ends. */
static void soon(void *arguments)
{
	struct ekrt_events *events = ekrt_event_increase(2);

	(void)arguments;
	CHECK(ekrt_event_decrease(events, 2) == EKRT_OK);
}

static void create(void *arguments)
{
	const struct ekrt_dependence writes[] = {{&answer, EKRT_OUT}, {&sent, EKRT_INOUT}};
	const struct ekrt_dependence reads = {&answer, EKRT_IN};
	int i;

	(void)arguments;
	for (i = 0; i < ROUNDS; i++) {
		CHECK(ekrt_spawn(ask, NULL, 0, writes, 2, 0) == EKRT_OK);
		CHECK(ekrt_spawn(take, &i, sizeof(i), &reads, 1, 0) == EKRT_OK);
		CHECK(ekrt_spawn(soon, NULL, 0, NULL, 0, 0) == EKRT_OK);
	}
	/* An event of the first task: ekrt_run returns after the event. */
	CHECK(ekrt_wait() == EKRT_OK);
	ask(NULL);
}

int main(void)
{
	struct ekrt_runtime *runtime = open_with(2);

	CHECK(ekrt_run(runtime, create, NULL) == EKRT_OK);
	CHECK(read_answers == ROUNDS && answer == 7 * (ROUNDS + 1));
	CHECK(ekrt_close(runtime) == EKRT_OK);
	puts("ok");
	return 0;
}

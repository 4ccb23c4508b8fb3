/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A tool in the program hears what begins and ends, and finds its data again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What of OpenMP 5.1's omp-tools.h is used: gcc has none. */
typedef union {
	uint64_t value;
	void *ptr;
} data_t;

typedef struct {
	data_t exit_frame, enter_frame;
	int exit_flags, enter_flags;
} frame_t;

typedef void (*function_t)(void);
typedef function_t (*lookup_t)(const char *);

typedef struct {
	int (*initialize)(lookup_t, int, data_t *);
	void (*finalize)(data_t *);
	data_t data;
} tool_t;

/* Not in all headers; its first argument is an enumeration of its own. */
static int (*control_tool)(int, int, void *);

enum { SET_ALWAYS = 5, BEGIN = 1, INITIAL = 1, EXPLICIT = 4 };
enum { COMPLETE = 1, SWITCH = 7, LOOP = 1, SECTIONS = 2 };

static int (*get_task_info)(int, int *, data_t **, frame_t **, data_t **, int *);
static int (*get_parallel_info)(int, data_t **, int *);
static int (*get_state)(uint64_t *);
static int (*get_callback)(int, function_t *);
static int (*set_callback)(int, function_t);
static data_t *(*get_thread_data)(void);
static uint64_t (*get_unique_id)(void);

static int failed, initialized;
/* What has begun and not ended; and how many tasks were created. */
static long threads, regions, tasks, running, implicit, waits, taken, loops, created, depends;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d: %s\n", __LINE__, #claim); \
			failed = 1; \
		} \
	} while (0)

static void add(long *number, long more)
{
	__atomic_fetch_add(number, more, __ATOMIC_RELAXED);
}

/* What a thread, region or task is known by. */
static void mark(data_t *data)
{
	CHECK(data && !data->value);
	data->value = get_unique_id();
}

static void thread_begins(int type, data_t *thread)
{
	CHECK(type == 1 || type == 2);
	mark(thread);
	CHECK(get_thread_data() == thread);
	add(&threads, 1);
}

static void thread_ends(data_t *thread)
{
	CHECK(thread->value && get_thread_data() == thread);
	add(&threads, -1);
}

static void region_begins(data_t *task, const frame_t *frame, data_t *region, unsigned asked,
			  int flags, const void *code)
{
	CHECK(task->value && frame->enter_frame.ptr && asked > 0 && flags && code);
	mark(region);
	add(&regions, 1);
}

static void region_ends(data_t *region, data_t *task, int flags, const void *code)
{
	data_t *now = NULL;

	CHECK(region->value && task->value && flags && code);
	CHECK(get_task_info(0, NULL, &now, NULL, NULL, NULL) == 2 && now == task);
	add(&regions, -1);
}

static void implicit_task(int end, data_t *region, data_t *task, unsigned size, unsigned number,
			  int flags)
{
	if (end == BEGIN) {
		if (flags & INITIAL)
			mark(region);
		CHECK(region->value && (flags & INITIAL || number < size));
		mark(task);
		add(&implicit, 1);
	} else {
		CHECK(task->value);
		add(&implicit, -1);
	}
}

static void task_created(data_t *task, const frame_t *frame, data_t *new_task, int flags,
			 int has_dependences, const void *code)
{
	CHECK(task->value && frame->enter_frame.ptr && code);
	mark(new_task);
	add(&depends, has_dependences);
	if (flags & EXPLICIT) {
		add(&tasks, 1);
		add(&created, 1);
	}
}

static void scheduled(data_t *before, int how, data_t *after)
{
	CHECK(before->value);
	if (how == SWITCH) {
		CHECK(after->value);
		add(&running, 1);
	} else if (how == COMPLETE) {
		CHECK(after->value);
		add(&running, -1);
		add(&tasks, -1);
	}
}

static void waited(int kind, int end, data_t *region, data_t *task, const void *code)
{
	(void)kind, (void)region, (void)code;
	CHECK(task->value);
	add(&waits, end == BEGIN ? 1 : -1);
}

static void acquired(int kind, uint64_t id, const void *code)
{
	CHECK(kind && id && code);
	add(&taken, 1);
}

static void released(int kind, uint64_t id, const void *code)
{
	CHECK(kind && id && code);
	add(&taken, -1);
}

static void works(int kind, int end, data_t *region, data_t *task, uint64_t parts, const void *code)
{
	(void)parts, (void)code;
	CHECK(region->value && task->value);
	if (kind == LOOP || kind == SECTIONS)
		add(&loops, end == BEGIN ? 1 : -1);
}

static int controlled(uint64_t command, uint64_t modifier, void *argument, const void *code)
{
	CHECK(command == 3 && modifier == 4 && argument == &failed && code);
	return 42;
}

static int initialize(lookup_t lookup, int device, data_t *data)
{
	static const struct {
		int event;
		function_t function;
	} all[] = {
		{1, (function_t)thread_begins}, {2, (function_t)thread_ends},
		{3, (function_t)region_begins}, {4, (function_t)region_ends},
		{5, (function_t)task_created},	{6, (function_t)scheduled},
		{7, (function_t)implicit_task}, {11, (function_t)controlled},
		{16, (function_t)waited},	{17, (function_t)released},
		{20, (function_t)works},	{23, (function_t)waited},
		{27, (function_t)acquired},
	};
	(void)device;
	set_callback = (int (*)(int, function_t))lookup("ompt_set_callback");
	get_callback = (int (*)(int, function_t *))lookup("ompt_get_callback");
	get_task_info = (int (*)(int, int *, data_t **, frame_t **, data_t **, int *))lookup(
		"ompt_get_task_info");
	get_parallel_info = (int (*)(int, data_t **, int *))lookup("ompt_get_parallel_info");
	get_state = (int (*)(uint64_t *))lookup("ompt_get_state");
	get_thread_data = (data_t * (*)(void)) lookup("ompt_get_thread_data");
	get_unique_id = (uint64_t(*)(void))lookup("ompt_get_unique_id");
	CHECK(!lookup("ompt_is_there_such_a_thing"));
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		CHECK(set_callback(all[i].event, all[i].function) == SET_ALWAYS);
	/* Devices there are none. */
	CHECK(set_callback(12, NULL) != SET_ALWAYS);
	data->value = 7;
	initialized = 1;
	return 1;
}

static void finalize(data_t *data)
{
	CHECK(data->value == 7);
	CHECK(!threads && !regions && !tasks && !running && !implicit && !waits && !taken);
	CHECK(!loops && !get_callback(3, &(function_t){NULL}));
	if (!failed)
		puts("ok");
	fflush(stdout);
	if (failed)
		_exit(1);
}

tool_t *ompt_start_tool(unsigned version, const char *runtime)
{
	static tool_t tool = {initialize, finalize, {0}};

	CHECK(version >= 201811 && runtime);
	return &tool;
}

/* Who asks for levels of tasks and regions sees those around it. */
static void levels(void)
{
#pragma omp parallel num_threads(3)
	{
		data_t *inner, *region, *same, *outer;
		int size = 0, number = -1, flags = 0;
		frame_t *frame;

		CHECK(get_task_info(0, &flags, &inner, &frame, &region, &number) == 2);
		CHECK(flags == 2 && inner->value && number == omp_get_thread_num());
		CHECK(frame->exit_frame.ptr && !frame->enter_frame.ptr);
		CHECK(get_parallel_info(0, &same, &size) == 2 && same == region && size == 3);
		CHECK(get_task_info(1, &flags, &outer, &frame, NULL, NULL) == 2);
		CHECK(flags == INITIAL && outer != inner && frame->enter_frame.ptr);
		CHECK(get_parallel_info(1, &same, &size) == 2 && same != region && size == 1);
		CHECK(!get_task_info(2, NULL, NULL, NULL, NULL, NULL));
		CHECK(!get_parallel_info(2, NULL, NULL) && get_state(NULL) == 1);
#pragma omp task
		{
			data_t *task, *below;

			CHECK(get_task_info(0, &flags, &task, &frame, &same, NULL) == 2);
			CHECK(flags & EXPLICIT && task->value && same == region);
			CHECK(frame->exit_frame.ptr && !frame->enter_frame.ptr);
			CHECK(get_task_info(1, NULL, &below, NULL, NULL, NULL) == 2);
			CHECK(below->value && below != task);
		}
	}
	CHECK(get_state(NULL) == 0);
}

static long fib(int n)
{
	long one, two;

	if (n < 2)
		return n;
#pragma omp task shared(one)
	one = fib(n - 1);
#pragma omp task shared(two) if (n > 5)
	two = fib(n - 2);
#pragma omp taskwait
	return one + two;
}

static void of_tasks(void)
{
	long sum = 0, before = created;
	int chain = 0;

#pragma omp parallel num_threads(4)
#pragma omp single
	sum = fib(12);
	CHECK(sum == 144 && created - before == 2 * 232);
	before = depends;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
	for (int i = 0; i < 100; i++)
#pragma omp task depend(inout: chain)
		chain++;
	CHECK(chain == 100 && depends - before == 100);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(3)
	for (int i = 0; i < 30; i++)
#pragma omp atomic
		chain++;
	CHECK(chain == 130);
}

static void of_the_rest(void)
{
	omp_nest_lock_t nest;
	omp_lock_t lock;
	int sum = 0;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
	{
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < 10; i++) {
			omp_set_lock(&lock);
			__atomic_add_fetch(&sum, i, __ATOMIC_RELAXED);
			omp_unset_lock(&lock);
		}
#pragma omp for schedule(static) ordered
		for (int i = 0; i < 10; i++)
#pragma omp ordered
			__atomic_add_fetch(&sum, i, __ATOMIC_RELAXED);
#pragma omp sections
		{
#pragma omp section
			{
				omp_set_nest_lock(&nest), omp_set_nest_lock(&nest);
				omp_unset_nest_lock(&nest), omp_unset_nest_lock(&nest);
			}
#pragma omp section
			;
		}
		if (omp_test_lock(&lock)) {
#pragma omp critical
			sum += 0;
			omp_unset_lock(&lock);
		}
#pragma omp barrier
#pragma omp parallel num_threads(2)
#pragma omp critical(named)
		sum++;
	}
	CHECK(sum == 96);
	omp_destroy_nest_lock(&nest);
	omp_destroy_lock(&lock);
}

int main(void)
{
	CHECK(omp_get_max_threads() > 0 && initialized);
	if (!initialized)
		return 1;
	levels();
	of_tasks();
	of_the_rest();
	control_tool = (int (*)(int, int, void *))dlsym(RTLD_DEFAULT, "omp_control_tool");
	CHECK(control_tool && control_tool(3, 4, &failed) == 42);
	return failed;
}

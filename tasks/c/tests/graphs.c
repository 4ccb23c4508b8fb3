/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Random task graphs have the result of the same functions called in order of submission.
 *
 * A task reads some cells and writes some, with a factor of its own, so that the result shows
 * the order. Some tasks create tasks on the cells that they declare, weakly or not.
 */
#include "check.h"

#include <string.h>

enum { CELLS = 12, USES = 4, TASKS = 400, INNER = 3, GRAPHS = 30 };

/* The kind, of `enum ekrt_kind`, of the access to a cell. */
struct use {
	int cell;
	int kind;
};

struct step {
	uint64_t *cells;
	uint64_t factor;
	int uses;
	struct use use[USES];
	/* Seed for the children; 0 if the step has none. */
	uint64_t inner;
	/* Whether only the children use the cells. */
	int weak;
};

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/* A step on some of the cells; if `around` is given, on its cells, with kinds that it allows. */
static struct step random_step(uint64_t *state, uint64_t *cells, const struct step *around)
{
	struct step step;
	int count = around ? around->uses : CELLS;
	int first = (int)(next(state) % (uint64_t)count);
	int takes_turns = 0;
	int i;

	memset(&step, 0, sizeof(step));
	step.cells = cells;
	step.factor = next(state) | 1;
	step.uses = 1 + (int)(next(state) % USES);
	if (step.uses > count)
		step.uses = count;
	for (i = 0; i < step.uses; i++) {
		int at = (first + i) % count;
		int kind = 1 + (int)(next(state) % 5), outer;

		step.use[i].cell = around ? around->use[at].cell : at;
		/* Children of a step that writes a cell may declare any kind. */
		outer = around ? around->use[at].kind : EKRT_INOUT;
		if (outer != EKRT_OUT && outer != EKRT_INOUT)
			kind = outer;
		step.use[i].kind = kind;
		takes_turns |= kind == EKRT_COMMUTATIVE;
	}
	if (!around && next(state) % 4 == 0) {
		step.inner = next(state) | 1;
		/* A step with a turn at a cell cannot pass the turn on: its access must be weak. */
		step.weak = takes_turns || next(state) % 2;
	}
	return step;
}

/*
 * Uses the cells as declared, so that their values show the order of the steps; commutative and
 * concurrent steps only add, since they have no order.
 */
static void work(const struct step *step)
{
	uint64_t sum = step->factor;
	int i;

	for (i = 0; i < step->uses; i++) {
		const struct use *use = &step->use[i];

		if (use->kind == EKRT_IN || use->kind == EKRT_INOUT)
			sum += step->cells[use->cell];
	}
	for (i = 0; i < step->uses; i++) {
		uint64_t *cell = &step->cells[step->use[i].cell];

		switch (step->use[i].kind) {
		case EKRT_OUT:
			*cell = sum;
			break;
		case EKRT_INOUT:
			*cell = *cell * 31 + sum;
			break;
		case EKRT_COMMUTATIVE:
			*cell += step->factor;
			break;
		case EKRT_CONCURRENT:
			__atomic_fetch_add(cell, step->factor, __ATOMIC_RELAXED);
			break;
		default:
			break;
		}
	}
}

static void in_order(const struct step *step)
{
	uint64_t state = step->inner;
	int i;

	if (!step->inner || !step->weak)
		work(step);
	for (i = 0; step->inner && i < INNER; i++) {
		struct step inner = random_step(&state, step->cells, step);

		in_order(&inner);
	}
}

static void run(void *arguments);

static void submit(const struct step *step)
{
	struct ekrt_dependence all[USES];
	void *block;
	struct ekrt_task *task;
	int i;

	for (i = 0; i < step->uses; i++) {
		all[i].address = &step->cells[step->use[i].cell];
		all[i].kind = step->use[i].kind | (step->weak ? EKRT_WEAK : 0);
	}
	if (step->factor & 2) {
		CHECK(ekrt_spawn(run, step, sizeof(*step), all, (size_t)step->uses, 0) == 0);
		return;
	}
	task = ekrt_create(run, sizeof(*step), &block, 0);
	CHECK(task);
	memcpy(block, step, sizeof(*step));
	for (i = 0; i < step->uses; i++)
		CHECK(ekrt_depend(task, all[i].address, all[i].kind) == EKRT_OK);
	CHECK(ekrt_submit(task) == EKRT_OK);
}

static void run(void *arguments)
{
	const struct step *step = arguments;
	uint64_t state = step->inner;
	int i;

	if (!step->inner || !step->weak)
		work(step);
	for (i = 0; step->inner && i < INNER; i++) {
		struct step inner = random_step(&state, step->cells, step);

		submit(&inner);
	}
}

struct graph {
	uint64_t seed;
	uint64_t cells[CELLS];
};

static void create(void *arguments)
{
	struct graph *graph = arguments;
	uint64_t state = graph->seed, expected[CELLS];
	int i;

	memset(expected, 0, sizeof(expected));
	for (i = 0; i < TASKS; i++) {
		struct step step = random_step(&state, graph->cells, NULL);

		submit(&step);
		step.cells = expected;
		in_order(&step);
		if (next(&state) % 64 == 0) {
			struct ekrt_dependence on = {NULL, EKRT_IN};
			int cell = (int)(next(&state) % CELLS);

			on.address = &graph->cells[cell];
			CHECK(ekrt_wait_on(&on, 1) == EKRT_OK);
			CHECK(graph->cells[cell] == expected[cell]);
		}
	}
	CHECK(ekrt_wait() == EKRT_OK);
	CHECK(memcmp(graph->cells, expected, sizeof(expected)) == 0);
}

int main(void)
{
	static const char *const rules[] = {NULL, "central-lifo", "tree-fifo-static20-give"};
	size_t i;
	uint64_t seed;

	for (i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		struct ekrt_options options = EKRT_OPTIONS;
		struct ekrt_runtime *runtime;

		options.workers = 4;
		options.topology = "2x2";
		options.rules = rules[i];
		CHECK(ekrt_open(&options, &runtime) == EKRT_OK);
		CHECK(ekrt_workers(runtime) == 4);
		for (seed = 1; seed <= GRAPHS; seed++) {
			struct graph graph;

			memset(&graph, 0, sizeof(graph));
			graph.seed = seed * 0x9e3779b97f4a7c15u;
			CHECK(ekrt_run(runtime, create, &graph) == EKRT_OK);
		}
		CHECK(ekrt_close(runtime) == EKRT_OK);
	}
	puts("ok");
	return 0;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks with overlapping ranges have the result of the same functions called in order. */
#include "check.h"

#include <string.h>

enum { CELLS = 64, TASKS = 300, GRAPHS = 40 };

struct step {
	uint64_t *cells;
	uint64_t factor;
	/* The step reads the cells from `in` to before `in_end`, and writes from `out` likewise. */
	int in, in_end, out, out_end;
};

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

static void range(uint64_t *state, int *begin, int *end)
{
	*begin = (int)(next(state) % CELLS);
	*end = *begin + (int)(next(state) % (uint64_t)(CELLS - *begin + 1));
}

static struct step random_step(uint64_t *state, uint64_t *cells)
{
	struct step step;

	step.cells = cells;
	step.factor = next(state) | 1;
	range(state, &step.in, &step.in_end);
	range(state, &step.out, &step.out_end);
	return step;
}

/* The cells read and the cells written may overlap. */
static void work(void *arguments)
{
	const struct step *step = arguments;
	uint64_t sum = step->factor;
	int i;

	for (i = step->in; i < step->in_end; i++)
		sum = sum * 31 + step->cells[i];
	for (i = step->out; i < step->out_end; i++)
		step->cells[i] = step->cells[i] * step->factor + sum;
}

struct graph {
	uint64_t *cells;
	uint64_t seed;
};

static void create(void *arguments)
{
	const struct graph *graph = arguments;
	uint64_t state = graph->seed;
	int i;

	for (i = 0; i < TASKS; i++) {
		struct step step = random_step(&state, graph->cells);
		void *block;
		struct ekrt_task *task = ekrt_create(work, sizeof(step), &block, 0);

		CHECK(task);
		memcpy(block, &step, sizeof(step));
		CHECK(ekrt_depend_region(task, &step.cells[step.in],
					 sizeof(*step.cells) * (size_t)(step.in_end - step.in),
					 EKRT_IN) == EKRT_OK);
		CHECK(ekrt_depend_region(task, &step.cells[step.out],
					 sizeof(*step.cells) * (size_t)(step.out_end - step.out),
					 EKRT_INOUT) == EKRT_OK);
		CHECK(ekrt_submit(task) == EKRT_OK);
	}
}

int main(void)
{
	struct ekrt_runtime *runtime = open_with(3);
	int number, i;

	for (number = 1; number <= GRAPHS; number++) {
		uint64_t cells[CELLS] = {0}, expected[CELLS] = {0};
		struct graph graph = {cells, (uint64_t)number * 7919};
		uint64_t state = graph.seed;

		for (i = 0; i < TASKS; i++) {
			struct step step = random_step(&state, expected);

			work(&step);
		}
		CHECK(ekrt_run(runtime, create, &graph) == EKRT_OK);
		CHECK(memcmp(cells, expected, sizeof(cells)) == 0);
	}
	CHECK(ekrt_close(runtime) == EKRT_OK);
	puts("ok");
	return 0;
}

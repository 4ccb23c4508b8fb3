/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tasks so short that their creator runs them like calls, until one of them, deep inside others,
 * does what needs a task of its own: it waits, orders its children, begins a group, sets a
 * variable of its own.
 */
#include <omp.h>
#include <stdio.h>

enum { DEPTH = 12, NODES = (2 << DEPTH) - 1 };

static int failed, nodes;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d, %d threads: %s\n", __LINE__, threads, #claim); \
			failed = 1; \
		} \
	} while (0)

/* Waits for its own children alone, and sees what they did. */
static void wait_for_two(int threads)
{
	int left = 0, right = 0;

#pragma omp task shared(left)
	left = 1;
#pragma omp task shared(right)
	right = 1;
#pragma omp taskwait
	CHECK(left && right);
}

static void order_two(int threads)
{
	int value = 1;

#pragma omp task shared(value) depend(inout : value)
	value += 2;
#pragma omp task shared(value) depend(inout : value)
	value *= 5;
#pragma omp taskwait
	CHECK(value == 15);
}

/* A group waits for grandchildren, too. */
static void begin_group(int threads)
{
	int inside = 0;

#pragma omp taskgroup
	{
#pragma omp task shared(inside)
		{
#pragma omp task shared(inside)
#pragma omp atomic
			inside++;
#pragma omp atomic
			inside++;
		}
	}
	CHECK(inside == 2);
}

/* What a task sets is its own and its children's. */
static void set_own(int threads)
{
	int before = omp_get_max_threads();

#pragma omp task if (0)
	{
		omp_set_num_threads(before + 3);
#pragma omp task if (0)
		CHECK(omp_get_max_threads() == before + 3);
	}
	CHECK(omp_get_max_threads() == before);
}

static void (*const needs[])(int) = { wait_for_two, order_two, begin_group, set_own };

static void node(int depth, unsigned place, int threads)
{
#pragma omp atomic
	nodes++;
	if (place % 97 == 0)
		needs[place / 97 % 4](threads);
	if (depth == 0)
		return;
#pragma omp task
	node(depth - 1, 2 * place, threads);
#pragma omp task
	node(depth - 1, 2 * place + 1, threads);
	if (place % 101 == 0)
		needs[place / 101 % 4](threads);
}

int main(void)
{
	for (int threads = 1; threads <= 4; threads++) {
		for (int round = 0; round < 20; round++) {
			nodes = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
			node(DEPTH, 1, threads);
			CHECK(nodes == NODES);
		}
	}
	if (!failed)
		puts("ok");
	return failed;
}

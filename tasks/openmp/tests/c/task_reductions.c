/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Task reductions: in a group, in nested groups, in a taskloop, over a team, over a loop. */
#include <omp.h>
#include <stdio.h>

static int failed;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d, %d threads: %s\n", __LINE__, threads, #claim); \
			failed = 1; \
		} \
	} while (0)

struct point {
	long x, y;
};

#pragma omp declare reduction(add: struct point: omp_out.x += omp_in.x, omp_out.y += omp_in.y) \
	initializer(omp_priv = {0, 0})

static void in_a_group(int threads)
{
	long sum = 5;
	double product = 1;
	struct point point = {1, 2};

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskgroup task_reduction(+: sum) task_reduction(*: product) task_reduction(add: point)
		for (int i = 0; i < 200; i++) {
#pragma omp task in_reduction(+: sum) in_reduction(add: point)
			{
				sum += i;
				point.x += 1;
				point.y += i;
			}
#pragma omp task in_reduction(*: product) firstprivate(i)
			if (i % 20 == 0)
				product *= 2;
		}
	}
	CHECK(sum == 5 + 19900 && product == 1024 && point.x == 201 && point.y == 19902);
}

static void in_nested_groups(int threads)
{
	long outer = 0, inner = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+: outer)
	for (int i = 0; i < 20; i++) {
#pragma omp task in_reduction(+: outer) shared(inner)
		{
			long mine = 0;
#pragma omp taskgroup task_reduction(+: mine)
			for (int j = 0; j < 10; j++) {
#pragma omp task in_reduction(+: mine) in_reduction(+: outer)
				{
					mine += j;
					outer += 1;
				}
			}
			outer += mine;
#pragma omp atomic
			inner += mine;
		}
	}
	CHECK(inner == 20 * 45 && outer == 20 * 55);
}

static void in_a_loop_of_tasks(int threads)
{
	long sum = 1, largest = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskloop reduction(+: sum) reduction(max: largest) grainsize(3)
		for (int i = 0; i < 500; i++) {
			sum += i;
			if (i > largest)
				largest = i;
		}
#pragma omp taskgroup task_reduction(+: sum)
		{
#pragma omp taskloop in_reduction(+: sum)
			for (int i = 0; i < 100; i++)
				sum += 1;
		}
	}
	CHECK(sum == 1 + 124750 + 100 && largest == 499);
}

static void over_a_team(int threads)
{
	long sum = 3;

#pragma omp parallel num_threads(threads) reduction(task, +: sum)
	{
		sum += 1;
		for (int i = 0; i < 50; i++) {
#pragma omp task in_reduction(+: sum)
			sum += 2;
		}
	}
	CHECK(sum == 3 + 101 * threads);
}

static void over_a_loop(int threads)
{
	long sum = 0;

#pragma omp parallel num_threads(threads)
	{
#pragma omp for reduction(task, +: sum) schedule(dynamic)
		for (int i = 0; i < 60; i++) {
			sum += 1;
#pragma omp task in_reduction(+: sum)
			sum += i;
		}
#pragma omp for reduction(task, +: sum) schedule(static)
		for (int i = 0; i < 60; i++) {
#pragma omp task in_reduction(+: sum)
			sum += 1;
		}
#pragma omp sections reduction(task, +: sum)
		{
#pragma omp section
			{
#pragma omp task in_reduction(+: sum)
				sum += 1000;
			}
#pragma omp section
			sum += 2000;
		}
	}
	CHECK(sum == 60 + 1770 + 60 + 3000);
}

int main(void)
{
	int sizes[] = {1, 3, 4};

	for (int round = 0; round < 60; round++) {
		int threads = sizes[round % 3];

		in_a_group(threads), in_nested_groups(threads), in_a_loop_of_tasks(threads);
		over_a_team(threads), over_a_loop(threads);
	}
	if (!failed)
		puts("ok");
	return failed;
}

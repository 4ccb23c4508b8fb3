/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks: recursion, dependences in order, and groups that wait for descendants. */
#include <omp.h>
#include <stdio.h>

static long fibonacci(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fibonacci(n - 1);
#pragma omp task shared(b)
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

static int tasks_recur(int threads)
{
	long result = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	result = fibonacci(18);
	if (result != 2584)
		return printf("fibonacci(18) is %ld\n", result), 1;
	return 0;
}

static int dependent_tasks_keep_order(int threads)
{
	unsigned x = 0, y = 0;

#pragma omp parallel num_threads(threads)
#pragma omp single
	for (int i = 0; i < 5000; i++) {
#pragma omp task depend(inout: x) shared(x)
		x = x * 3 + 1;
	}
	for (int i = 0; i < 5000; i++)
		y = y * 3 + 1;
	if (x != y)
		return printf("%u in tasks, %u without\n", x, y), 1;
	return 0;
}

static int a_group_waits_for_descendants(int threads)
{
	int ended = 0, seen = -1;

#pragma omp parallel num_threads(threads)
#pragma omp single
	{
#pragma omp taskgroup
		for (int i = 0; i < 100; i++) {
#pragma omp task shared(ended)
			{
#pragma omp task shared(ended)
#pragma omp atomic
				ended++;
			}
		}
		seen = ended;
	}
	if (seen != 100)
		return printf("%d of 100 had ended\n", seen), 1;
	return 0;
}

int main(void)
{
	int sizes[] = {1, 3, 4};

	for (int i = 0; i < 3; i++)
		if (tasks_recur(sizes[i]) || dependent_tasks_keep_order(sizes[i]) ||
		    a_group_waits_for_descendants(sizes[i]))
			return 1;
	puts("ok");
	return 0;
}

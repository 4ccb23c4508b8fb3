/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Target regions where there is no device: the host runs them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define WRONG(...) return fprintf(stderr, __VA_ARGS__), 1

static int regions(void)
{
	int mapped = 1, given = 2, array[4] = {0};
#pragma omp target map(tofrom : mapped, array) firstprivate(given)
	{
		given += 5;
		mapped += given;
		array[2] = omp_is_initial_device() + omp_get_num_devices();
	}
	if (mapped != 8 || given != 2 || array[2] != 1)
		WRONG("mapped %d, given %d, array %d\n", mapped, given, array[2]);

	int level = -1, threads = 0, teams = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp target map(from : level, teams)
	{
		level = omp_in_parallel();
#pragma omp parallel num_threads(3) reduction(+ : teams)
		teams += omp_get_num_teams();
	}
	if (omp_get_level() != 0 || teams < 1)
		WRONG("level %d, teams %d\n", level, teams);

#pragma omp target teams distribute parallel for reduction(+ : threads) thread_limit(2)
	for (int i = 0; i < 100; i++)
		threads += omp_get_num_threads() <= 2;
	if (threads != 100)
		WRONG("%d iterations by at most 2 threads\n", threads);
	return 0;
}

static int data(void)
{
	int size = 100, sum = 0;
	int *numbers = malloc(size * sizeof *numbers);
	for (int i = 0; i < size; i++)
		numbers[i] = i;
#pragma omp target data map(to : numbers[ : size])
	{
#pragma omp target map(sum) map(to : numbers[ : size])
		for (int i = 0; i < size; i++)
			sum += numbers[i];
#pragma omp target update from(numbers[ : size])
	}
#pragma omp target enter data map(to : numbers[ : size])
#pragma omp target is_device_ptr(numbers) map(sum)
	sum -= numbers[99];
#pragma omp target exit data map(delete : numbers[ : size])
	free(numbers);
	if (sum != 4950 - 99)
		WRONG("sum %d\n", sum);
	return 0;
}

/* Regions as tasks: ordered by dependences, with what was firstprivate when they were met. */
static int tasks(void)
{
	int chain = 0, given[3] = {1, 2, 3}, added = 0;
	double aligned = 0.5;
#pragma omp parallel num_threads(2)
#pragma omp single
	{
		for (int i = 0; i < 100; i++) {
#pragma omp target nowait depend(inout : chain) map(tofrom : chain) firstprivate(i)
			chain = chain == i ? i + 1 : -1000;
		}
#pragma omp target enter data nowait depend(inout : chain) map(to : chain)
#pragma omp target nowait map(tofrom : added) map(to : chain) firstprivate(given, aligned) \
	depend(in : chain)
		added += given[0] + given[1] + given[2] + (chain == 100) + (aligned == 0.5);
		given[1] = 100;
		aligned = 2;
#pragma omp taskwait
#pragma omp target update from(chain) depend(in : chain)
	}
	if (chain != 100 || added != 8)
		WRONG("chain %d, added %d\n", chain, added);
	return 0;
}

static int device_memory(void)
{
	int host = omp_get_initial_device();
	int *numbers = omp_target_alloc(16 * sizeof *numbers, host);
	int from[16], back[4] = {0};
	for (int i = 0; i < 16; i++)
		from[i] = i;
	if (omp_target_memcpy(numbers, from, sizeof from, 0, 0, host, host))
		WRONG("memcpy\n");
	size_t volume[] = {2, 2}, to_offsets[] = {0, 0}, from_offsets[] = {1, 2};
	size_t to_sizes[] = {2, 2}, from_sizes[] = {4, 4};
	if (omp_target_memcpy_rect(back, numbers, sizeof *back, 2, volume, to_offsets, from_offsets,
							   to_sizes, from_sizes, host, host))
		WRONG("memcpy_rect\n");
	if (back[0] != 6 || back[1] != 7 || back[2] != 10 || back[3] != 11)
		WRONG("%d %d %d %d\n", back[0], back[1], back[2], back[3]);
	if (omp_target_memcpy_rect(NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, host, host) < 3)
		WRONG("fewer than three dimensions\n");
	if (!omp_target_is_present(numbers, host))
		WRONG("not present\n");
	omp_target_free(numbers, host);
	return 0;
}

int main(void)
{
	int wrong = regions() || data() || tasks() || device_memory();
	if (!wrong)
		puts("ok");
	return wrong;
}

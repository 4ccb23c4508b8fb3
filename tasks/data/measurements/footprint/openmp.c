/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What a million tasks of an OpenMP program take that wait for a dependence. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { PARENTS = 400, CHILDREN = 2500 };

static omp_event_handle_t held[PARENTS];
static char gates[PARENTS];
static int created;
static long sum;

static long most_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "VmHWM: %ld", &kb);
	if (status)
		fclose(status);
	return kb;
}

/* Its children wait for a task that ends when its event is fulfilled. */
static void parent(int number)
{
	omp_event_handle_t event = 0;

#pragma omp task depend(out : gates[number]) detach(event)
	{
	}
	held[number] = event;
	for (long i = 0; i < CHILDREN; i++) {
#pragma omp task firstprivate(i) depend(in : gates[number])
		__atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&created, 1, __ATOMIC_RELEASE);
}

int main(void)
{
	long before = 0, after = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
	{
		before = most_kb();
		for (int number = 0; number < PARENTS; number++) {
#pragma omp task firstprivate(number)
			parent(number);
		}
		while (__atomic_load_n(&created, __ATOMIC_ACQUIRE) < PARENTS) {
#pragma omp taskyield
		}
		after = most_kb();
		for (int number = 0; number < PARENTS; number++)
			omp_fulfill_event(held[number]);
	}
	printf("%.1f bytes a task\n", (after - before) * 1024.0 / PARENTS / CHILDREN);
	return sum != (long)PARENTS * CHILDREN * (CHILDREN - 1) / 2;
}

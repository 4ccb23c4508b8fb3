/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* One of several mutexinoutset tasks runs at a time, also where its creator waits for the task,
 * and where the task itself waits. */
#include <omp.h>
#include <stdio.h>

#define ROUNDS 50

static int x, inside, together;

static void alone(void)
{
	if (__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED))
		__atomic_store_n(&together, 1, __ATOMIC_RELAXED);
	for (double end = omp_get_wtime() + 1e-4; omp_get_wtime() < end;)
		;
	__atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
}

/* Children take turns with each other, and not with the tasks that wait for them. */
static void families(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int round = 0; round < ROUNDS; round++) {
#pragma omp task depend(mutexinoutset: x)
		{
#pragma omp task depend(mutexinoutset: x)
			alone();
#pragma omp task depend(mutexinoutset: x)
			alone();
#pragma omp taskwait
		}
	}
}

int main(void)
{
	families();
#pragma omp parallel num_threads(4)
#pragma omp single
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 4; i++) {
#pragma omp task depend(mutexinoutset: x)
			alone();
		}
#pragma omp task if(0) depend(mutexinoutset: x)
		alone();
#pragma omp task depend(mutexinoutset: x)
		alone();
#pragma omp task final(1) depend(mutexinoutset: x)
		alone();
#pragma omp taskwait
	}
	puts(together ? "two of them ran at once" : "ok");
	return together;
}

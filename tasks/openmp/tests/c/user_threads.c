/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads of the program's own begin regions, at once and one after another, with more threads than
 * there are CPUs, and regions inside. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 16
#define ROUNDS 20

static int fib(int n)
{
	int left, right;

	if (n < 2)
		return n;
#pragma omp task shared(left)
	left = fib(n - 1);
#pragma omp task shared(right)
	right = fib(n - 2);
#pragma omp taskwait
	return left + right;
}

static void *works(void *wrong)
{
	int *mine = wrong;

	if (omp_get_level() != 0 || omp_get_thread_num() != 0)
		++*mine;
	for (int round = 0; round < ROUNDS; round++) {
		int sum = 0, result = 0, inside = 0, threads = 2 + round % 4;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
		{
#pragma omp for schedule(dynamic)
			for (int i = 0; i < 50; i++)
				sum += i;
#pragma omp single
			result = fib(8);
		}
		omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2) reduction(+ : inside)
#pragma omp parallel num_threads(2) reduction(+ : inside)
#pragma omp parallel num_threads(2) reduction(+ : inside)
		inside += omp_get_level() == 3 && omp_get_num_threads() == 2;
		if (sum != 1225 || result != 21 || inside != 8) {
			fprintf(stderr, "%d %d %d\n", sum, result, inside);
			++*mine;
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int wrong[THREADS] = {0}, all = 0;

	for (int generation = 0; generation < 3; generation++) {
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, works, &wrong[i]))
				return 1;
		for (int i = 0; i < THREADS; i++) {
			pthread_join(threads[i], NULL);
			all += wrong[i];
		}
	}
	if (all)
		return printf("%d wrong\n", all), 1;
	puts("ok");
	return 0;
}

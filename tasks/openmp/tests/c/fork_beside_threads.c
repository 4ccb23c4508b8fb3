/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Other threads may be anywhere in the library when a thread forks: the child can use all of it. */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FORKS 200

static int ends;

static void *sets(void *unused)
{
	(void)unused;
	for (int i = 0; !__atomic_load_n(&ends, __ATOMIC_RELAXED); i++)
		omp_set_num_threads(1 + i % 50);
	return NULL;
}

static void *asks(void *unused)
{
	(void)unused;
	omp_get_max_threads();
	return NULL;
}

static void *starts(void *unused)
{
	pthread_t thread;

	(void)unused;
	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
		if (!pthread_create(&thread, NULL, asks, NULL))
			pthread_join(thread, NULL);
	return NULL;
}

static int in_child(int threads)
{
	int count = 0;

	alarm(20);
	omp_set_num_threads(threads);
#pragma omp parallel reduction(+ : count)
	count += 1;
	return count == threads ? 0 : 1;
}

int main(void)
{
	pthread_t setting, starting;
	int status = 0;

	if (pthread_create(&setting, NULL, sets, NULL) ||
	    pthread_create(&starting, NULL, starts, NULL))
		return 1;
	for (int i = 0; i < FORKS && status == 0; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(in_child(2 + i % 3));
		waitpid(child, &status, 0);
	}
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	pthread_join(setting, NULL);
	pthread_join(starting, NULL);
	if (status)
		return printf("a child process: status %x\n", status), 1;
	puts("ok");
	return 0;
}

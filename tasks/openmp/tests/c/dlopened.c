/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A running program can open the library, from any thread; after dlclose the library stays. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*microtask)(int *, int *, ...);

static void add(int *global, int *bound, long *sum)
{
	__atomic_add_fetch(sum, 1, __ATOMIC_RELAXED);
}

static void *open_and_fork(void *unused)
{
	/* The trial says where the library is. */
	void *library = dlopen(getenv("EVENKEEL_TEST_OMP"), RTLD_NOW | RTLD_LOCAL);
	long sum = 0;

	if (!library) {
		printf("%s\n", dlerror());
		return NULL;
	}
	void (*fork_call)(void *, int, microtask, ...) = dlsym(library, "__kmpc_fork_call");
	double (*time)(void) = dlvsym(library, "omp_get_wtime", "OMP_2.0");
	dlclose(library);
	if (!fork_call || !time || time() <= 0)
		return NULL;
	fork_call(NULL, 1, (microtask)add, &sum);
	return sum > 0 ? library : NULL;
}

int main(void)
{
	pthread_t thread;
	void *done;

	pthread_create(&thread, NULL, open_and_fork, NULL);
	pthread_join(thread, &done);
	if (!done)
		return printf("nothing done\n"), 1;
	puts("ok");
	return 0;
}

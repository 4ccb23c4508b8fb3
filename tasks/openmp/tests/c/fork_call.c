/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* __kmpc_fork_call hands its variable arguments on, in order, however many there are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>

typedef void (*microtask)(int *, int *, ...);

static int failed, calls;
static int argc_now;

/* gcc and clang make a microtask with fixed arguments; one with variable ones takes any number. */
static void any(int *global, int *bound, ...)
{
	va_list arguments;

	va_start(arguments, bound);
	for (int i = 0; i < argc_now; i++) {
		void *argument = va_arg(arguments, void *);

		failed |= argument != (void *)(1000L + i);
	}
	va_end(arguments);
	failed |= *global != 0 || *bound != 0;
	calls++;
}

static void nine(int *global, int *bound, long *a, long *b, long *c, long *d, long *e, long *f,
		 long *g, long *h, long *i)
{
	*i = *a + 2 * *b + 3 * *c + 4 * *d + 5 * *e + 6 * *f + 7 * *g + 8 * *h;
	calls++;
}

#define A(n) (void *)(1000L + (n))
#define TEN(n) A(n), A(n + 1), A(n + 2), A(n + 3), A(n + 4), A(n + 5), A(n + 6), A(n + 7), \
	A(n + 8), A(n + 9)

int main(void)
{
	void (*fork_call)(void *, int, microtask, ...) = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
	long v[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 0};

	/* Without a call to it, no OpenMP library would be loaded. */
	if (omp_get_wtime() <= 0 || !fork_call)
		return printf("no __kmpc_fork_call\n"), 1;
	omp_set_num_threads(1);
	/* All are passed each time; the first `argc_now` of them count. */
	for (argc_now = 0; argc_now <= 80; argc_now++)
		fork_call(NULL, argc_now, any, TEN(0), TEN(10), TEN(20), TEN(30), TEN(40), TEN(50),
			  TEN(60), TEN(70));
	fork_call(NULL, 9, (microtask)nine, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
		  &v[7], &v[8]);
	if (failed || calls != 82 || v[8] != 87654321)
		return printf("failed %d, %d calls, sum %ld\n", failed, calls, v[8]), 1;
	puts("ok");
	return 0;
}

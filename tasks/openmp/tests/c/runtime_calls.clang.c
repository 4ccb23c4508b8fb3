/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls of clang's that depend on options or versions: by name, where the library has them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d: %s\n", __LINE__, #claim); \
			failed = 1; \
		} \
	} while (0)

static void *named(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found) {
		printf("no %s\n", name);
		exit(1);
	}
	return found;
}

static void copies_of_threads(void)
{
	static int variable = 5;
	static void *cache;
	void *(*of_thread)(void *, int, void *, size_t, void *) =
		named("__kmpc_threadprivate_cached");
	int wrong = 0, sum = 0;

	CHECK(of_thread(NULL, 0, &variable, sizeof(int), &cache) == &variable);
#pragma omp parallel num_threads(3) reduction(+: wrong, sum)
	for (int i = 0; i < 10; i++) {
		int *own = of_thread(NULL, 0, &variable, sizeof(int), &cache);

		wrong += *own != 5 + i;
		wrong += (own == &variable) != (omp_get_thread_num() == 0);
		sum += ++*own;
	}
	CHECK(!wrong && variable == 15);
	CHECK(sum == 3 * (10 * 5 + 55));
}

static void atomics(void)
{
	void (*add)(void *, int, double *, double) = named("__kmpc_atomic_float8_add");
	void (*most)(void *, int, int *, int) = named("__kmpc_atomic_fixed4_max");
	short (*mul)(void *, int, short *, short, int) = named("__kmpc_atomic_fixed2_mul_cpt");
	double sum = 0;
	int largest = -1;
	short product = 3;

#pragma omp parallel num_threads(4)
	for (int i = 0; i < 1000; i++) {
		add(NULL, 0, &sum, 0.5);
		most(NULL, 0, &largest, i * 4 + omp_get_thread_num());
	}
	CHECK(sum == 2000 && largest == 3999);
	CHECK(mul(NULL, 0, &product, 5, 0) == 3 && mul(NULL, 0, &product, 2, 1) == 30);
}

static void sections(void)
{
	void (*init)(void *, int) = dlsym(RTLD_DEFAULT, "__kmpc_sections_init");
	int (*next)(void *, int, int) = dlsym(RTLD_DEFAULT, "__kmpc_next_section");
	void (*end)(void *, int) = dlsym(RTLD_DEFAULT, "__kmpc_end_sections");
	int hits[6] = {0};

	if (!init || !next || !end)
		return;
	for (int threads = 1; threads <= 4; threads++) {
#pragma omp parallel num_threads(threads)
		for (int round = 0; round < 20; round++) {
			init(NULL, 0);
			for (int i = next(NULL, 0, 6); i >= 0 && i < 6; i = next(NULL, 0, 6))
				__atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
			end(NULL, 0);
		}
	}
	for (int i = 0; i < 6; i++)
		CHECK(hits[i] == 80);
}

static void given_to_all(void)
{
	void *(*give)(void *, int, void *) = dlsym(RTLD_DEFAULT, "__kmpc_copyprivate_light");
	int (*first)(void *, int) = named("__kmpc_barrier_master");
	void (*end)(void *, int) = named("__kmpc_end_barrier_master");
	int wrong = 0, value = 0, alone = 0;

#pragma omp parallel num_threads(4) reduction(+: wrong)
	for (int round = 1; round < 50; round++) {
		if (first(NULL, 0)) {
			alone += round;
			end(NULL, 0);
		}
		wrong += alone != round * (round + 1) / 2;
		if (give) {
			int *seen = give(NULL, 0, omp_get_thread_num() == 2 ? &value : NULL);

			wrong += seen != &value;
		}
#pragma omp barrier
	}
	CHECK(!wrong);
}

static void only_if(int *global, int *bound, int *threads)
{
	(void)global, (void)bound;
	__atomic_store_n(threads, omp_get_num_threads(), __ATOMIC_RELAXED);
}

static void conditional(void)
{
	void (*fork)(void *, int, void *, int, void *) =
		dlsym(RTLD_DEFAULT, "__kmpc_fork_call_if");
	int threads = 0;

	if (!fork)
		return;
	omp_set_num_threads(3);
	fork(NULL, 1, only_if, 0, &threads);
	CHECK(threads == 1);
	fork(NULL, 1, only_if, 1, &threads);
	CHECK(threads == 3);
}

/* Without devices there is no object that says how to work with their runtimes. */
static void no_object(void)
{
	int (*number)(void *) = named("omp_get_num_interop_properties");
	long (*property)(void *, int, int *) = named("omp_get_interop_int");
	const char *(*name)(void *, int) = named("omp_get_interop_name");
	int why = 0;

	CHECK(number(NULL) == 0 && property(NULL, -1, &why) == 0 && why == -1);
	CHECK(property(NULL, -1, NULL) == 0 && !name(NULL, -1));
}

int main(void)
{
	copies_of_threads(), atomics(), sections(), given_to_all(), conditional();
	no_object();
	if (!failed)
		puts("ok");
	return failed;
}

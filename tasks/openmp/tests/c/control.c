/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program reads the values that it has set, by the constants of its compiler's header. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

static int failed;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d: %s\n", __LINE__, #claim); \
			failed = 1; \
		} \
	} while (0)

static void variables(void)
{
	omp_sched_t kind;
	int chunk;

	omp_set_num_threads(3);
	CHECK(omp_get_max_threads() == 3);
	omp_set_dynamic(1);
	CHECK(omp_get_dynamic());
	omp_set_max_active_levels(2);
	CHECK(omp_get_max_active_levels() == 2);
	omp_set_schedule(omp_sched_guided, 7);
	omp_get_schedule(&kind, &chunk);
	CHECK(kind == omp_sched_guided && chunk == 7);
	CHECK(omp_get_thread_limit() > 0);
	CHECK(!omp_get_cancellation());
	CHECK(omp_get_proc_bind() == omp_proc_bind_false);
	CHECK(omp_get_num_places() == 0 && omp_get_place_num() == -1);
}

static void machine(void)
{
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	CHECK(omp_get_num_procs() == CPU_COUNT(&cpus));
	CHECK(omp_get_num_devices() == 0 && omp_is_initial_device());
	double begin = omp_get_wtime();
	while (omp_get_wtime() <= begin)
		;
	CHECK(omp_get_wtick() > 0);
}

static void memory(void)
{
	omp_alloctrait_t traits[] = {
		{omp_atk_alignment, 4096}, {omp_atk_fallback, omp_atv_null_fb},
	};
	omp_allocator_handle_t pages = omp_init_allocator(omp_default_mem_space, 2, traits);

	CHECK(pages != omp_null_allocator);
	int *whole = omp_alloc(100, pages);
	CHECK(whole && (uintptr_t)whole % 4096 == 0);
	omp_free(whole, pages);
	omp_destroy_allocator(pages);
	CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
	omp_set_default_allocator(omp_high_bw_mem_alloc);
	CHECK(omp_get_default_allocator() == omp_high_bw_mem_alloc);
	long *zero = omp_calloc(10, sizeof(long), omp_null_allocator);
	CHECK(zero && !zero[0] && !zero[9]);
	omp_free(zero, omp_null_allocator);
}

int main(void)
{
	variables();
	machine();
	memory();
	if (!failed)
		puts("ok");
	return failed;
}

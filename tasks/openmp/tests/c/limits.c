/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What is limited: threads of nested regions together, owners of nest locks, pools of memory. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int locks(void)
{
	omp_nest_lock_t lock;
	int wrong = 0;

	omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(1) reduction(+ : wrong)
	{
		wrong += omp_test_nest_lock(&lock) != 1;
		wrong += omp_test_nest_lock(&lock) != 2;
#pragma omp task if (0) shared(lock, wrong)
		wrong += omp_test_nest_lock(&lock) != 0;
#pragma omp taskwait
		omp_unset_nest_lock(&lock);
		omp_unset_nest_lock(&lock);
#pragma omp task if (0) shared(lock, wrong)
		{
			wrong += omp_test_nest_lock(&lock) != 1;
			omp_unset_nest_lock(&lock);
		}
	}
	omp_destroy_nest_lock(&lock);
	return wrong;
}

static int threads(void)
{
	int now = 0, most = 0;

	omp_set_max_active_levels(3);
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(5)
#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		if (++now > most)
			most = now;
#pragma omp barrier
#pragma omp critical
		now--;
	}
	/* All are given back: the next region has as many as the first could have. */
	int again = 0;
#pragma omp parallel num_threads(50) reduction(+ : again)
	again++;
	return most > omp_get_thread_limit() || again != omp_get_thread_limit();
}

static int pools(void)
{
	omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096},
				     {omp_atk_fallback, omp_atv_null_fb},
				     {omp_atk_alignment, 256}};
	omp_allocator_handle_t pool = omp_init_allocator(omp_default_mem_space, 3, traits);
	char *first = omp_alloc(3000, pool), *second = omp_alloc(3000, pool);

	if (!first || second || (uintptr_t)first % 256)
		return 1;
	memset(first, 1, 3000);
	omp_free(first, omp_null_allocator);
	second = omp_alloc(3000, pool);
	if (!second)
		return 1;
	omp_free(second, pool);
	omp_destroy_allocator(pool);
	return 0;
}

int main(int argc, char **argv)
{
	if (omp_get_thread_limit() != 6) {
		char command[8192];

		/* The limit is of the environment, which is read once. */
		snprintf(command, sizeof(command), "OMP_THREAD_LIMIT=6 timeout 60 %s", argv[argc - 1]);
		return system(command) != 0;
	}
	if (locks() || threads() || pools())
		return printf("%d %d %d\n", locks(), threads(), pools()), 1;
	if (omp_pause_resource_all(omp_pause_soft))
		return printf("no pause\n"), 1;
	if (threads())
		return printf("after a pause\n"), 1;
	puts("ok");
	return 0;
}

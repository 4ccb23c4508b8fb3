/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

__thread struct tally *tally_mine;

static struct tally *all;

struct tally *tally_join(void)
{
	if (tally_mine)
		return tally_mine;
	tally_mine = (struct tally *)aligned_alloc(sizeof(struct tally), sizeof(struct tally));
	if (!tally_mine)
		abort();
	memset(tally_mine, 0, sizeof(*tally_mine));
	tally_mine->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&all, &tally_mine->next, tally_mine, 1,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return tally_mine;
}

uint64_t tally_tasks(void)
{
	uint64_t sum = 0;

	for (struct tally *one = __atomic_load_n(&all, __ATOMIC_ACQUIRE); one; one = one->next)
		sum += one->tasks;
	return sum;
}

uint64_t tally_found(void)
{
	uint64_t sum = 0;

	for (struct tally *one = __atomic_load_n(&all, __ATOMIC_ACQUIRE); one; one = one->next)
		sum += one->found;
	return sum;
}

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "queens.h"

#include "measure.h"
#include "tally.h"

/* For boards of 0, 1, 2, ... columns. */
static const uint64_t POSITIONS[QUEENS_MAX + 1] = {
	1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189, 4674890, 27358553,
};
static const uint64_t SOLUTIONS[QUEENS_MAX + 1] = {
	1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596,
};

void queens_count(struct position position)
{
	struct tally *tally = tally_of_thread();

	tally->tasks++;
	tally->found += position.taken == position.board;
}

uint64_t queens_positions(long size)
{
	return POSITIONS[size];
}

const char *queens_failure(long size)
{
	const char *failure = measure_differ("positions", tally_tasks(), POSITIONS[size]);

	return failure ? failure : measure_differ("solutions", tally_found(), SOLUTIONS[size]);
}

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How fast would a slice have run, had no other task used wide instructions?
 *
 * The rows and the factor between them are those of the actual frequency (turbo_row.h),
 * at other shares: cycles above the level that the task itself demands move to that
 * level (dissertation 7.4.2, step 4).
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_IDEAL_FREQUENCY_H
#define EVENKEEL_IDEAL_FREQUENCY_H

#include "turbo_row.h"

/* The shares without the licenses of other tasks. */
static inline void ek_ideal_shares(const struct ek_shares *shares, u32 own_level,
				   struct ek_shares *ideal)
{
	u64 moved_q30 = 0;

	if (own_level >= EK_LEVELS_MAX)
		own_level = EK_LEVELS_MAX - 1;
	for (u32 level = 0; level < EK_LEVELS_MAX; level++) {
		u32 share_q30 = shares->q30[level];

		ideal->q30[level] = 0;
		if (level >= own_level)
			moved_q30 += share_q30;
		else
			ideal->q30[level] = share_q30;
	}
	ideal->q30[own_level] = (u32)ek_min(moved_q30, EK_ONE);
}

static inline u64 ek_ideal_frequency_hz(const struct ek_turbo *turbo,
					const struct ek_shares *shares, u32 own_level,
					const struct ek_turbo_row *at)
{
	u32 slow = at->slow;
	u32 factor_q30 = at->factor_q30;
	struct ek_shares ideal;

	ek_ideal_shares(shares, own_level, &ideal);

	u64 slow_hz = ek_mean_frequency_hz(turbo, slow, &ideal);

	if (slow == 0 || factor_q30 == 0)
		return slow_hz;

	u64 fast_hz = ek_mean_frequency_hz(turbo, slow - 1, &ideal);

	return slow_hz + ek_mul_q30(ek_sub(fast_hz, slow_hz), factor_q30);
}

#endif

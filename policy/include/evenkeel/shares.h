/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * At which levels did a slice's cycles run?
 *
 * Shares of cycles, not of time: r_i = c_i / c_total (dissertation 7.4.2).
 * Counters see the levels above the lowest; the remaining cycles ran at level 0
 * (Eq. 7.4). Whatever the counters say, the shares add up to 1.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_SHARES_H
#define EVENKEEL_SHARES_H

#include <evenkeel/turbo.h>

#include "fixed.h"

/* Counts of one task between two context switches, as the host measured them. */
struct ek_slice {
	u64 time_ns;
	u64 cycles;
	/* Cycles of the reference clock while not halted. */
	u64 ref_cycles;
	/* Cycles at each level; entry 0 is not read (Eq. 7.4). */
	u64 level_cycles[EK_LEVELS_MAX];
	/* Cycles stalled on L2 misses and bound by stores. */
	u64 stall_cycles;
	/* The first row of the turbo table that can have held; 0 where no host counted cores. */
	u64 first_row;
};

/* Share of cycles at each level, Q30. */
struct ek_shares {
	u32 q30[EK_LEVELS_MAX];
};

static inline void ek_shares(const struct ek_slice *slice, struct ek_shares *shares)
{
	u32 left_q30 = EK_ONE;

	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		u64 cycles = slice->level_cycles[level];
		u32 share_q30 = 0;

		if (cycles > 0) {
			share_q30 = ek_share_q30(cycles, slice->cycles);
			if (share_q30 > left_q30)
				share_q30 = left_q30;
			left_q30 -= share_q30;
		}
		shares->q30[level] = share_q30;
	}
	shares->q30[0] = left_q30;
}

/* Whether any cycle ran above a level. */
static inline u32 ek_shares_above(const struct ek_shares *shares, u32 own_level)
{
	for (u32 level = EK_LEVELS_MAX - 1; level > 0 && level > own_level; level--) {
		if (shares->q30[level] > 0)
			return 1;
	}
	return 0;
}

_Static_assert(sizeof(struct ek_slice) == 8 * (5 + EK_LEVELS_MAX), "Rust reads this struct");
_Static_assert(sizeof(struct ek_shares) == 4 * EK_LEVELS_MAX, "Rust reads this struct");

#endif

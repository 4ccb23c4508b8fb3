/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much of its time did a task lose to other tasks' licenses?
 *
 * Dissertation, Eq. 7.3:
 *
 *	dt = t_actual (c_total - c_stall) (f_ideal - f_actual) / (c_total f_ideal)
 *
 * Exactly 0 unless cycles ran above the task's own level, so a task of the
 * top level is never a victim and nothing changes on a machine without wide
 * instructions. Never more than t_actual.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_TIME_LOST_H
#define EVENKEEL_TIME_LOST_H

#include "ideal_frequency.h"
#include "stall.h"

struct ek_lost {
	u64 lost_ns;
	/* Both 0 where the counters cannot tell. */
	u64 actual_hz;
	u64 ideal_hz;
	/* Intermediate results; in the caller's memory for BPF's verifier (EK_FORGET). */
	struct ek_shares shares;
	struct ek_turbo_row at;
};

/* Eq. 7.3 for known frequencies. */
static inline u64 ek_time_lost_ns(u64 time_ns, u32 stall_q30, u64 actual_hz, u64 ideal_hz)
{
	u64 slower_q30 = ek_share_q30(ek_sub(ideal_hz, actual_hz), ideal_hz);

	if (stall_q30 > EK_ONE)
		stall_q30 = EK_ONE;
	return ek_mul_q30(time_ns, (u32)(slower_q30 * (EK_ONE - stall_q30) >> 30));
}

static inline void ek_time_lost(const struct ek_turbo *turbo, const struct ek_slice *slice,
				u32 own_level, struct ek_lost *lost)
{
	u32 levels = turbo->levels;

	lost->lost_ns = 0;
	lost->actual_hz = ek_actual_frequency_hz(turbo->ref_khz, slice->cycles, slice->ref_cycles);
	lost->ideal_hz = lost->actual_hz;
	lost->at.slow = 0;
	lost->at.factor_q30 = 0;
	ek_shares(slice, &lost->shares);
	EK_FORGET();
	if (lost->actual_hz == 0 || own_level >= levels || own_level + 1 >= levels ||
	    !ek_shares_above(&lost->shares, own_level))
		return;
	ek_turbo_row(turbo, &lost->shares, lost->actual_hz, slice->first_row, &lost->at);
	EK_FORGET();
	lost->ideal_hz = ek_ideal_frequency_hz(turbo, &lost->shares, own_level, &lost->at);
	EK_FORGET();

	u32 stall_q30 = ek_stall_share_q30(slice->stall_cycles, slice->cycles);

	lost->lost_ns = ek_time_lost_ns(slice->time_ns, stall_q30, lost->actual_hz, lost->ideal_hz);
}

_Static_assert(sizeof(struct ek_lost) == 32 + 4 * EK_LEVELS_MAX, "Rust reads this struct");

#endif

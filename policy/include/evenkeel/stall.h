/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How does a change of frequency change a task's speed?
 *
 * Cycles spent waiting for memory take the same time at any frequency; only
 * the other cycles speed up (dissertation, Eq. 4.3):
 *
 *	perf(f_now -> f_next) = f_next / (s (f_next - f_now) + f_now)
 *
 * with s the share of stalled cycles at f_now.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_STALL_H
#define EVENKEEL_STALL_H

#include "mean_frequency.h"

/* Share of the slice's cycles that waited for memory, Q30; at most 1. */
static inline u32 ek_stall_share_q30(u64 stall_cycles, u64 cycles)
{
	return ek_share_q30(stall_cycles, cycles);
}

/* Speed at f_next over speed at f_now, Q30; 1 where a frequency is unknown (0). */
static inline u64 ek_stall_perf_q30(u32 stall_q30, u64 now_hz, u64 next_hz)
{
	now_hz = ek_min(now_hz, EK_HZ_MAX);
	next_hz = ek_min(next_hz, EK_HZ_MAX);
	if (now_hz == 0 || next_hz == 0)
		return EK_ONE;

	u64 rise_hz = ek_mul_q30(ek_sub(next_hz, now_hz), stall_q30);
	u64 fall_hz = ek_mul_q30(ek_sub(now_hz, next_hz), stall_q30);
	u64 divisor_hz = ek_sub(now_hz + rise_hz, fall_hz);

	/* The divisor lies between the two frequencies. */
	if (divisor_hz == 0)
		return EK_ONE;
	return (next_hz << 30) / divisor_hz;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * By which measure other than time could a slice be charged?
 *
 * Two measures that the dissertation discusses and refuses (7.3), to compare
 * with. Cycles: a task is charged its share of full frequency, as where credit or
 * slices are scaled by frequency; a task that lowers the clock is charged less, too.
 * Energy: power goes with the cube of the frequency, and the CPU grants each level
 * the frequency at which its code draws as much power as that of the other levels; so
 * a slice is charged (f_actual / f_ideal)^3 of its time. No sensor measures energy by
 * hardware thread.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_METER_H
#define EVENKEEL_METER_H

#include "time_lost.h"

enum ek_meter {
	EK_METER_CYCLES = 1,
	EK_METER_ENERGY = 2,
};

/* The charge of a slice; its whole time where counters are missing or the measure is unknown. */
static inline u64 ek_meter_ns(u32 meter, const struct ek_turbo *turbo, const struct ek_slice *slice,
			      u32 own_level, struct ek_lost *lost)
{
	u32 share_q30;

	/* A task of level 0 could have had the full frequency. */
	ek_time_lost(turbo, slice, meter == EK_METER_CYCLES ? 0 : own_level, lost);
	EK_FORGET();
	if (lost->ideal_hz == 0 || (meter != EK_METER_CYCLES && meter != EK_METER_ENERGY))
		return slice->time_ns;
	share_q30 = ek_share_q30(lost->actual_hz, lost->ideal_hz);

	u64 charged_ns = ek_mul_q30(slice->time_ns, share_q30);

	if (meter == EK_METER_ENERGY)
		charged_ns = ek_mul_q30(ek_mul_q30(charged_ns, share_q30), share_q30);
	return charged_ns;
}

#endif

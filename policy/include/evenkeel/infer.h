/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What would the counters of a slice have shown, where there are none?
 *
 * Cycles at each level from the time believed at it and the frequency that the
 * CPU table gives it, in the row of as many active cores as there are. Where
 * cycles and reference cycles were counted (aperf and mperf), they hold, and
 * the inferred ones only divide them among levels.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_INFER_H
#define EVENKEEL_INFER_H

#include "belief.h"
#include "mean_frequency.h"

/* The row of the turbo table that holds for that many active cores; the last one beyond it. */
static inline u32 ek_active_row(const struct ek_turbo *turbo, u32 active_cores)
{
	u32 rows = turbo->rows;

	if (rows > EK_ROWS_MAX)
		rows = EK_ROWS_MAX;
	for (u32 row = 0; row < EK_ROWS_MAX && row < rows; row++) {
		if (active_cores <= turbo->cores_max[row])
			return row;
	}
	return rows > 0 ? rows - 1 : 0;
}

/* How long the counted cycles above level 0 took in a row; what is left was level 0. */
static inline void ek_counted_times(const struct ek_turbo *turbo, u32 row,
				    const struct ek_slice *slice, struct ek_level_times *times)
{
	u64 left_ns = slice->time_ns;

	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		u32 khz = ek_frequency_khz(turbo, row, level);
		u64 part_ns = ek_min(ek_mul_div(slice->level_cycles[level], 1000000, khz), left_ns);

		times->ns[level] = part_ns;
		left_ns = ek_sub(left_ns, part_ns);
	}
	times->ns[0] = left_ns;
}

/* `slice` comes with its time, its stalls, and cycles and reference cycles or 0. */
static inline void ek_infer(const struct ek_turbo *turbo, u32 row,
			    const struct ek_level_times *believed, struct ek_slice *slice)
{
	u64 time_ns = slice->time_ns;
	u64 whole_ns = 0;
	u64 cycles = 0;

	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		whole_ns = ek_add(whole_ns, believed->ns[level]);
	for (u32 level = 0; level < EK_LEVELS_MAX; level++) {
		u32 share_q30 = ek_share_q30(believed->ns[level], whole_ns);
		u32 khz = ek_frequency_khz(turbo, row, level);

		slice->level_cycles[level] =
			ek_mul_div(ek_mul_q30(time_ns, share_q30), khz, 1000000);
		EK_FORGET();
	}
	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		cycles = ek_add(cycles, slice->level_cycles[level]);
	if (slice->cycles == 0 || slice->ref_cycles == 0) {
		slice->cycles = cycles;
		slice->ref_cycles =
			ek_mul_div(time_ns, ek_frequency_clamp_khz(turbo->ref_khz), 1000000);
		return;
	}
	for (u32 level = 0; level < EK_LEVELS_MAX; level++) {
		u32 share_q30 = ek_share_q30(slice->level_cycles[level], cycles);

		slice->level_cycles[level] = ek_mul_q30(slice->cycles, share_q30);
	}
}

#endif

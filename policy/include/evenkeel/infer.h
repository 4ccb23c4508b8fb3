/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which counts would a slice have shown on a CPU that lacks the counters?
 *
 * Cycles at each level follow from the time believed at that level and its frequency
 * by the CPU table, in the row of the number of active cores. Where cycles and
 * reference cycles were counted (aperf and mperf), they hold, and the inferred ones
 * only divide them among levels.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_INFER_H
#define EVENKEEL_INFER_H

#include "belief.h"
#include "mean_frequency.h"

/* The time that a slice was not halted, less the least time of its cycles at level 0. */
static inline u64 ek_counted_above_ns(const struct ek_turbo *turbo, const struct ek_slice *slice)
{
	u32 khz = ek_frequency_khz(turbo, (u32)ek_min(slice->first_row, EK_ROWS_MAX), 0);
	u32 ref_khz = ek_frequency_clamp_khz(turbo->ref_khz);
	u64 time_ns = ek_min(slice->time_ns, ek_mul_div(slice->ref_cycles, 1000000, ref_khz));
	u64 cycles = slice->cycles;

	if (cycles == 0 || slice->ref_cycles == 0)
		return slice->time_ns;
	for (u32 level = 1; level < EK_LEVELS_MAX; level++)
		cycles = ek_sub(cycles, slice->level_cycles[level]);
	/* One cycle and 1 ns, since counters and divisions round down. */
	return ek_sub(time_ns, ek_add(ek_mul_div(ek_add(cycles, 1), 1000000, khz), 1));
}

/*
 * How long the counted cycles above level 0 took in a row; the remaining time was at
 * level 0. Where cycles were counted, at most the time that those at level 0 leave:
 * a table that is too slow would show more time at a level than its hold, and so a
 * demand for that level.
 */
static inline void ek_counted_times(const struct ek_turbo *turbo, u32 row,
				    const struct ek_slice *slice, struct ek_level_times *times)
{
	u64 above_ns = ek_counted_above_ns(turbo, slice);
	u64 left_ns = slice->time_ns;

	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		u32 khz = ek_frequency_khz(turbo, row, level);
		u64 part_ns =
			ek_min(ek_mul_div(slice->level_cycles[level], 1000000, khz), above_ns);

		times->ns[level] = part_ns;
		above_ns = ek_sub(above_ns, part_ns);
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

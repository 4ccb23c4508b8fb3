/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How fast did the clock run on average, and how fast should it have run?
 *
 * Cycles take longer at a lower frequency, so shares of cycles weigh periods:
 * the mean period is the sum of r_i / f_i. With three levels this is Eq. 7.7
 * of the dissertation; the sum holds for any number. The actual frequency is
 * f_ref * cycles / ref_cycles (7.4.2).
 *
 * Frequencies of a table are read as between 1 MHz and 16 GHz; with shares
 * rounded to Q30, a mean is exact to 2e-8 between 0.8 and 5 GHz.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_MEAN_FREQUENCY_H
#define EVENKEEL_MEAN_FREQUENCY_H

#include "shares.h"

#define EK_KHZ_MIN 1000U
#define EK_KHZ_MAX 16000000U
#define EK_HZ_MAX (1000ULL * EK_KHZ_MAX)

/* Cycles of a mean: 2^63 / kHz is a period with 38 or more significant bits. */
#define EK_PERIOD_CYCLES (1ULL << 63)
/* Cycles below this, times EK_HZ_MAX, fit a u64. */
#define EK_CYCLES_END (1ULL << 30)

static inline u32 ek_frequency_clamp_khz(u32 khz)
{
	if (khz < EK_KHZ_MIN)
		return EK_KHZ_MIN;
	return khz < EK_KHZ_MAX ? khz : EK_KHZ_MAX;
}

/* Frequency in a row at a level; the table's last row or level beyond its end. */
static inline u32 ek_frequency_khz(const struct ek_turbo *turbo, u32 row, u32 level)
{
	u32 rows = turbo->rows;
	u32 levels = turbo->levels;

	if (row >= rows && rows > 0)
		row = rows - 1;
	if (row >= EK_ROWS_MAX)
		row = EK_ROWS_MAX - 1;
	if (level >= levels && levels > 0)
		level = levels - 1;
	if (level >= EK_LEVELS_MAX)
		level = EK_LEVELS_MAX - 1;
	return ek_frequency_clamp_khz(turbo->khz[row][level]);
}

/* Mean frequency in a row at these shares of cycles. */
static inline u64 ek_mean_frequency_hz(const struct ek_turbo *turbo, u32 row,
				       const struct ek_shares *shares)
{
	u64 period = 0;

	for (u32 level = 0; level < EK_LEVELS_MAX; level++) {
		u64 share_q30 = shares->q30[level];

		if (share_q30 == 0)
			continue;

		u64 khz = ek_frequency_khz(turbo, row, level);

		if (share_q30 >= EK_ONE)
			return khz * 1000;
		period += (share_q30 << 33) / khz;
	}

	u64 period_per_hz = period / 1000;

	/* Only shares that do not add up to 1 reach either limit. */
	if (period_per_hz == 0)
		return EK_HZ_MAX;
	return ek_min(EK_PERIOD_CYCLES / period_per_hz, EK_HZ_MAX);
}

/* Frequency at which the slice really ran; 0 if its counters cannot tell. */
static inline u64 ek_actual_frequency_hz(u32 ref_khz, u64 cycles, u64 ref_cycles)
{
	u64 ref_hz = ek_frequency_clamp_khz(ref_khz) * 1000ULL;

	if (ref_cycles == 0)
		return 0;
	/* Down to as many bits as fit, by halves. */
	if (cycles >= 1ULL << 61) {
		cycles >>= 32;
		ref_cycles >>= 32;
	}
	if (cycles >= 1ULL << 45) {
		cycles >>= 16;
		ref_cycles >>= 16;
	}
	if (cycles >= 1ULL << 37) {
		cycles >>= 8;
		ref_cycles >>= 8;
	}
	if (cycles >= 1ULL << 33) {
		cycles >>= 4;
		ref_cycles >>= 4;
	}
	if (cycles >= 1ULL << 31) {
		cycles >>= 2;
		ref_cycles >>= 2;
	}
	if (cycles >= EK_CYCLES_END) {
		cycles >>= 1;
		ref_cycles >>= 1;
	}
	if (cycles >= EK_CYCLES_END || ref_cycles == 0)
		return EK_HZ_MAX;
	return ek_min(ref_hz * cycles / ref_cycles, EK_HZ_MAX);
}

#endif

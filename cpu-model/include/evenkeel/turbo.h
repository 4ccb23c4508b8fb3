/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The frequencies of a CPU: one row for each range of active cores, one
 * column for each license level. Filled from a CPU table (tables/ *.toml).
 */
#ifndef EVENKEEL_TURBO_H
#define EVENKEEL_TURBO_H

#include "ints.h"

/* License levels a CPU may have. */
#define EK_LEVELS_MAX 6
/* Ranges of active cores; Intel's turbo MSRs have eight. */
#define EK_ROWS_MAX 16

struct ek_turbo {
	/* Frequency of the reference clock (the TSC). */
	u32 ref_khz;
	/* Levels in use, 1..EK_LEVELS_MAX; level 0 is the fastest. */
	u32 levels;
	/* Rows in use, 1..EK_ROWS_MAX. */
	u32 rows;
	/* Row i holds up to this many active cores of the package; ascending. */
	u32 cores_max[EK_ROWS_MAX];
	/* Never rises with the row nor with the level. */
	u32 khz[EK_ROWS_MAX][EK_LEVELS_MAX];
};

_Static_assert(sizeof(struct ek_turbo) == 4 * (3 + EK_ROWS_MAX + EK_ROWS_MAX * EK_LEVELS_MAX),
	       "Rust reads this struct");

#endif

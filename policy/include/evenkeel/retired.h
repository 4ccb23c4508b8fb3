/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which level did a slice's wide floating-point instructions demand?
 *
 * A CPU's table maps a class and its rate to a level (Skylake: heavy 512-bit
 * code demands level 2 from one instruction in two cycles on, else 1; sparse
 * heavy 256-bit code none: dissertation 3.2.1). The counters see floating
 * point alone, so they show heavy code only; integer code is invisible.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_RETIRED_H
#define EVENKEEL_RETIRED_H

#include <evenkeel/turbo.h>

#include "fixed.h"

/* Widths whose instructions are counted: 256 and 512 bits. */
#define EK_WIDTHS 2

/* From which rate on instructions of a width demand each level; EK_U32_MAX: never. */
struct ek_rates {
	u32 min_permille[EK_WIDTHS][EK_LEVELS_MAX];
};

/* Instructions of a slice, by width. */
struct ek_retired {
	u64 wide[EK_WIDTHS];
};

/* `retired` and `cycles` are of the same slice. */
static inline u32 ek_retired_level(const struct ek_rates *rates, const struct ek_retired *retired,
				   u64 cycles)
{
	if (cycles == 0)
		return 0;
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		for (u32 width = 0; width < EK_WIDTHS; width++) {
			u32 min_permille = rates->min_permille[width][level];

			/* Two instructions a cycle and more are possible, so no share. */
			if (retired->wide[width] > 0 && min_permille != EK_U32_MAX &&
			    retired->wide[width] >= ek_mul_div(cycles, min_permille, 1000))
				return level;
		}
	}
	return 0;
}

_Static_assert(sizeof(struct ek_rates) == 4 * EK_WIDTHS * EK_LEVELS_MAX, "Rust reads this struct");
_Static_assert(sizeof(struct ek_retired) == 8 * EK_WIDTHS, "Rust reads this struct");

#endif

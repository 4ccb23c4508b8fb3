/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much does a task of a nice value weigh?
 *
 * The kernel's own table, sched_prio_to_weight in kernel/sched/core.c (Linux
 * 5.9; unchanged to this day): each step is about 10 % of CPU time, a factor of
 * 1.25, and nice 0 is 1024.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_WEIGHT_H
#define EVENKEEL_WEIGHT_H

#include "fixed.h"

/* Weight of nice 0. */
#define EK_WEIGHT_ONE 1024U

/* Weight of a SCHED_IDLE task whatever its nice value: WEIGHT_IDLEPRIO of kernel/sched/sched.h. */
#define EK_WEIGHT_IDLE 3U

/* Nice values outside -20..19 are read as the nearest inside. */
static inline u32 ek_weight(s32 nice)
{
	/* Five a line, as kernel/sched/core.c has them. */
	/* clang-format off */
	static const u32 weights[40] = {
		88761, 71755, 56483, 46273, 36291,
		29154, 23254, 18705, 14949, 11916,
		9548, 7620, 6100, 4904, 3906,
		3121, 2501, 1991, 1586, 1277,
		1024, 820, 655, 526, 423,
		335, 272, 215, 172, 137,
		110, 87, 70, 56, 45,
		36, 29, 23, 18, 15,
	};
	/* clang-format on */

	if (nice < -20)
		nice = -20;
	if (nice > 19)
		nice = 19;
	return weights[nice + 20];
}

/*
 * 2^32 / weight rounded down, at most EK_U32_MAX: within 1 of that file's
 * sched_prio_to_wmult. A weight of 0 is read as that of nice 0.
 */
static inline u32 ek_weight_inverse(u32 weight)
{
	if (weight == 0)
		weight = EK_WEIGHT_ONE;
	return (u32)ek_min((1ULL << 32) / weight, EK_U32_MAX);
}

#endif

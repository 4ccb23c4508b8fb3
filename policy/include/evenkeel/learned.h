/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which level is a task believed to demand?
 *
 * Evidence that a task used wide registers is precise and rare: 2 to 20 % of the
 * times that a task leaves a CPU, where its code clears the registers before a sleep
 * (measured for x265 and nginx on Linux 6.18). So a piece of evidence counts for a
 * while, each level by itself, and a slice without evidence says nothing. A sensor
 * that sees every slice is believed for a moment only, so that a task whose phases
 * change is judged by its last phase.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_LEARNED_H
#define EVENKEEL_LEARNED_H

#include <evenkeel/turbo.h>

#include "fixed.h"

/* How long evidence counts; our choice. */
#define EK_LEARNED_NS 2000000000ULL
/* How long evidence of a sensor that sees every slice counts: tens of slices, our choice. */
#define EK_SHOWN_NS 100000000ULL
/*
 * Registers are saved, and can be read, only when a task leaves its CPU. A task that
 * keeps its CPU has a forced switch-out this often: 50 times a second; our choice.
 */
#define EK_FORCED_SWITCH_OUT_NS 20000000ULL

struct ek_learned {
	/* Until when the task is believed to demand each level; entry 0 is not read. */
	u64 until_ns[EK_LEVELS_MAX];
};

static inline void ek_learn_for(struct ek_learned *learned, u32 level, u64 for_ns, u64 now_ns)
{
	if (level > 0 && level < EK_LEVELS_MAX)
		learned->until_ns[level] = ek_max(learned->until_ns[level], ek_add(now_ns, for_ns));
}

/* Rare evidence that the task demanded a level; 0 is none. */
static inline void ek_learn(struct ek_learned *learned, u32 level, u64 now_ns)
{
	ek_learn_for(learned, level, EK_LEARNED_NS, now_ns);
}

/*
 * Evidence of a sensor that sees every slice: the level of this slice and that of the
 * slice before, of which the lower one is believed. One slice alone may be mistaken,
 * and its mistake would be believed for tens of slices.
 */
static inline void ek_learn_shown(struct ek_learned *learned, u32 level, u32 before, u64 now_ns)
{
	ek_learn_for(learned, level < before ? level : before, EK_SHOWN_NS, now_ns);
}

/* Whether a task is due for a forced switch-out after `stayed_ns` on its CPU. */
static inline u32 ek_forces_switch_out(u64 stayed_ns)
{
	return stayed_ns >= EK_FORCED_SWITCH_OUT_NS;
}

static inline u32 ek_learned_level(const struct ek_learned *learned, u64 now_ns)
{
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		if (learned->until_ns[level] > now_ns)
			return level;
	}
	return 0;
}

_Static_assert(sizeof(struct ek_learned) == 8 * EK_LEVELS_MAX, "Rust reads this struct");

#endif

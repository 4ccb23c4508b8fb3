/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which level is a task believed to demand?
 *
 * What shows that a task used wide registers is precise and rare: 2 to 20 % of
 * the times it leaves a CPU, where its code clears them before it sleeps
 * (measured for x265 and nginx on Linux 6.18). So a piece of evidence counts
 * for a while, each level by itself, and silence says nothing. What looks at
 * every slice is believed for a moment only, so that a task whose phases change
 * is known by the last.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_LEARNED_H
#define EVENKEEL_LEARNED_H

#include <evenkeel/turbo.h>

#include "fixed.h"

/* How long evidence counts; our choice. */
#define EK_LEARNED_NS 2000000000ULL
/* The same where every slice is looked at: some tens of slices, our choice. */
#define EK_SHOWN_NS 100000000ULL
/*
 * Registers are saved, and show, only when a task leaves its CPU. One that goes
 * on and on leaves it for a moment this often: 50 switches a second; our choice.
 */
#define EK_AIRING_NS 20000000ULL

struct ek_learned {
	/* Until when the task is believed to demand each level; entry 0 is not read. */
	u64 until_ns[EK_LEVELS_MAX];
};

static inline void ek_learn_for(struct ek_learned *learned, u32 level, u64 for_ns, u64 now_ns)
{
	if (level > 0 && level < EK_LEVELS_MAX)
		learned->until_ns[level] =
			ek_max(learned->until_ns[level], ek_add(now_ns, for_ns));
}

/* Rare evidence that the task demanded a level; 0 is none. */
static inline void ek_learn(struct ek_learned *learned, u32 level, u64 now_ns)
{
	ek_learn_for(learned, level, EK_LEARNED_NS, now_ns);
}

/*
 * What a sensor that looks at every slice saw the task demand, in this one and in
 * the one before: what both show is believed. One slice alone may be mistaken,
 * and would be believed for tens of them.
 */
static inline void ek_learn_shown(struct ek_learned *learned, u32 level, u32 before, u64 now_ns)
{
	ek_learn_for(learned, level < before ? level : before, EK_SHOWN_NS, now_ns);
}

/* Whether a task that has been on its CPU for so long is to leave it for a moment. */
static inline u32 ek_airs(u64 stayed_ns)
{
	return stayed_ns >= EK_AIRING_NS;
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

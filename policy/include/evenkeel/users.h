/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which task used wide instructions last on a core?
 *
 * For each level the task that demanded that level, or a higher one, most recently
 * (dissertation 7.4.3). A slice that ran above its own task's level was slowed by
 * the last user of the highest level in its counters.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_USERS_H
#define EVENKEEL_USERS_H

#include "compensate.h"
#include "shares.h"

struct ek_users {
	/* EK_NO_TASK where no task has yet; entry 0 is not used. */
	u32 last[EK_LEVELS_MAX];
};

static inline void ek_users_none(struct ek_users *users)
{
	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		users->last[level] = EK_NO_TASK;
}

static inline void ek_users_note(struct ek_users *users, u32 level, u32 task)
{
	for (u32 i = 1; i < EK_LEVELS_MAX; i++) {
		if (i <= level)
			users->last[i] = task;
	}
}

/* The last user of the highest level at which a slice ran above its own task's level. */
static inline u32 ek_users_above(const struct ek_users *users, const struct ek_slice *slice,
				 u32 own_level)
{
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		if (level > own_level && slice->level_cycles[level] > 0)
			return users->last[level];
	}
	return EK_NO_TASK;
}

_Static_assert(sizeof(struct ek_users) == 4 * EK_LEVELS_MAX, "Rust reads this struct");

#endif

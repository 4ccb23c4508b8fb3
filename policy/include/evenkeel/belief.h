/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which levels were in force on a core that has no counter for them?
 *
 * The highest level that any of its running tasks is believed to demand, and
 * after that for as long as the CPU holds it (dissertation 3.2.3). Transitions
 * are left out. The host reports each change of a running task; the time at each
 * level above 0 adds up over the life of the core, so that a slice is the
 * difference of two readings, on every hardware thread alike. A reading that
 * was taken while only level 0 was in force holds until a higher level is.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure. Hardware
 * threads of a core share one belief, under the host's lock.
 */
#ifndef EVENKEEL_BELIEF_H
#define EVENKEEL_BELIEF_H

#include <evenkeel/turbo.h>

#include "fixed.h"

/* A time for each level. */
struct ek_level_times {
	u64 ns[EK_LEVELS_MAX];
};

struct ek_belief {
	/* Until when time is booked. */
	u64 since_ns;
	/* Until when each level is held after the last demand for it. */
	u64 held_until_ns[EK_LEVELS_MAX];
	/* Booked so far; entry 0 is not used. */
	struct ek_level_times booked;
	/* Running tasks that demand each level; entry 0 is not used. */
	u32 running[EK_LEVELS_MAX];
};

static inline u32 ek_belief_demanded(const struct ek_belief *belief)
{
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		if (belief->running[level] > 0)
			return level;
	}
	return 0;
}

/* The highest level above a floor whose hold has not ended; the floor itself where none is held. */
static inline u32 ek_belief_held(const struct ek_belief *belief, u32 floor, u64 now_ns)
{
	for (u32 level = EK_LEVELS_MAX - 1; level > floor; level--) {
		if (belief->held_until_ns[level] > now_ns)
			return level;
	}
	return floor;
}

/* Until when more than level 0 may be in force; EK_U64_MAX while a task demands such a level. */
static inline u64 ek_belief_wide_until_ns(const struct ek_belief *belief)
{
	u64 until_ns = 0;

	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		if (belief->running[level] > 0)
			return EK_U64_MAX;
		until_ns = ek_max(until_ns, belief->held_until_ns[level]);
	}
	return until_ns;
}

/* Books the time until now; time that was booked already is left alone. */
static inline void ek_belief_book(struct ek_belief *belief, u64 now_ns)
{
	u32 demanded = ek_belief_demanded(belief);
	u64 from_ns = belief->since_ns;

	/* Each round ends the highest hold that is left. */
	for (u32 i = 0; i < EK_LEVELS_MAX && from_ns < now_ns; i++) {
		u32 level = ek_belief_held(belief, demanded, from_ns);
		u64 until_ns = now_ns;

		if (level == 0 || level >= EK_LEVELS_MAX)
			break;
		if (level > demanded)
			until_ns = ek_min(now_ns, belief->held_until_ns[level]);
		belief->booked.ns[level] =
			ek_add(belief->booked.ns[level], ek_sub(until_ns, from_ns));
		from_ns = until_ns;
	}
	belief->since_ns = ek_max(belief->since_ns, now_ns);
}

/*
 * From now on a hardware thread demands level `to` instead of `from`; each level up to
 * `from` is held for its time in `hold`.
 */
static inline void ek_belief_change(struct ek_belief *belief, const struct ek_level_times *hold,
				    u32 from, u32 to, u64 now_ns)
{
	ek_belief_book(belief, now_ns);
	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		u32 running = belief->running[level];
		u64 held_ns = ek_add(now_ns, hold->ns[level]);

		if (level <= from && held_ns > belief->held_until_ns[level])
			belief->held_until_ns[level] = held_ns;
		if (level == from && running > 0)
			running--;
		if (level == to && running < EK_U32_MAX)
			running++;
		belief->running[level] = running;
	}
}

/* The time booked since a reading `passed_ns` ago; the remaining time was at level 0. */
static inline void ek_belief_since(const struct ek_level_times *booked,
				   const struct ek_level_times *before, u64 passed_ns,
				   struct ek_level_times *since)
{
	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		u64 part_ns = ek_sub(booked->ns[level], before->ns[level]);

		since->ns[level] = part_ns;
		passed_ns = ek_sub(passed_ns, part_ns);
	}
	since->ns[0] = passed_ns;
}

_Static_assert(sizeof(struct ek_level_times) == 8 * EK_LEVELS_MAX, "Rust reads this struct");
_Static_assert(sizeof(struct ek_belief) == 8 + 20 * EK_LEVELS_MAX, "Rust reads this struct");

#endif

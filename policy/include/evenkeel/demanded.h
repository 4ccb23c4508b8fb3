/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which level did a slice's own task demand, by license counters?
 *
 * The counters show the level at which the core ran, and no task. Time at a level was
 * demanded before the slice and held, or on another hardware thread meanwhile, or by
 * the slice's own task. So this is a group test: a task that does without a level for
 * longer than the hold is cleared of that level in time, and where all tasks of a core
 * but one are cleared, that one demanded the level. If all are cleared and the core
 * still runs at the level, they no longer are. The dissertation's trap on XCR0 (7.4.3)
 * needs a kernel of its own; this test does not.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_DEMANDED_H
#define EVENKEEL_DEMANDED_H

#include "belief.h"

/* A task that ran without a level for this long is cleared of that level; our choice. */
#define EK_CLEARED_NS 1000000ULL
/*
 * Slices that together show a level, where each alone might have run at that level
 * because of a demand just before the slice; our choice.
 */
#define EK_HITS 2

/* Results of the tests of a task; entries 0 are not used. */
struct ek_tests {
	/* How long the task ran without each level since the last evidence for that level. */
	u64 without_ns[EK_LEVELS_MAX];
	/* Slices since then that may have demanded the level. */
	u32 hits[EK_LEVELS_MAX];
};

/* The tasks on the other hardware threads of a core during a slice. */
struct ek_sibling_levels {
	/* Whether any task ran on them. */
	u32 runs;
	/* The highest level of which one of these tasks is not cleared. */
	u32 possible;
	/* The highest level that one of these tasks is believed to demand. */
	u32 believed;
};

struct ek_demanded {
	/* The level that the slice's own task demanded, as far as is known. */
	u32 own_level;
	/* The level that the slice proves its task to demand; 0: none. */
	u32 shown_level;
};

/* The highest level that a task is not cleared of. */
static inline u32 ek_possible_level(const struct ek_tests *tests)
{
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		if (tests->without_ns[level] < EK_CLEARED_NS)
			return level;
	}
	return 0;
}

static inline void ek_sibling_levels_note(struct ek_sibling_levels *siblings,
					  const struct ek_sibling_levels *other)
{
	siblings->runs |= other->runs;
	siblings->possible = siblings->possible > other->possible ? siblings->possible :
								    other->possible;
	siblings->believed = siblings->believed > other->believed ? siblings->believed :
								    other->believed;
}

/*
 * Evidence on a slice's task by time at a level or above that was not held from before.
 * A belief about a task overrides its clearance: registers showed wide code that the
 * task's present phase does without.
 */
enum ek_evidence {
	/* None: a task on a sibling is believed to demand the level. */
	EK_EVIDENCE_NONE,
	/* The slice's task or one on a sibling demanded the level, and neither is cleared. */
	EK_EVIDENCE_UNDECIDED,
	/* One of the tasks demanded the level, though all are cleared. */
	EK_EVIDENCE_CONTRADICTS,
	/* No other task can have demanded the level. */
	EK_EVIDENCE_SHOWS,
};

static inline u32 ek_evidence_of(u32 level, const struct ek_sibling_levels *siblings,
				 u32 is_cleared)
{
	if (!siblings->runs)
		return EK_EVIDENCE_SHOWS;
	if (siblings->believed >= level)
		return EK_EVIDENCE_NONE;
	if (siblings->possible < level)
		return is_cleared ? EK_EVIDENCE_CONTRADICTS : EK_EVIDENCE_SHOWS;
	if (is_cleared)
		return EK_EVIDENCE_NONE;
	return EK_EVIDENCE_UNDECIDED;
}

/*
 * Judges a slice by its time `at` each level, of which `held_ns` may have been
 * held from before; `believed` is its task's level until now. Updates `tests`.
 */
static inline void ek_demanded(const struct ek_level_times *at, const struct ek_level_times *hold,
			       u64 held_ns, const struct ek_sibling_levels *siblings, u32 believed,
			       struct ek_tests *tests, struct ek_demanded *demanded)
{
	u64 time_ns = 0, above_ns = 0;

	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		time_ns = ek_add(time_ns, at->ns[level]);
	demanded->own_level = 0;
	demanded->shown_level = 0;
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		u32 is_cleared = tests->without_ns[level] >= EK_CLEARED_NS;
		u32 evidence = EK_EVIDENCE_NONE;

		above_ns = ek_add(above_ns, at->ns[level]);

		u64 without_ns = ek_sub(time_ns, above_ns);

		if (above_ns > held_ns)
			evidence = ek_evidence_of(level, siblings, is_cleared);
		if (evidence >= EK_EVIDENCE_CONTRADICTS) {
			tests->without_ns[level] = 0;
			if (tests->hits[level] < EK_HITS)
				tests->hits[level]++;
			if (above_ns > ek_add(held_ns, hold->ns[level]))
				tests->hits[level] = EK_HITS;
		} else if (without_ns > hold->ns[level]) {
			/* Undecided time at the level counts against the time without. */
			u64 with_ns = evidence == EK_EVIDENCE_UNDECIDED ? above_ns : 0;

			tests->without_ns[level] =
				ek_add(tests->without_ns[level], ek_sub(without_ns, with_ns));
			tests->hits[level] = 0;
		}
		if (evidence == EK_EVIDENCE_SHOWS && tests->hits[level] >= EK_HITS &&
		    demanded->shown_level == 0)
			demanded->shown_level = level;
		/* No refund for a task that is not cleared: its own code may demand the level. */
		if (demanded->own_level == 0 && above_ns > 0 &&
		    (tests->without_ns[level] < EK_CLEARED_NS || believed >= level))
			demanded->own_level = level;
	}
}

_Static_assert(sizeof(struct ek_tests) == 12 * EK_LEVELS_MAX, "Rust reads this struct");
_Static_assert(sizeof(struct ek_demanded) == 8, "Rust reads this struct");
_Static_assert(sizeof(struct ek_sibling_levels) == 12, "Rust reads this struct");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which level did a slice's own task demand, by license counters?
 *
 * The counters tell what the core ran at, not for whom. Time at a level was
 * demanded before the slice and held, or beside it on another hardware thread,
 * or by its task. So it is a test of groups: a task that leaves a level alone
 * for longer than it is held is cleared of it in time, and where all but one
 * are, that one demanded it. Two that are cleared on a core that is not are so
 * no longer. The dissertation's trap on XCR0 (7.4.3) needs a kernel of its own;
 * this does not.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_DEMANDED_H
#define EVENKEEL_DEMANDED_H

#include "belief.h"

/* Run without a level for so long, a task is cleared of it; our choice. */
#define EK_CLEARED_NS 4000000ULL
/*
 * So many slices show a level, if each alone might have had it from a demand in
 * the last moment before it; our choice.
 */
#define EK_HITS 2

/* What the tests of a task came to; entries 0 are not used. */
struct ek_tests {
	/* How long it ran without each level since it was last suspected of it. */
	u64 quiet_ns[EK_LEVELS_MAX];
	/* Slices since then that may have demanded it. */
	u32 hits[EK_LEVELS_MAX];
};

/* What ran on the other hardware threads of a core during a slice. */
struct ek_beside {
	/* Whether anything did. */
	u32 runs;
	/* The highest level that any of it may demand, not being cleared of it. */
	u32 possible;
	/* The highest level that any of it is believed to demand. */
	u32 believed;
};

struct ek_demanded {
	/* What the slice did at its own wish, as far as is known. */
	u32 own_level;
	/* What it proves of its task; 0 is nothing. */
	u32 shown_level;
};

/* The highest level that a task is not cleared of. */
static inline u32 ek_possible_level(const struct ek_tests *tests)
{
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		if (tests->quiet_ns[level] < EK_CLEARED_NS)
			return level;
	}
	return 0;
}

static inline void ek_beside_note(struct ek_beside *beside, const struct ek_beside *other)
{
	beside->runs |= other->runs;
	beside->possible = beside->possible > other->possible ? beside->possible : other->possible;
	beside->believed = beside->believed > other->believed ? beside->believed : other->believed;
}

/*
 * What time at a level, or above, that was not held from before says of a slice's
 * task. What is believed of a task goes before what it is cleared of: registers
 * show wide code that its present phase does without.
 */
enum ek_evidence {
	/* Nothing: another was seen to demand it. */
	EK_EVIDENCE_NONE,
	/* It or another did, and nothing is known of either. */
	EK_EVIDENCE_UNDECIDED,
	/* It did, or another that is cleared of it: one of them no longer is. */
	EK_EVIDENCE_CONTRADICTS,
	/* Nobody else can have. */
	EK_EVIDENCE_SHOWS,
};

static inline u32 ek_evidence_of(u32 level, const struct ek_beside *beside, u32 is_cleared)
{
	if (!beside->runs)
		return EK_EVIDENCE_SHOWS;
	if (beside->believed >= level)
		return EK_EVIDENCE_NONE;
	if (beside->possible < level)
		return is_cleared ? EK_EVIDENCE_CONTRADICTS : EK_EVIDENCE_SHOWS;
	if (is_cleared)
		return EK_EVIDENCE_NONE;
	return EK_EVIDENCE_UNDECIDED;
}

/*
 * Judges a slice by its time `at` each level, of which `held_ns` may have been
 * held from before; `believed` is its task's level until now. Keeps `tests`.
 */
static inline void ek_demanded(const struct ek_level_times *at, const struct ek_level_times *hold,
			       u64 held_ns, const struct ek_beside *beside, u32 believed,
			       struct ek_tests *tests, struct ek_demanded *demanded)
{
	u64 time_ns = 0, above_ns = 0;

	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		time_ns = ek_add(time_ns, at->ns[level]);
	demanded->own_level = 0;
	demanded->shown_level = 0;
	for (u32 level = EK_LEVELS_MAX - 1; level > 0; level--) {
		u32 is_cleared = tests->quiet_ns[level] >= EK_CLEARED_NS;
		u32 evidence = EK_EVIDENCE_NONE;

		above_ns = ek_add(above_ns, at->ns[level]);

		u64 without_ns = ek_sub(time_ns, above_ns);

		if (above_ns > held_ns)
			evidence = ek_evidence_of(level, beside, is_cleared);
		if (evidence >= EK_EVIDENCE_CONTRADICTS) {
			tests->quiet_ns[level] = 0;
			if (tests->hits[level] < EK_HITS)
				tests->hits[level]++;
			if (above_ns > ek_add(held_ns, hold->ns[level]))
				tests->hits[level] = EK_HITS;
		} else if (without_ns > hold->ns[level]) {
			/* As long as it may be the one, more without than with it. */
			u64 with_ns = evidence == EK_EVIDENCE_UNDECIDED ? above_ns : 0;

			tests->quiet_ns[level] = ek_add(tests->quiet_ns[level],
							ek_sub(without_ns, with_ns));
			tests->hits[level] = 0;
		}
		if (evidence == EK_EVIDENCE_SHOWS && tests->hits[level] >= EK_HITS &&
		    demanded->shown_level == 0)
			demanded->shown_level = level;
		/* Nothing is given back to a task that is not cleared: it may be its own doing. */
		if (demanded->own_level == 0 && above_ns > 0 &&
		    (tests->quiet_ns[level] < EK_CLEARED_NS || believed >= level))
			demanded->own_level = level;
	}
}

_Static_assert(sizeof(struct ek_tests) == 12 * EK_LEVELS_MAX, "Rust reads this struct");
_Static_assert(sizeof(struct ek_demanded) == 8, "Rust reads this struct");
_Static_assert(sizeof(struct ek_beside) == 12, "Rust reads this struct");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Is a task alone on its core more often than other tasks?
 *
 * Placing and swaps keep tasks of a higher level off the siblings of tasks of a lower
 * one. So a task of a lower level is alone on its core more often than if no task were
 * wide, and is faster by what SMT would have cost. Other tasks pay for that: it is as
 * unfair as the loss that was avoided.
 *
 * So each task has a lead: what the task gained by being alone, less what the mean task
 * of its cache would have gained in the same time. Forced idle for its deficit does not
 * count, since it repays a loss. A lead repays the task's deficit first. While a lead is
 * left, a mix of levels that costs the task's speed has no cost: placing and swaps do not
 * avoid the mix. A lead never becomes negative, is bounded as a deficit is, and halves
 * with sleep as a deficit does.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_ALONE_H
#define EVENKEEL_ALONE_H

#include "deficit.h"

/* The mean is over as much CPU time as this, and older time counts ever less; our choice. */
#define EK_ALONE_WINDOW_NS 500000000ULL

/* The tasks of a cache: for how long they ran, and for how much of that each was alone. */
struct ek_alone {
	u64 alone_ns;
	u64 ran_ns;
};

/* Adds a slice of `ran_ns`. */
static inline void ek_alone_add(struct ek_alone *all, u64 alone_ns, u64 ran_ns)
{
	all->alone_ns = ek_add(all->alone_ns, ek_min(alone_ns, ran_ns));
	all->ran_ns = ek_add(all->ran_ns, ran_ns);
	if (all->ran_ns > EK_ALONE_WINDOW_NS) {
		all->alone_ns /= 2;
		all->ran_ns /= 2;
	}
}

/* What a task gains in a slice of `ran_ns` if it is alone as often as the mean task. */
static inline u64 ek_alone_expected_ns(const struct ek_alone *all, u64 ran_ns, u32 gain_permille)
{
	/* CPUs add without a lock: an update that is lost changes the share a little. */
	u32 share_q30 = ek_share_q30(all->alone_ns, all->ran_ns);

	return ek_mul_div(ek_mul_q30(ran_ns, share_q30), gain_permille, 1000);
}

/*
 * A task ran for `ran_ns`, and was alone for `alone_ns` of that, which made it faster by
 * `gain_permille`.
 */
static inline void ek_alone_ran(struct ek_deficit *deficit, const struct ek_alone *all,
				u64 alone_ns, u64 ran_ns, u32 gain_permille)
{
	u64 gained_ns = ek_mul_div(ek_min(alone_ns, ran_ns), gain_permille, 1000);
	u64 expected_ns = ek_alone_expected_ns(all, ran_ns, gain_permille);
	u64 lead_ns = ek_sub(ek_add(deficit->lead_ns, gained_ns), expected_ns);
	u64 repaid_ns = ek_min(lead_ns, deficit->deficit_ns);

	deficit->deficit_ns = ek_sub(deficit->deficit_ns, repaid_ns);
	deficit->lead_ns = ek_min(ek_sub(lead_ns, repaid_ns), EK_DEFICIT_MAX_NS);
}

/* Whether a task leads by so much that a mix which costs its speed is not avoided. */
static inline u32 ek_alone_leads(const struct ek_deficit *deficit)
{
	return deficit->lead_ns >= EK_DEFICIT_MIN_NS;
}

_Static_assert(sizeof(struct ek_alone) == 16, "Rust reads this struct");

#endif

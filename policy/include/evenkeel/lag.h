/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How far apart may the virtual times of tasks be that compete for a CPU?
 *
 * A task that runs all the time because no other task may run on its CPU, or
 * because its weight is worth more than one CPU, gains or loses virtual time
 * against the rest without end. No task can use that difference while it lasts.
 * When the machine changes, a task that is far ahead would wait until the rest
 * catch up. Stock schedulers bound the difference too: EEVDF keeps a lag of
 * at most two slices (update_entity_lag in kernel/sched/fair.c, Linux 6.18).
 *
 * So a task falls behind the tasks with the same affinity by a limit at most,
 * and a CPU sees the tasks of another affinity group at most that limit behind
 * or ahead of its own clock. Within the limit the order is exact, and busy tasks
 * get the weighted max-min fair shares of what their affinity allows: a group
 * that is served elsewhere is ahead and is not served here (miDRR does the same
 * with one bit: Yap et al., CoNEXT 2013).
 *
 * The limit is CPU time of the task, converted to virtual time by the task's
 * weight: a light task moves in large steps.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_LAG_H
#define EVENKEEL_LAG_H

#include "charge.h"

/* The limit in slices of nice 0: more than a slice, its bill, and unused refunds. Our choice. */
#define EK_LAG_SLICES 16

/* The limit as virtual time of a task. */
static inline u64 ek_lag_limit_ns(u64 slice_ns, u32 weight)
{
	return ek_charge_scale_ns(ek_mul_div(slice_ns, EK_LAG_SLICES, 1), weight);
}

/* The virtual time of a task that is not further behind its group than the limit. */
static inline u64 ek_lag_bound_ns(u64 vtime_ns, u64 min_vtime_ns, u64 limit_ns)
{
	return ek_max(vtime_ns, ek_sub(min_vtime_ns, limit_ns));
}

/* Virtual time `vtime_ns` of a group is `clock_ns` on the clock of a CPU. */
struct ek_anchor {
	u64 vtime_ns;
	u64 clock_ns;
};

/* Virtual time of a group on the clock of a CPU. */
static inline u64 ek_anchor_clock_ns(const struct ek_anchor *anchor, u64 vtime_ns)
{
	u64 at_ns = anchor->vtime_ns, clock_ns = anchor->clock_ns;

	if (vtime_ns >= at_ns)
		return ek_add(clock_ns, vtime_ns - at_ns);
	return ek_sub(clock_ns, at_ns - vtime_ns);
}

/*
 * The least virtual time of a group on the clock of a CPU, and the anchor moved
 * where that time is later than the clock by more than the limit, or sooner by more
 * than twice the limit: the least may be a task that is behind its own group by the
 * limit, and the rest of the group must not be moved along.
 */
static inline u64 ek_anchor_bound_ns(struct ek_anchor *anchor, u64 vtime_ns, u64 now_clock_ns,
				     u64 limit_ns)
{
	u64 clock_ns = ek_anchor_clock_ns(anchor, vtime_ns);
	u64 latest_ns = ek_add(now_clock_ns, limit_ns);
	u64 soonest_ns = ek_sub(now_clock_ns, ek_add(limit_ns, limit_ns));
	u64 bound_ns = ek_min(ek_max(clock_ns, soonest_ns), latest_ns);

	if (bound_ns != clock_ns) {
		anchor->vtime_ns = vtime_ns;
		anchor->clock_ns = bound_ns;
	}
	return bound_ns;
}

/* Virtual time that passed is forgotten within this time, about a second; our choice. */
#define EK_RATE_WINDOW_NS EK_ONE

/* The part of passed virtual time that still counts `while_ns` later. */
static inline u64 ek_rate_ns(u64 passed_ns, u64 while_ns)
{
	if (while_ns >= EK_RATE_WINDOW_NS)
		return 0;
	return ek_sub(passed_ns, ek_mul_q30(passed_ns, (u32)while_ns));
}

/* A rate that is higher by more than chance: by an eighth, our choice. */
static inline u64 ek_rate_above_ns(u64 rate_ns)
{
	return ek_add(rate_ns, rate_ns / 8);
}

_Static_assert(sizeof(struct ek_anchor) == 16, "the scheduler's interface counts on it");

#endif

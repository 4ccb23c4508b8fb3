/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much does code of one level cost where another level is in force?
 *
 * All hardware threads of a core run at the highest level that any of them
 * demands, and do so for the hold afterwards (dissertation 3.2.3). So of two levels
 * on a core the lower one loses speed, by the CPU table. That loss is a price in
 * virtual time: a task that would mix levels on a core waits longer by the price than
 * a task that would not, and no longer. A price, not a rule: so no task starves, and
 * where levels hardly differ none is preferred.
 *
 * Bounds for a task that waits, where each CPU takes the least sum of virtual time
 * and price. P is the largest price, R = EK_MIX_PRICE_MAX_NS, S the longest slice, C a
 * sleeper's credit and its banked refunds (ek_deficit_credit_ns); weights w are those of
 * nice 0 = 1, m the CPUs that the task may use.
 *
 * Order: a task that begins is ahead of the waiting one by P at most. Where a CPU is
 * forced idle for higher levels (deficit.h), a lower one goes first by R at most: P + R.
 *
 * Wait: let the task be L ahead of the least when its wait begins; L is its debt. Other
 * tasks begin at C before the least at worst, and go first up to P + R after the waiting
 * task's virtual time, and then for a slice; at least half of the time that they run is
 * charged. So, summed over the tasks that ran on these CPUs,
 *
 *	m wait <= sum of 2 (L + P + R + C) w + S, and forced idle.
 *
 * Lag: let more tasks than m CPUs always run, each on any CPU and none worth more
 * than one. When one begins, fewer than m other tasks run, so the first that waits is
 * among the m least: only m - 1 tasks are ever more than F = P + R + (S + bills)/w
 * behind the rest. Of these, a task that is behind the next one by more than P + R
 * always runs, and so gains on the mean of the rest, but for a slice and banked refunds
 * (deficit.h). That m - 1 times: no task is behind the mean by more than
 *
 *	F + (m - 1) (P + R + (S + bank)/w), for the least w.
 *
 * No bound holds for L: a task that ran while none waited for its CPU, and other tasks
 * had to share theirs, is ahead of them without end, and waits as long when one of them
 * comes. Every virtual time of more CPUs than one has this trait (infeasible weights:
 * Chandra et al., OSDI 2000); starved.h ends such a wait.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_MIX_H
#define EVENKEEL_MIX_H

#include "mean_frequency.h"

/*
 * The price of all of a core's speed: one slice, so that a price is the time that a
 * slice loses where the other level runs on a sibling; our choice.
 */
#define EK_MIX_PRICE_MAX_NS 6000000ULL
/* A gain of less is not worth a migration; our choice. */
#define EK_MIX_GAIN_MIN_PERMILLE 50
/* A core whose tasks were swapped is left alone for this long; our choice. */
#define EK_MIX_SWAP_PAUSE_NS 2000000ULL

/* The state of a core, for a task that would begin on an idle hardware thread of that core. */
struct ek_core_state {
	/* Whether another hardware thread of the core runs a task. */
	u32 is_busy;
	/* The highest level of the tasks on those hardware threads. */
	u32 sibling_level;
	/* The level held on the core. */
	u32 held;
};

/* How much of its speed the lower of two levels loses to the higher. */
static inline u32 ek_mix_loss_permille(const struct ek_turbo *turbo, u32 row, u32 a, u32 b)
{
	u32 fast_khz = ek_frequency_khz(turbo, row, a < b ? a : b);
	u32 slow_khz = ek_frequency_khz(turbo, row, a < b ? b : a);

	if (slow_khz >= fast_khz)
		return 0;
	return (u32)((u64)(fast_khz - slow_khz) * 1000 / fast_khz);
}

/* The virtual time that a task waits rather than cause this loss; at most EK_MIX_PRICE_MAX_NS. */
static inline u64 ek_mix_price_ns(u32 loss_permille)
{
	if (loss_permille > 1000)
		loss_permille = 1000;
	return EK_MIX_PRICE_MAX_NS * loss_permille / 1000;
}

/*
 * The cost of beginning on an idle hardware thread, to compare such threads: on a busy
 * core a task gets `smt_share_permille` of the speed; the level of a sibling costs for
 * as long as both tasks run, a level that is only held for a moment.
 */
static inline u32 ek_mix_idle_cost_permille(const struct ek_turbo *turbo, u32 row, u32 level,
					    const struct ek_core_state *core,
					    u32 smt_share_permille)
{
	if (smt_share_permille > 1000)
		smt_share_permille = 1000;
	if (core->is_busy)
		return 1000 - smt_share_permille +
		       2 * ek_mix_loss_permille(turbo, row, level, core->sibling_level);
	if (core->held <= level)
		return 0;
	return ek_mix_loss_permille(turbo, row, level, core->held) / 4;
}

/* Whether the gain of a swap of two tasks is worth their migration. */
static inline u32 ek_mix_swaps(u32 before_permille, u32 after_permille)
{
	return before_permille > after_permille &&
	       before_permille - after_permille > EK_MIX_GAIN_MIN_PERMILLE;
}

/* Until when a core is left alone whose tasks are swapped now. */
static inline u64 ek_mix_no_swap_until_ns(u64 now_ns)
{
	return ek_add(now_ns, EK_MIX_SWAP_PAUSE_NS);
}

_Static_assert(sizeof(struct ek_core_state) == 12, "Rust reads this struct");

#endif

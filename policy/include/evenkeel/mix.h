/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What does it cost to run one level's code where another level is in force?
 *
 * All hardware threads of a core run at the highest level that any of them
 * demands, and for the hold after it (dissertation 3.2.3). So of two levels on
 * a core the lower one loses speed, by the CPU table. That loss is a price in
 * virtual time: whoever would mix a core waits so much longer for it than one
 * who would not, and no longer. A price, not a rule: so nobody starves, and
 * where levels hardly differ nothing is preferred.
 *
 * What follows for whoever waits, where each CPU takes the least of virtual time
 * and price. P is the largest price, R = EK_MIX_WHOLE_NS, S the longest slice, C
 * a sleeper's credit; weights w are those of nice 0 = 1, m the CPUs it may use.
 *
 * Order: who begins is ahead of it by P at most. Where a sibling is quiet for
 * higher levels (deficit.h) a lower one goes before by R at most: P + R.
 *
 * Wait: let it be L ahead of the least when it begins to wait, which is what it
 * owes. Others begin at C before the least at worst, and pass it up to P + R after
 * its own virtual time, and then for a slice; at least half of what they run is
 * charged. So
 *
 *	m wait <= sum over who ran there of 2 (L + P + R + C) w + S, and quiet time.
 *
 * Lag: let more tasks than m CPUs always run, each on any CPU and none worth more
 * than one. When one begins, fewer than m run besides, so the first that waits is
 * among the m least: only m - 1 tasks are ever more than F = P + R + (S + bills)/w
 * behind the rest. Of these, whoever is behind the next by more than P + R always
 * runs, and so gains on the mean of the rest, but for a slice and what is banked
 * (deficit.h) of refunds. That m - 1 times: nobody is behind the mean by more than
 *
 *	F + (m - 1) (P + R + (S + bank)/w), for the least w.
 *
 * No bound holds for L: who ran while nobody waited for its CPU, and others had
 * to share theirs, is ahead of them without end, and waits as long when somebody
 * comes. So it is with every virtual time of more CPUs than one (infeasible
 * weights: Chandra et al., OSDI 2000); wait.h ends it.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_MIX_H
#define EVENKEEL_MIX_H

#include "mean_frequency.h"

/*
 * The price of all of a core's speed: one slice, so that what levels cost beside
 * each other for a slice is its price; our choice.
 */
#define EK_MIX_WHOLE_NS 6000000ULL
/* A gain of less is not worth a migration; our choice. */
#define EK_MIX_WORTH_PERMILLE 50
/* A core whose tasks changed places is left alone for so long; our choice. */
#define EK_MIX_SETTLE_NS 2000000ULL

/* What a core is like for one that would begin on an idle hardware thread of it. */
struct ek_core_state {
	/* Whether another hardware thread of it runs something. */
	u32 is_busy;
	/* The highest level of what runs there. */
	u32 beside;
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

/* The virtual time that one waits rather than cost another so much; at most EK_MIX_WHOLE_NS. */
static inline u64 ek_mix_price_ns(u32 loss_permille)
{
	if (loss_permille > 1000)
		loss_permille = 1000;
	return EK_MIX_WHOLE_NS * loss_permille / 1000;
}

/*
 * What beginning on an idle hardware thread costs, to compare such threads by:
 * a busy core has less to give, which `smt_share_permille` says; a level beside
 * costs for as long as both run, one that is held for a moment.
 */
static inline u32 ek_mix_idle_cost_permille(const struct ek_turbo *turbo, u32 row, u32 level,
					    const struct ek_core_state *core,
					    u32 smt_share_permille)
{
	if (smt_share_permille > 1000)
		smt_share_permille = 1000;
	if (core->is_busy)
		return 1000 - smt_share_permille +
		       2 * ek_mix_loss_permille(turbo, row, level, core->beside);
	if (core->held <= level)
		return 0;
	return ek_mix_loss_permille(turbo, row, level, core->held) / 4;
}

/* Whether two tasks change places so that they cost so much less together. */
static inline u32 ek_mix_swaps(u32 before_permille, u32 after_permille)
{
	return before_permille > after_permille &&
	       before_permille - after_permille > EK_MIX_WORTH_PERMILLE;
}

/* Until when a core is left alone whose tasks change places now. */
static inline u64 ek_mix_settled_ns(u64 now_ns)
{
	return ek_add(now_ns, EK_MIX_SETTLE_NS);
}

_Static_assert(sizeof(struct ek_core_state) == 12, "Rust reads this struct");

#endif

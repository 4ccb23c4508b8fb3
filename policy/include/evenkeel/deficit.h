/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What becomes of time that cannot be given back?
 *
 * A refund moves a task forward in the queue, which helps it as far as it waits
 * there. One that gets a CPU whenever it wants one has nothing of it; in virtual
 * time the debt would only grow, until others starve. So refunds are banked as
 * virtual time up to a bound, waiting uses them up, and the rest is a deficit,
 * as is what a sleeper's placement takes of banked refunds when it wakes. A
 * deficit is repaid in kind, by a sibling that stays quiet rather than run code
 * of a higher level.
 *
 * A deficit is bounded, and halves while its task sleeps, so that what was lost
 * long ago is not chased: a task that waited for others was not late, and would
 * be repaid where it never was.
 *
 * So a quiet CPU costs what was lost, and no more: the time that CPUs are quiet
 * for a task, times the gain at which it was granted, is at most what it lost in
 * kind, if it is counted as repaid at that gain. They are quiet for
 * EK_QUIET_MAX_NS at once, and for one deficit 200 ms at most: 20 ms at the least
 * gain. While its task stays awake and no higher level comes, a deficit stays.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_DEFICIT_H
#define EVENKEEL_DEFICIT_H

#include "fixed.h"

/* Refunds that are banked at most: a slice and a half, our choice. */
#define EK_DEFICIT_BANK_NS 9000000ULL
/* A deficit is half of it when its task has slept for so long; our choice. */
#define EK_DEFICIT_HALF_NS 10000000ULL
/* No deficit is larger; our choice. */
#define EK_DEFICIT_MAX_NS 20000000ULL
/* For less nobody stays quiet; our choice. */
#define EK_DEFICIT_MIN_NS 300000ULL
/* Nor for one that gains less by it; our choice. */
#define EK_DEFICIT_GAIN_MIN_PERMILLE 100
/* The shortest and the longest time that a sibling stays quiet at once; our choice. */
#define EK_QUIET_MIN_NS 20000ULL
#define EK_QUIET_MAX_NS 4000000ULL

struct ek_deficit {
	u64 owed_ns;
	/* Refunds that count as virtual time, and were not used. */
	u64 banked_ns;
	/* Since when it sleeps; 0: it does not. */
	u64 asleep_ns;
};

/* A refund; what of it counts as virtual time. */
static inline u64 ek_deficit_bank(struct ek_deficit *deficit, u64 refund_ns)
{
	u64 banked_ns = ek_min(refund_ns, ek_sub(EK_DEFICIT_BANK_NS, deficit->banked_ns));
	u64 owed_ns = ek_add(deficit->owed_ns, ek_sub(refund_ns, banked_ns));

	deficit->banked_ns = ek_add(deficit->banked_ns, banked_ns);
	deficit->owed_ns = ek_min(owed_ns, EK_DEFICIT_MAX_NS);
	return banked_ns;
}

/* The task gets a CPU for which it has waited so long. */
static inline void ek_deficit_waited(struct ek_deficit *deficit, u64 waited_ns)
{
	deficit->banked_ns = ek_sub(deficit->banked_ns, waited_ns);
}

static inline void ek_deficit_sleeps(struct ek_deficit *deficit, u64 now_ns)
{
	deficit->asleep_ns = now_ns;
}

/*
 * The task wakes, and is placed so much later than it had been: a sleeper keeps
 * no more than its credit, and so may lose refunds that it has not used.
 */
static inline void ek_deficit_wakes(struct ek_deficit *deficit, u64 later_ns, u64 now_ns)
{
	u64 slept_ns = ek_sub(now_ns, deficit->asleep_ns);
	u64 halvings = slept_ns / EK_DEFICIT_HALF_NS;
	u64 owed_ns = 0;

	if (deficit->asleep_ns == 0)
		return;
	if (halvings < 32)
		owed_ns = ek_min(deficit->owed_ns, EK_DEFICIT_MAX_NS) >> halvings;
	/* In between it falls evenly. */
	deficit->owed_ns = ek_sub(owed_ns, ek_mul_div(owed_ns / 2,
						      (u32)(slept_ns % EK_DEFICIT_HALF_NS),
						      (u32)EK_DEFICIT_HALF_NS));
	deficit->asleep_ns = 0;
	later_ns = ek_min(later_ns, deficit->banked_ns);
	deficit->owed_ns = ek_min(ek_add(deficit->owed_ns, later_ns), EK_DEFICIT_MAX_NS);
	deficit->banked_ns = ek_sub(deficit->banked_ns, later_ns);
}

/*
 * How much faster a task is alone on its core than beside another, in permille:
 * what it computes goes by the share it has, what it stalls on memory does not.
 */
static inline u32 ek_deficit_gain_permille(u32 smt_share_permille, u32 stall_q30)
{
	if (smt_share_permille >= 1000 || stall_q30 >= EK_ONE)
		return 0;

	/* 1 / (stall + (1 - stall) share) - 1 */
	u64 computes_q30 = EK_ONE - stall_q30;
	u64 slow_q30 = stall_q30 + computes_q30 * smt_share_permille / 1000;

	if (slow_q30 == 0 || slow_q30 > EK_ONE)
		return 0;
	return (u32)ek_min((EK_ONE - slow_q30) * 1000 / slow_q30, EK_U32_MAX);
}

/* Beside a sibling that stayed quiet for so long. */
static inline void ek_deficit_repay(struct ek_deficit *deficit, u64 quiet_ns, u32 gain_permille)
{
	u64 gained_ns = ek_mul_div(quiet_ns, gain_permille, 1000);

	deficit->owed_ns = ek_sub(deficit->owed_ns, gained_ns);
}

/* How long a sibling is to stay quiet for it; 0 is not at all. */
static inline u64 ek_deficit_quiet_ns(const struct ek_deficit *deficit, u32 gain_permille)
{
	u64 owed_ns = deficit->owed_ns;

	/* One that hardly gains would keep its sibling quiet for ever. */
	if (owed_ns < EK_DEFICIT_MIN_NS || gain_permille < EK_DEFICIT_GAIN_MIN_PERMILLE)
		return 0;

	u64 quiet_ns = ek_mul_div(owed_ns, 1000, gain_permille);

	return ek_min(ek_max(quiet_ns, EK_QUIET_MIN_NS), EK_QUIET_MAX_NS);
}

_Static_assert(sizeof(struct ek_deficit) == 24, "Rust reads this struct");

#endif

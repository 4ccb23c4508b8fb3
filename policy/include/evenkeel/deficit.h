/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How is time repaid that virtual time cannot repay?
 *
 * A refund moves a task forward in its queue, which helps only as far as the task
 * waits in that queue. A task that finds a free CPU whenever it is runnable gains
 * nothing; in virtual time its refunds would only add up, until other tasks starve.
 * So refunds are banked as virtual time up to a bound, and waiting uses them up. The
 * rest is a deficit, and so are banked refunds that a sleeper loses by its placement
 * when it wakes. Idle compensation repays a deficit: a sibling is forced idle rather
 * than run code of a higher level.
 *
 * A deficit is bounded, and halves for each 10 ms that its task sleeps, so that old
 * losses are not repaid: a task that slept until other tasks were done was not late.
 *
 * So forced idle costs the loss and no more: the forced idle for a task, times the
 * gain at which each part was granted, is at most the sum of the task's deficits, if
 * each part counts as repaid at that gain. One forced idle lasts EK_FORCED_IDLE_MAX_NS at
 * most, and all those for one deficit 200 ms: 20 ms at the least gain. While the task
 * stays awake and no task of a higher level comes, the deficit stays.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_DEFICIT_H
#define EVENKEEL_DEFICIT_H

#include "fixed.h"

/* Refunds that are banked at most: a slice and a half, our choice. */
#define EK_DEFICIT_BANK_NS 9000000ULL
/* A deficit halves for each such time that its task sleeps; our choice. */
#define EK_DEFICIT_HALF_NS 10000000ULL
/* No deficit is larger; our choice. */
#define EK_DEFICIT_MAX_NS 20000000ULL
/* A smaller deficit forces no sibling idle; our choice. */
#define EK_DEFICIT_MIN_NS 300000ULL
/* Nor does the deficit of a task that would gain less; our choice. */
#define EK_DEFICIT_GAIN_MIN_PERMILLE 100
/* The shortest and the longest single forced idle; our choice. */
#define EK_FORCED_IDLE_MIN_NS 20000ULL
#define EK_FORCED_IDLE_MAX_NS 4000000ULL

struct ek_deficit {
	/* Lost, and still to be repaid. */
	u64 deficit_ns;
	/* Refunds that count as virtual time, and were not used. */
	u64 banked_ns;
	/* When the task began to sleep; 0: the task is awake. */
	u64 asleep_ns;
	/* Gained by being alone on a core more often than the mean task (alone.h). */
	u64 lead_ns;
};

/* Banks a refund; returns the part that counts as virtual time. */
static inline u64 ek_deficit_bank(struct ek_deficit *deficit, u64 refund_ns)
{
	u64 banked_ns = ek_min(refund_ns, ek_sub(EK_DEFICIT_BANK_NS, deficit->banked_ns));
	u64 deficit_ns = ek_add(deficit->deficit_ns, ek_sub(refund_ns, banked_ns));

	deficit->banked_ns = ek_add(deficit->banked_ns, banked_ns);
	deficit->deficit_ns = ek_min(deficit_ns, EK_DEFICIT_MAX_NS);
	return banked_ns;
}

/* The task gets a CPU after a wait of `waited_ns`. */
static inline void ek_deficit_waited(struct ek_deficit *deficit, u64 waited_ns)
{
	deficit->banked_ns = ek_sub(deficit->banked_ns, waited_ns);
}

static inline void ek_deficit_sleeps(struct ek_deficit *deficit, u64 now_ns)
{
	deficit->asleep_ns = now_ns;
}

/* What a sleep of `slept_ns` leaves of a deficit or lead. */
static inline u64 ek_deficit_after_sleep_ns(u64 ns, u64 slept_ns)
{
	u64 halvings = slept_ns / EK_DEFICIT_HALF_NS;
	u64 left_ns = 0;

	if (halvings < 32)
		left_ns = ek_min(ns, EK_DEFICIT_MAX_NS) >> halvings;
	/* Between two halvings it falls linearly. */
	return ek_sub(left_ns, ek_mul_div(left_ns / 2, (u32)(slept_ns % EK_DEFICIT_HALF_NS),
					  (u32)EK_DEFICIT_HALF_NS));
}

/*
 * How far before the others a task is placed that wakes: by the credit of every sleeper
 * and by its banked refunds, which would repay nothing if the placement took them. They
 * count as much as a deficit after the sleep.
 */
static inline u64 ek_deficit_credit_ns(const struct ek_deficit *deficit, u64 credit_ns, u64 now_ns)
{
	u64 banked_ns = ek_min(deficit->banked_ns, EK_DEFICIT_BANK_NS);
	u64 slept_ns = 0;

	if (deficit->asleep_ns)
		slept_ns = ek_sub(now_ns, deficit->asleep_ns);
	return ek_add(credit_ns, ek_deficit_after_sleep_ns(banked_ns, slept_ns));
}

/*
 * The task wakes, and is placed `later_ns` after its previous virtual time: what the
 * placement takes of its banked refunds becomes a deficit.
 */
static inline void ek_deficit_wakes(struct ek_deficit *deficit, u64 later_ns, u64 now_ns)
{
	u64 slept_ns = ek_sub(now_ns, deficit->asleep_ns);

	if (deficit->asleep_ns == 0)
		return;
	deficit->deficit_ns = ek_deficit_after_sleep_ns(deficit->deficit_ns, slept_ns);
	deficit->lead_ns = ek_deficit_after_sleep_ns(deficit->lead_ns, slept_ns);
	deficit->asleep_ns = 0;
	later_ns = ek_min(later_ns, deficit->banked_ns);
	deficit->deficit_ns = ek_min(ek_add(deficit->deficit_ns, later_ns), EK_DEFICIT_MAX_NS);
	deficit->banked_ns = ek_sub(deficit->banked_ns, later_ns);
}

/*
 * How much faster a task is alone on its core than beside another, in permille:
 * beside another, computing takes longer by the share, waiting for memory does not.
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

/* Repays the gain by `forced_idle_ns` of a sibling. */
static inline void ek_deficit_repay(struct ek_deficit *deficit, u64 forced_idle_ns,
				    u32 gain_permille)
{
	u64 gained_ns = ek_mul_div(forced_idle_ns, gain_permille, 1000);

	deficit->deficit_ns = ek_sub(deficit->deficit_ns, gained_ns);
}

/* How long a sibling is to be forced idle for this deficit; 0: not at all. */
static inline u64 ek_deficit_forced_idle_ns(const struct ek_deficit *deficit, u32 gain_permille)
{
	u64 deficit_ns = deficit->deficit_ns;

	/* A task that hardly gains would keep its sibling idle for ever. */
	if (deficit_ns < EK_DEFICIT_MIN_NS || gain_permille < EK_DEFICIT_GAIN_MIN_PERMILLE)
		return 0;

	u64 forced_idle_ns = ek_mul_div(deficit_ns, 1000, gain_permille);

	return ek_min(ek_max(forced_idle_ns, EK_FORCED_IDLE_MIN_NS), EK_FORCED_IDLE_MAX_NS);
}

_Static_assert(sizeof(struct ek_deficit) == 32, "Rust reads this struct");

#endif

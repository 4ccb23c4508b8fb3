/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Does a waking task preempt a running one?
 *
 * As CFS decides (wakeup_preempt_entity in kernel/sched/fair.c, Linux 5.9):
 * only if the running one is further ahead in virtual time than a granularity,
 * which is time of the waking one. Else every wake-up of a task that is a
 * little behind would cost a switch.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_PREEMPT_H
#define EVENKEEL_PREEMPT_H

#include "charge.h"
#include "slice.h"

/* The virtual time beyond which a running task is preempted. */
static inline u64 ek_preempt_limit_ns(u64 vtime_ns, u64 granularity_ns, u32 weight)
{
	return ek_charge_ns(vtime_ns, granularity_ns, 0, 0, weight);
}

static inline u32 ek_preempt(u64 limit_ns, u64 running_vtime_ns)
{
	return running_vtime_ns > limit_ns;
}

/* Half of the base slice of EEVDF. Our choice (docs/decisions/0033-one-even.md). */
#define EK_RUN_MIN_NS 1500000ULL

/*
 * How long a task runs before a waking task of a weight preempts it immediately, and not at
 * the next tick. Else a receiver of messages would interrupt the sender at each message,
 * and of two tasks that wake each other, one would run for a moment at a time. Before that
 * the running task has to be further ahead by the rest of this time, so that a task whose
 * bursts are short gets its share beside tasks that never sleep. Like the granularity, this
 * is time of the waking task: a heavier one waits for less.
 */
static inline u64 ek_preempt_after_ns(u32 weight)
{
	return ek_max(ek_charge_scale_ns(EK_RUN_MIN_NS, weight), EK_SLICE_MIN_NS);
}

#endif

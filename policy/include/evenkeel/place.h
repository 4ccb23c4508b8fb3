/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where does a task start in virtual time?
 *
 * Where CFS places a task (place_entity in kernel/sched/fair.c, Linux 5.9), against
 * the minimum over all queues: a new task one virtual slice after it
 * (START_DEBIT), a waking one at most a bounded credit before it
 * (GENTLE_FAIR_SLEEPERS: half of the scheduling latency). Neither moves back.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_PLACE_H
#define EVENKEEL_PLACE_H

#include "fixed.h"

static inline u64 ek_place_new_ns(u64 vtime_ns, u64 min_vtime_ns, u64 vslice_ns)
{
	return ek_max(vtime_ns, ek_add(min_vtime_ns, vslice_ns));
}

static inline u64 ek_place_waking_ns(u64 vtime_ns, u64 min_vtime_ns, u64 credit_ns)
{
	return ek_max(vtime_ns, ek_sub(min_vtime_ns, credit_ns));
}

#endif

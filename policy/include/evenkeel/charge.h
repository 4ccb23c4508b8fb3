/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How does a slice advance its task's virtual time?
 *
 * By the time used, less the refund, plus the bills for time that other tasks lost,
 * all scaled by 1024 / weight (CFS: calc_delta_fair in kernel/sched/fair.c).
 * The sum is scaled once and rounded down: at nice 0 the charge is exact, at
 * other weights a task is charged less than 1 ns of virtual time too little a
 * slice. No remainder is carried.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_CHARGE_H
#define EVENKEEL_CHARGE_H

#include "weight.h"

/* Time as virtual time. A weight of 0 is read as that of nice 0. */
static inline u64 ek_charge_scale_ns(u64 time_ns, u32 weight)
{
	if (weight == 0 || weight == EK_WEIGHT_ONE)
		return time_ns;
	return ek_mul_div(time_ns, EK_WEIGHT_ONE, weight);
}

/* A refund beyond the time used is cut. */
static inline u64 ek_charge_ns(u64 vtime_ns, u64 time_ns, u64 refund_ns, u64 bill_ns, u32 weight)
{
	u64 due_ns = ek_add(ek_sub(time_ns, refund_ns), bill_ns);

	return ek_add(vtime_ns, ek_charge_scale_ns(due_ns, weight));
}

#endif

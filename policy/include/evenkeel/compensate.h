/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which task gets time back, and which task pays?
 *
 * `relative` refunds the victim and bills no task (the authors' earlier
 * scheduler, ATC'21). `isolation` also bills the refund to the last task that
 * used wide instructions on the core (dissertation 7.4.3), and refunds only
 * time that can be billed: summed over tasks of nice 0, the virtual time charged
 * is then the CPU time used less the bills not yet paid, to the nanosecond. No
 * task pays itself, and bills that wait for a task that does not run are bounded.
 *
 * The host adds the bill to the culprit's pending bills, which are part of the
 * culprit's next charge.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_COMPENSATE_H
#define EVENKEEL_COMPENSATE_H

#include "fixed.h"

/* No task. */
#define EK_NO_TASK 0xffffffffU

enum ek_mode {
	EK_MODE_NONE = 0,
	EK_MODE_RELATIVE = 1,
	EK_MODE_ISOLATION = 2,
};

/* Pending bills of a task at one time, at most; our choice. */
#define EK_BILL_MAX_NS 100000000ULL

/* How much more may be billed to a task whose pending bills are `bill_ns`. */
static inline u64 ek_bill_room_ns(u64 bill_ns)
{
	return ek_sub(EK_BILL_MAX_NS, bill_ns);
}

/* A slice that lost time. */
struct ek_loss {
	u64 time_ns;
	u64 lost_ns;
	u32 victim;
	/* Last user of wide instructions on the victim's core, or EK_NO_TASK. */
	u32 last_user;
	/* How much more may be billed to that task. */
	u64 room_ns;
};

struct ek_compensation {
	/* Taken off the victim's charge for the slice; at most the time of the slice. */
	u64 refund_ns;
	u64 bill_ns;
	/* The task that is billed; EK_NO_TASK where the bill is 0. */
	u32 culprit;
	u32 pad;
};

static inline void ek_compensate(u32 mode, const struct ek_loss *loss,
				 struct ek_compensation *compensation)
{
	u64 refund_ns = ek_min(loss->lost_ns, loss->time_ns);
	u32 culprit = loss->last_user;

	compensation->refund_ns = 0;
	compensation->bill_ns = 0;
	compensation->culprit = EK_NO_TASK;
	compensation->pad = 0;
	if (refund_ns == 0)
		return;
	if (mode == EK_MODE_RELATIVE) {
		compensation->refund_ns = refund_ns;
		return;
	}
	if (mode != EK_MODE_ISOLATION || culprit == EK_NO_TASK || culprit == loss->victim)
		return;
	refund_ns = ek_min(refund_ns, loss->room_ns);
	if (refund_ns == 0)
		return;
	compensation->refund_ns = refund_ns;
	compensation->bill_ns = refund_ns;
	compensation->culprit = culprit;
}

_Static_assert(sizeof(struct ek_loss) == 32, "Rust reads this struct");
_Static_assert(sizeof(struct ek_compensation) == 24, "Rust reads this struct");

#endif

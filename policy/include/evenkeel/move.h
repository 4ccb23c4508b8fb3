/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which virtual time does a task have in another queue?
 *
 * Queues of virtual time advance on their own. A task that is moved keeps its
 * distance to the minimum, as in CFS (migrate_task_rq_fair and enqueue_entity
 * in kernel/sched/fair.c, Linux 5.9); a task that is behind the minimum starts
 * at the minimum.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_MOVE_H
#define EVENKEEL_MOVE_H

#include "fixed.h"

static inline u64 ek_move_ns(u64 vtime_ns, u64 min_from_ns, u64 min_to_ns)
{
	return ek_add(min_to_ns, ek_sub(vtime_ns, min_from_ns));
}

#endif

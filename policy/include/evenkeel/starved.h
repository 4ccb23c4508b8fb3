/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Is a task starved, so that it goes first whatever its virtual time is?
 *
 * The kernel ejects a scheduler that lets a task wait for its watchdog's
 * timeout (check_rq_for_timeouts in kernel/sched/ext.c, Linux 7.0). After a
 * quarter of the timeout a task is starved and goes first; the starvation timer
 * examines the queues every eighth of the timeout: our choice.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_STARVED_H
#define EVENKEEL_STARVED_H

#include "fixed.h"

/* Whether a task that has been runnable for `waited_ns` without running is starved. */
static inline u32 ek_starved(u64 waited_ns, u64 watchdog_ns)
{
	return waited_ns > watchdog_ns / 4;
}

/* The period of the starvation timer; at least 1 ms. */
static inline u64 ek_starved_period_ns(u64 watchdog_ns)
{
	return ek_max(watchdog_ns / 8, 1000000);
}

#endif

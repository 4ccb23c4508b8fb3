/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which cores run wide tasks, and which tasks does a core run first?
 *
 * Core specialization (D 6.2) confines wide tasks, those with 512-bit instructions, to
 * as few cores as they need. A wide core runs any task, wide and default ones first; a
 * narrow core never runs a wide task. Default tasks are those that specialization does
 * not concern. The load of a kind of core is the number of its runnable tasks by the
 * number of its cores (D Eq. 6.1, 6.2), without default tasks, and cores change their
 * kind so that both loads are about equal (D 6.2.2).
 *
 * The host asks at the places that D 6.2.2 names: whether a core becomes wide when its
 * task becomes wide, and whenever a narrow core chooses a task; whether a core becomes
 * narrow when a wide core would have to choose a narrow task.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_SPECIALIZE_H
#define EVENKEEL_SPECIALIZE_H

#include "fixed.h"

/* The last change of any core is further in the past than this (D 6.2.2). */
#define EK_SPECIALIZE_INTERVAL_NS 20000000ULL

enum ek_task_kind {
	EK_TASK_DEFAULT = 0,
	EK_TASK_NARROW = 1,
	EK_TASK_WIDE = 2,
};

/* Runnable tasks, running ones with them, and cores, by kind. */
struct ek_kinds {
	u32 wide_tasks;
	u32 narrow_tasks;
	u32 wide_cores;
	u32 narrow_cores;
};

/* Whether any core may change its kind now. `changed_ns`: the last change of any core. */
static inline u32 ek_specialize_may_change(u64 now_ns, u64 changed_ns)
{
	return ek_sub(now_ns, changed_ns) > EK_SPECIALIZE_INTERVAL_NS;
}

/*
 * Whether a narrow core becomes wide: wide tasks have the higher load, or some narrow
 * core has an idle CPU. The last narrow core stays narrow, and without a wide task
 * no core becomes wide: D asks first when a task becomes wide, so that there is one.
 */
static inline u32 ek_specialize_adds(const struct ek_kinds *kinds, u32 narrow_cpu_idles)
{
	if (kinds->narrow_cores <= 1 || kinds->wide_tasks == 0)
		return 0;
	return narrow_cpu_idles || (u64)kinds->wide_tasks * kinds->narrow_cores >
					   (u64)kinds->narrow_tasks * kinds->wide_cores;
}

/*
 * Whether a wide core becomes narrow: wide tasks would still have the lower load with
 * one wide core less. The last wide core stays wide.
 */
static inline u32 ek_specialize_removes(const struct ek_kinds *kinds)
{
	u64 wide_cores = kinds->wide_cores;
	u64 narrow_cores = kinds->narrow_cores;

	if (wide_cores <= 1)
		return 0;
	return kinds->wide_tasks * (narrow_cores + 1) < kinds->narrow_tasks * (wide_cores - 1);
}

/* The order in which a core serves tasks: 0 first, then 1, and 2 never (D 6.3.2). */
static inline u32 ek_specialize_rank(u32 core_is_wide, u32 task_kind)
{
	if (core_is_wide)
		return task_kind == EK_TASK_NARROW;
	return task_kind == EK_TASK_WIDE ? 2 : 0;
}

_Static_assert(sizeof(struct ek_kinds) == 16, "Rust fills it");

#endif

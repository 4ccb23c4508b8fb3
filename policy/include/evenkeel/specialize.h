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
 * Numbers of runnable tasks do not tell who is served well: tasks that wait for each
 * other at a barrier are the fewer the worse they are served. Schedulers with virtual
 * time compare that instead (ours): a core becomes wide where waiting wide tasks are
 * behind waiting narrow ones, and narrow where they are ahead.
 *
 * Where the clocks of some cores are capped in favour of others (Intel Speed Select), which
 * cores are wide decides which clock is lost: the slow cores are wide first (ours).
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_SPECIALIZE_H
#define EVENKEEL_SPECIALIZE_H

#include "fixed.h"

/* The last change of any core is further in the past than this (D 6.2.2). */
#define EK_SPECIALIZE_INTERVAL_NS 20000000ULL
/* The same where virtual times decide: eight times as long as a license is held. */
#define EK_SPECIALIZE_LAG_INTERVAL_NS 5000000ULL
/* Virtual times that differ by less are equal: a slice. */
#define EK_SPECIALIZE_LAG_NS 6291456ULL
/* Some narrow CPU idles for so long beside waiting wide tasks before a core becomes wide. */
#define EK_SPECIALIZE_IDLE_NS 3000000ULL
/* No task of the kind: from here on up; no virtual time is that late. */
#define EK_SPECIALIZE_NONE_NS (1ULL << 63)
/* Added to the virtual times of tasks that a core serves second: more than virtual times differ. */
#define EK_SPECIALIZE_SECOND_NS (1ULL << 62)

/* Narrow first: a host without a wide task counts all tasks as narrow ones. */
enum ek_task_kind {
	EK_TASK_NARROW = 0,
	EK_TASK_DEFAULT = 1,
	EK_TASK_WIDE = 2,
};

/* Runnable tasks, running ones with them, and cores, by kind. */
struct ek_kinds {
	u32 wide_tasks;
	u32 narrow_tasks;
	u32 wide_cores;
	u32 narrow_cores;
};

/* The least virtual time of each kind, or EK_SPECIALIZE_NONE_NS. */
struct ek_kind_vtimes {
	u64 wide_ns;
	u64 narrow_ns;
};

/* Whether any core may change its kind now. `changed_ns`: the last change of any core. */
static inline u32 ek_specialize_may_change(u64 now_ns, u64 changed_ns, u64 interval_ns)
{
	return ek_sub(now_ns, changed_ns) > interval_ns;
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

/*
 * Whether a core is the right one to change its kind. The core of the CPU that asks changes
 * (D 6.2.2), unless it is not preferred and a preferred core of its kind is left.
 */
static inline u32 ek_specialize_prefers(u32 becomes_wide, u32 core_is_slow)
{
	return !becomes_wide == !core_is_slow;
}

/* The order in which a core serves tasks: 0 first, then 1, and 2 never (D 6.3.2). */
static inline u32 ek_specialize_rank(u32 core_is_wide, u32 task_kind)
{
	if (core_is_wide)
		return task_kind == EK_TASK_NARROW;
	return task_kind == EK_TASK_WIDE ? 2 : 0;
}

/*
 * What a rank adds to a virtual time, for hosts that compare tasks of all kinds in one order
 * (ours): a task of rank 2 goes after every other one, and its host does not run it.
 */
static inline u64 ek_specialize_price_ns(u32 rank)
{
	if (rank == 0)
		return 0;
	return rank == 1 ? EK_SPECIALIZE_SECOND_NS : EK_U64_MAX;
}

/*
 * Whether a narrow core becomes wide by virtual time. `vtimes`: of tasks that wait.
 * `wasted_ns`: for how long some narrow CPU has idled and some wide task has waited, both
 * without a break; 0 if not. The last narrow core may become wide: wide cores serve any
 * task.
 */
static inline u32 ek_specialize_adds_by_lag(const struct ek_kinds *kinds,
					    const struct ek_kind_vtimes *vtimes, u64 wasted_ns)
{
	if (kinds->narrow_cores == 0 || vtimes->wide_ns >= EK_SPECIALIZE_NONE_NS)
		return 0;
	if (wasted_ns > EK_SPECIALIZE_IDLE_NS)
		return 1;
	if (vtimes->narrow_ns >= EK_SPECIALIZE_NONE_NS)
		return 0;
	return ek_add(vtimes->wide_ns, EK_SPECIALIZE_LAG_NS) < vtimes->narrow_ns;
}

/*
 * Whether a wide core becomes narrow by virtual time. `vtimes`: of wide tasks that wait
 * or run, and of narrow tasks that wait. The last wide core stays wide.
 */
static inline u32 ek_specialize_removes_by_lag(const struct ek_kinds *kinds,
					       const struct ek_kind_vtimes *vtimes)
{
	return kinds->wide_cores > 1 &&
	       ek_add(vtimes->narrow_ns, EK_SPECIALIZE_LAG_NS) < vtimes->wide_ns;
}

/*
 * Whether a wide core runs a narrow task though a wide one waits: where no narrow core
 * is left, or none can be added, narrow tasks would starve.
 */
static inline u32 ek_specialize_narrow_first(const struct ek_kinds *kinds,
					     const struct ek_kind_vtimes *vtimes)
{
	if (kinds->narrow_cores == 0)
		return vtimes->narrow_ns < vtimes->wide_ns;
	return kinds->wide_cores <= 1 &&
	       ek_add(vtimes->narrow_ns, EK_SPECIALIZE_LAG_NS) < vtimes->wide_ns;
}

_Static_assert(sizeof(struct ek_kinds) == 16, "Rust fills it");
_Static_assert(sizeof(struct ek_kind_vtimes) == 16, "Rust fills it");

#endif

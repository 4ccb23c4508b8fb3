/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which virtual time does a task get that becomes runnable, and which idle CPU?
 */
#ifndef EVENKEEL_PLACING_BPF_H
#define EVENKEEL_PLACING_BPF_H

#include <evenkeel/place.h>

#include "forced_idle.bpf.h"

/* Sets the virtual time of a task that wakes or is new, by its group. */
static void place(struct task_struct *p, const struct ek_group *group, u64 now_ns)
{
	u64 vtime_ns = p->scx.dsq_vtime, min_vtime_ns = group->min_vtime_ns, placed_ns;

	if (vtime_ns == VTIME_UNSET)
		placed_ns = ek_place_new_ns(min_vtime_ns, min_vtime_ns,
					    ek_charge_scale_ns(config.slice_ns, weight_of(p)));
	else
		placed_ns =
			ek_place_waking_ns(vtime_ns, min_vtime_ns, sleeper_credit_ns(p, now_ns));
	if (is_even(now_ns))
		deficit_wakes(p, vtime_ns == VTIME_UNSET ? 0 : placed_ns - vtime_ns, now_ns);
	if (placed_ns != vtime_ns)
		set_vtime(p, placed_ns);
}

/* Limits how far a task that ran and is enqueued again is behind its group. */
static void forgive_lag(struct task_struct *p, const struct ek_group *group, u32 weight)
{
	u64 vtime_ns = p->scx.dsq_vtime, forgiven_ns = lag_forgiven_ns(group, vtime_ns, weight);

	if (forgiven_ns)
		set_vtime(p, ek_add(vtime_ns, forgiven_ns));
}

/* Gives a task that is being enqueued its place in the order of its group. */
static void place_enqueued(struct task_struct *p, const struct ek_group *group, bool wakes,
			   u32 weight, u64 now_ns)
{
	if (wakes || p->scx.dsq_vtime == VTIME_UNSET)
		place(p, group, now_ns);
	else
		forgive_lag(p, group, weight);
}

/* Whether a CPU would be forced idle rather than run a task, to repay a task on a sibling. */
static bool is_refused_on(struct task_struct *p, u32 cpu_id, const struct ek_cpu *cpu, u64 now_ns)
{
	if (!config.parts)
		return false;
	ek_update_siblings(cpu_id, now_ns);
	return cpu->siblings.idle_from_level > 0 && is_refused(&cpu->siblings, class_of(p, now_ns));
}

/* An idle CPU that suits the kind of a task of a group; -1: none. */
static s32 idle_cpu_for_kind(struct task_struct *p, u32 cpu_id, u32 group, u64 now_ns)
{
	const struct ek_cpu *cpu = cpu_of(cpu_id);

	if (!cpu)
		return -1;
	return pick_idle_cpu(p, near_home(cpu, cpu_id, class_of(p, now_ns)), group, now_ns);
}

/* The group that a task was in last: without a look-up of its mask among the groups. */
static u32 last_group(struct task_struct *p)
{
	const struct task *task = has_full_affinity(p) ? NULL : task_of(p);

	return task ? task->group : EK_GROUP_WHOLE;
}

/* The idle CPU that costs a waking task least by its class; -1: the kernel picks one. */
static s32 idle_cpu_for_class(struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	s32 cpu_id;

	if ((!may_specialize() && !(config.parts & EK_PART_PLACING)) || p->nr_cpus_allowed == 1 ||
	    may_not_migrate(p))
		return -1;

	u64 now_ns = scx_bpf_now();

	if (specializes(now_ns))
		return idle_cpu_for_kind(p, prev_cpu, last_group(p), now_ns);
	if (!is_even(now_ns) || (wake_flags & kernel_enum(scx_wake_flags, SCX_WAKE_SYNC)))
		return -1;
	cpu_id = pick_idle_cpu(p, prev_cpu, EK_GROUP_WHOLE, now_ns);
	if (cpu_id >= 0 && cpu_id != prev_cpu)
		count(EK_PLACED);
	return cpu_id;
}

/*
 * Dispatches a task to an idle CPU that suits its kind, and returns whether it did. In its DSQ
 * the CPU that the task has to leave could dispatch it again.
 */
static bool dispatch_home(struct task_struct *p, u32 cpu_id, u32 group, u32 weight, u64 enq_flags,
			  u64 now_ns)
{
	s32 idle;

	if (!specializes(now_ns) || group == EK_GROUP_PINNED || may_not_migrate(p))
		return false;
	idle = idle_cpu_for_kind(p, cpu_id, group, now_ns);
	if (idle < 0)
		return false;
	count(EK_PLACED);
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | (u32)idle, slice_alone_ns(weight), enq_flags);
	return true;
}

#endif

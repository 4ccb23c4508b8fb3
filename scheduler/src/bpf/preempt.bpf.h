/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which CPU does a task that is enqueued kick, or which running task does it preempt?
 */
#ifndef EVENKEEL_PREEMPT_BPF_H
#define EVENKEEL_PREEMPT_BPF_H

#include "siblings.bpf.h"

/* Whether the task on this CPU wakes `p` and promises to sleep soon. */
static bool is_woken_sync(const struct task_struct *p)
{
	const struct ek_cpu *waker = cpu_of(bpf_get_smp_processor_id());

	return waker && waker->sync_wakes == (u32)p->pid;
}

/*
 * Preempts a task of the cache that is ahead of `p`, which is being enqueued: the nearest
 * one, or one of a group whose virtual time passes faster. A CPU that runs no task of ours
 * may have dispatched before `p` was in a DSQ, and not be in the kernel's idle mask yet: a
 * kick makes that CPU dispatch again, and does nothing on a CPU with a task of a higher
 * scheduling class.
 *
 * A task that has just begun to run has to be further ahead (ek_preempt_after_ns), and is
 * not preempted for a task whose waker is about to sleep. With `at_once` neither holds for
 * one that was dispatched as the least: ticks come at one time on all CPUs, and where a
 * task that another one preempted may go, a lighter one may have begun at the same tick.
 */
static void preempt_one_cpu(struct task_struct *p, u32 number, u32 near, bool at_once, u64 now_ns)
{
	bool has_kind = specializes(now_ns), is_sync = is_woken_sync(p);
	u32 cpu_id = near, best = near, weight = weight_of(p);
	u32 kind = has_kind ? class_of(p, now_ns) : EK_TASK_NARROW;
	u64 after_ns = ek_preempt_after_ns(weight), least_ns = 0;

	for (u32 i = 0; i < WAKE_SCAN_MAX; i++) {
		const struct ek_cpu *cpu = cpu_of(cpu_id);

		if (!cpu)
			break;
		if (bpf_cpumask_test_cpu(cpu_id, p->cpus_ptr)) {
			if (cpu->weight == 0)
				scx_bpf_kick_cpu(cpu_id,
						 kernel_enum(scx_kick_flags, SCX_KICK_IDLE));

			u64 ran_ns = ek_sub(now_ns, cpu->on_cpu_since_ns), rate_ns = 0;

			s32 rank = has_kind ? ek_compare_ranks(cpu_id, kind, number) : 0;
			u64 rest_ns = at_once && cpu->runs_least ? 0 : ek_sub(after_ns, ran_ns);

			/* Virtual times say nothing where ranks do. */
			if ((rank == 0 && (rest_ns == 0 || !is_sync)) ||
			    (rank < 0 && rest_ns == 0) ||
			    (rank < 0 && config.specialization == EK_SPECIALIZATION_BY_LOAD))
				rate_ns = ek_preempt_rate_ns(
					cpu_id, number,
					rank ? 0 : ek_add(p->scx.dsq_vtime, rest_ns), weight,
					now_ns);
			if (rate_ns > least_ns) {
				best = cpu_id;
				least_ns = ek_rate_above_ns(rate_ns);
			}
		}
		cpu_id = cpu->next_in_cache;
		if (cpu_id == near)
			break;
	}
	if (least_ns > 0)
		preempt_cpu(best);
}

/*
 * Kicks a CPU for a task that was just enqueued. A waking task found no idle CPU, but a
 * CPU may have become idle since; if none has, the task preempts one. The kernel itself
 * wakes the CPU of a pinned task.
 */
static void kick_or_preempt(struct task_struct *p, u32 number, u32 cpu_id, bool at_once, u64 now_ns)
{
	s32 idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	bool is_wide = specializes(now_ns) && class_of(p, now_ns) == EK_TASK_WIDE;

	if (idle >= 0)
		scx_bpf_kick_cpu(idle, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
	/* A narrow CPU that is kicked for a wide task may refuse it. */
	if (idle < 0 || is_wide)
		preempt_one_cpu(p, number, cpu_id, at_once, now_ns);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How large is a task's deficit, and which CPU is forced idle to repay that deficit?
 *
 * A CPU in forced idle idles beside a task that lost time, though a task of a higher
 * level waits. Forced idle ends when the task beside leaves its CPU, when its deficit is
 * repaid, or when a task of a lower level comes.
 */
#ifndef EVENKEEL_QUIET_BPF_H
#define EVENKEEL_QUIET_BPF_H

#include "mix.bpf.h"

/* A task that waited while its CPU was forced idle is billed for that time as if run. */
static void bill_refused(u32 pid, u32 index, u64 exec_ns, u64 waited_ns)
{
	struct task_struct *p = bpf_task_from_pid(pid);

	if (!p)
		return;

	struct task *task = bpf_task_storage_get(&tasks, p, 0, 0);

	/* Not if the task runs elsewhere, ran since, or was refused by another CPU since. */
	if (task && task->runnable_ns && task->refused_by == index &&
	    p->se.sum_exec_runtime == exec_ns)
		__sync_fetch_and_add(&task->waited_ns,
				     ek_min(waited_ns, ek_bill_room_ns(task->waited_ns)));
	bpf_task_release(p);
}

/* Ends forced idle of a CPU; the task beside had the core for itself meanwhile. */
__noinline int ek_end_quiet(u32 index, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(index);
	u64 from_ns = cpu ? __sync_lock_test_and_set(&cpu->quiet_ns, 0) : 0;

	if (from_ns == 0)
		return 0;
	count_by(EK_QUIET_NS, ek_sub(now_ns, from_ns));

	u32 sibling = cpu->sibling;

	for (u32 i = 1; i < SIBLINGS_MAX && sibling != index; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			break;
		if (other->weight > 0)
			__sync_fetch_and_add(&other->was_quiet_ns,
					     ek_sub(now_ns, ek_max(from_ns, other->since_ns)));
		sibling = other->sibling;
	}
	bill_refused(cpu->refused, index, cpu->refused_exec_ns, ek_sub(now_ns, from_ns));
	return 0;
}

static int quiet_is_over(void *map, int *key, struct look *look)
{
	struct ek_cpu *cpu = cpu_of(*key);

	if (cpu && cpu->quiet_ns)
		scx_bpf_kick_cpu(*key, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
	return 0;
}

/* Prepares the timer of a CPU. */
static int prepare_quiet(u32 index)
{
	struct look *quiet = bpf_map_lookup_elem(&quiets, &index);
	int error;

	if (!quiet)
		return -ENOENT;
	error = bpf_timer_init(&quiet->timer, &quiets, CLOCK_MONOTONIC);
	return error ?: bpf_timer_set_callback(&quiet->timer, quiet_is_over);
}

/* The CPU idles for a while rather than run a task. */
static void be_quiet(u32 index, struct ek_cpu *cpu, struct task_struct *refused, u64 now_ns)
{
	struct look *quiet = bpf_map_lookup_elem(&quiets, &index);
	struct task *task = task_of(refused);

	if (!quiet || !task)
		return;
	task->refused_by = index;
	count(EK_QUIET);
	cpu->refused = refused->pid;
	cpu->refused_exec_ns = refused->se.sum_exec_runtime;
	cpu->quiet_ns = now_ns;
	bpf_timer_start(&quiet->timer, cpu->around.quiet_ns, 0);
}

/* A task leaves its CPU, and siblings that were forced idle for that task choose again. */
__noinline int ek_end_quiet_beside(u32 index, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(index);
	u32 sibling = cpu ? cpu->sibling : index;

	for (u32 i = 1; i < SIBLINGS_MAX && sibling != index; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			break;
		if (other->quiet_ns) {
			ek_end_quiet(sibling, now_ns);
			scx_bpf_kick_cpu(sibling, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
		}
		sibling = other->sibling;
	}
	return 0;
}

/* --- Deficits --- */

/* A task wakes, and is placed `later_ns` after its previous virtual time. */
static void deficit_wakes(struct task_struct *p, u64 later_ns, u64 now_ns)
{
	struct task *task = task_of(p);

	if (!task)
		return;
	ek_deficit_wakes(&task->deficit, later_ns, now_ns);
	task->runnable_ns = now_ns;
}

/* A task that demands a level begins to run. */
static void deficit_begins(struct task_struct *p, struct task *task, u32 index, struct ek_cpu *cpu,
			   u32 level)
{
	u64 now_ns = cpu->since_ns;

	if (cpu->quiet_ns)
		ek_end_quiet(index, now_ns);
	if (level > 0)
		is_wide_until(now_ns + EK_LEARNED_NS);
	if (task->runnable_ns)
		ek_deficit_waited(&task->deficit, ek_sub(now_ns, task->runnable_ns));
	task->runnable_ns = 0;
	cpu->runs_level = level;
	cpu->is_free = p->nr_cpus_allowed >= (int)config.cpus;
	cpu->deficit = task->deficit;
	cpu->gain_permille = task->gain_permille;
	cpu->was_quiet_ns = 0;
}

/* The task leaves its CPU; `level` is the level that its slice demanded. */
static void deficit_ends(struct task *task, struct core *core, u32 index, struct ek_cpu *cpu,
			 u32 level, bool runnable, u64 now_ns)
{
	ek_end_quiet_beside(index, now_ns);
	ek_deficit_repay(&task->deficit, cpu->was_quiet_ns, task->gain_permille);
	task->runnable_ns = runnable ? now_ns : 0;
	if (!runnable)
		ek_deficit_sleeps(&task->deficit, now_ns);
	for (u32 held = 1; held < EK_LEVELS_MAX && held <= level; held++)
		core->held_until_ns[held] = now_ns + config.hold.ns[held];
}

/* How much faster a task is alone on its core, by the slice that has just ended. */
static void learn_gain(struct task *task, const struct ek_slice *slice)
{
	u32 stall_q30 = ek_stall_share_q30(slice->stall_cycles, slice->cycles);

	task->gain_permille = ek_deficit_gain_permille(config.smt_share_permille, stall_q30);
}

/* The part of a refund that counts as virtual time; the rest is a deficit, and not billed. */
static u64 bank(struct task *task, u64 refund_ns, u64 *in_kind_ns)
{
	if (!(config.parts & EK_PART_REPAYMENT))
		return refund_ns;

	u64 banked_ns = ek_deficit_bank(&task->deficit, refund_ns);

	*in_kind_ns = ek_sub(refund_ns, banked_ns);
	count_by(EK_IN_KIND_NS, *in_kind_ns);
	return banked_ns;
}

#endif

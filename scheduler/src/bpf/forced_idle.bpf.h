/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How large is a task's deficit, and which CPU is forced idle to repay that deficit?
 *
 * A CPU is forced idle though a task of a higher level waits, so that the task on its
 * sibling, which lost time, has the core for itself. Forced idle ends when that task
 * leaves its CPU, when its deficit is repaid, or when a task of a lower level comes.
 */
#ifndef EVENKEEL_FORCED_IDLE_BPF_H
#define EVENKEEL_FORCED_IDLE_BPF_H

#include "siblings.bpf.h"

/* Bills a task for the time that it waited while its CPU was forced idle, as if it had run. */
static void bill_refused(u32 pid, u32 cpu_id, u64 exec_ns, u64 waited_ns)
{
	struct task_struct *p = bpf_task_from_pid(pid);

	if (!p)
		return;

	struct task *task = bpf_task_storage_get(&tasks, p, 0, 0);

	/* Not if the task is running, ran since, or was refused by another CPU since. */
	if (task && task->runnable_since_ns && task->refused_by == cpu_id &&
	    p->se.sum_exec_runtime == exec_ns)
		__sync_fetch_and_add(&task->waited_ns,
				     ek_min(waited_ns, ek_bill_room_ns(task->waited_ns)));
	bpf_task_release(p);
}

/* Ends forced idle of a CPU; the task on its sibling had the core for itself meanwhile. */
__noinline int ek_end_forced_idle(u32 cpu_id, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	u64 from_ns = cpu ? __sync_lock_test_and_set(&cpu->forced_idle_since_ns, 0) : 0;

	if (from_ns == 0)
		return 0;
	count_by(EK_FORCED_IDLE_NS, ek_sub(now_ns, from_ns));

	u32 sibling = cpu->next_sibling;

	for (u32 i = 1; i < SIBLINGS_MAX && sibling != cpu_id; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			break;
		if (other->weight > 0)
			__sync_fetch_and_add(
				&other->siblings_idle_ns,
				ek_sub(now_ns, ek_max(from_ns, other->slice_start_ns)));
		sibling = other->next_sibling;
	}
	bill_refused(cpu->refused, cpu_id, cpu->refused_exec_ns, ek_sub(now_ns, from_ns));
	return 0;
}

static int forced_idle_expired(void *map, int *key, struct timer *timer)
{
	struct ek_cpu *cpu = cpu_of(*key);

	if (cpu && cpu->forced_idle_since_ns)
		scx_bpf_kick_cpu(*key, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
	return 0;
}

/* Prepares the timer that ends the forced idle of a CPU. */
static int init_forced_idle_timer(u32 cpu_id)
{
	struct timer *timer = bpf_map_lookup_elem(&idle_timers, &cpu_id);
	int error;

	if (!timer)
		return -ENOENT;
	error = bpf_timer_init(&timer->timer, &idle_timers, CLOCK_MONOTONIC);
	return error ?: bpf_timer_set_callback(&timer->timer, forced_idle_expired);
}

/* Forces a CPU idle rather than run a task. */
static void force_idle(u32 cpu_id, struct ek_cpu *cpu, struct task_struct *refused, u64 now_ns)
{
	struct timer *timer = bpf_map_lookup_elem(&idle_timers, &cpu_id);
	struct task *task = task_of(refused);

	if (!timer || !task)
		return;
	task->refused_by = cpu_id;
	count(EK_FORCED_IDLES);
	cpu->refused = refused->pid;
	cpu->refused_exec_ns = refused->se.sum_exec_runtime;
	cpu->forced_idle_since_ns = now_ns;
	bpf_timer_start(&timer->timer, cpu->siblings.forced_idle_ns, 0);
}

/* A task leaves its CPU: ends the forced idle of the siblings, and kicks them. */
__noinline int ek_end_siblings_forced_idle(u32 cpu_id, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	u32 sibling = cpu ? cpu->next_sibling : cpu_id;

	for (u32 i = 1; i < SIBLINGS_MAX && sibling != cpu_id; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			break;
		if (other->forced_idle_since_ns) {
			ek_end_forced_idle(sibling, now_ns);
			scx_bpf_kick_cpu(sibling, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
		}
		sibling = other->next_sibling;
	}
	return 0;
}

/* --- Time alone on a core --- */

/* The least time that a sibling of a CPU has been idle: its task was not alone for longer. */
static u64 siblings_idle_ns(u32 cpu_id, const struct ek_cpu *cpu, u64 now_ns)
{
	u32 sibling = cpu->next_sibling;
	u64 least_ns = EK_U64_MAX;

	for (u32 i = 1; i < SIBLINGS_MAX && sibling != cpu_id; i++) {
		const struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			break;

		u64 since_ns = other->weight > 0 ? 0 : ek_sub(now_ns, other->idle_since_ns);

		least_ns = ek_min(least_ns, ek_add(other->idle_ns, since_ns));
		sibling = other->next_sibling;
	}
	return least_ns == EK_U64_MAX ? 0 : least_ns;
}

/* A task begins to run on a CPU, before `weight` is set. */
__noinline int ek_alone_begins(u32 cpu_id, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);

	if (!cpu)
		return 0;
	if (cpu->weight == 0)
		cpu->idle_ns = ek_add(cpu->idle_ns, ek_sub(now_ns, cpu->idle_since_ns));
	cpu->siblings_before_ns = siblings_idle_ns(cpu_id, cpu, now_ns);
	cpu->siblings_idle_ns = 0;
	return 0;
}

/* Notes for how much of its slice a task was alone on its core, other than by forced idle. */
__noinline int ek_alone_ends(struct task *task, u32 cpu_id, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (!task || !cache)
		return 0;

	u64 idle_ns = ek_sub(siblings_idle_ns(cpu_id, cpu, now_ns), cpu->siblings_before_ns);
	u64 alone_ns = ek_sub(idle_ns, cpu->siblings_idle_ns);
	u64 ran_ns = ek_sub(now_ns, cpu->slice_start_ns);

	ek_alone_ran(&task->deficit, &cache->alone, alone_ns, ran_ns, task->gain_permille);
	ek_alone_add(&cache->alone, alone_ns, ran_ns);
	return 0;
}

/* --- Deficits --- */

/* How far before its group a task that wakes is placed at most. */
static u64 sleeper_credit_ns(struct task_struct *p, u64 now_ns)
{
	struct task *task = is_even(now_ns) ? task_of(p) : NULL;

	if (!task)
		return config.sleeper_credit_ns;
	return ek_deficit_credit_ns(&task->deficit, config.sleeper_credit_ns, now_ns);
}

/* A task wakes; its placement raised its virtual time by `later_ns`. */
static void deficit_wakes(struct task_struct *p, u64 later_ns, u64 now_ns)
{
	struct task *task = task_of(p);

	if (!task)
		return;
	ek_deficit_wakes(&task->deficit, later_ns, now_ns);
	task->runnable_since_ns = now_ns;
}

/* A task that demands a level begins to run. */
static void deficit_begins(struct task_struct *p, struct task *task, u32 cpu_id, struct ek_cpu *cpu,
			   u32 level)
{
	u64 now_ns = cpu->slice_start_ns;

	if (cpu->forced_idle_since_ns)
		ek_end_forced_idle(cpu_id, now_ns);
	if (level > 0)
		extend_wide_until(now_ns + EK_LEARNED_NS);
	if (task->runnable_since_ns)
		ek_deficit_waited(&task->deficit, ek_sub(now_ns, task->runnable_since_ns));
	task->runnable_since_ns = 0;
	cpu->running_class = level;
	cpu->has_full_affinity = p->nr_cpus_allowed >= (int)config.cpus;
	cpu->deficit = task->deficit;
	cpu->gain_permille = task->gain_permille;
}

/* The task leaves its CPU; `level` is the level that its slice demanded. */
static void deficit_ends(struct task *task, struct core *core, u32 cpu_id, struct ek_cpu *cpu,
			 u32 level, bool runnable, u64 now_ns)
{
	ek_end_siblings_forced_idle(cpu_id, now_ns);
	ek_deficit_repay(&task->deficit, cpu->siblings_idle_ns, task->gain_permille);
	ek_alone_ends(task, cpu_id, now_ns);
	task->runnable_since_ns = runnable ? now_ns : 0;
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

/* The part of a refund that counts as virtual time; the rest adds to the deficit, unbilled. */
static u64 bank_refund(struct task *task, u64 refund_ns, u64 *idle_compensation_ns)
{
	if (!(config.parts & EK_PART_REPAYMENT))
		return refund_ns;

	u64 banked_ns = ek_deficit_bank(&task->deficit, refund_ns);

	*idle_compensation_ns = ek_sub(refund_ns, banked_ns);
	count_by(EK_IDLE_COMPENSATION_NS, *idle_compensation_ns);
	return banked_ns;
}

#endif

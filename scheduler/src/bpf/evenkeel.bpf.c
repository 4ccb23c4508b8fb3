/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Virtual time over the queues of last-level caches, as a sched_ext scheduler.
 *
 * Each cache has a queue in order of virtual time for each class and each affinity
 * group of tasks, and one for starved tasks; each CPU has one for tasks that may run
 * nowhere else. A CPU compares the heads and its running task; the least goes on.
 * Time that a slice lost to the licenses of other tasks is refunded, and billed.
 * docs/decisions/0014 says where this order is not exact and why, 0030 how affinity
 * groups are compared, 0016 how licenses are known.
 *
 * No formula stands here: each operation gathers, asks the headers of
 * policy/, acts and counts.
 */
#include "kernel.h"

#include <evenkeel/place.h>

#include "choose.bpf.h"
#include "dump.bpf.h"
#include "look.bpf.h"
#include "sense.bpf.h"
#include "state.bpf.h"
#include "taken.bpf.h"
#include "vtime.bpf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* --- Waking --- */

/* Places a task that is runnable again in the order of its group. */
static void place(struct task_struct *p, const struct ek_group *group, u64 now_ns)
{
	u64 vtime_ns = p->scx.dsq_vtime, floor_ns = group->floor_ns, placed_ns;

	if (vtime_ns == IS_NEW)
		placed_ns = ek_place_new_ns(floor_ns, floor_ns,
					    ek_charge_scale_ns(config.slice_ns, weight_of(p)));
	else
		placed_ns = ek_place_waking_ns(vtime_ns, floor_ns, config.sleeper_credit_ns);
	if (is_even(now_ns))
		deficit_wakes(p, vtime_ns == IS_NEW ? 0 : placed_ns - vtime_ns, now_ns);
	if (placed_ns != vtime_ns)
		set_vtime(p, placed_ns);
}

/* A task that ran and is queued again is not further behind its group than the limit. */
static void forgive_lag(struct task_struct *p, const struct ek_group *group, u32 weight)
{
	u64 vtime_ns = p->scx.dsq_vtime, forgiven_ns = lag_forgiven_ns(group, vtime_ns, weight);

	if (forgiven_ns)
		set_vtime(p, ek_add(vtime_ns, forgiven_ns));
}

/* Whether an idle CPU refuses a task, since forced idle is to repay the task beside. */
static bool is_refused_on(struct task_struct *p, u32 index, const struct ek_cpu *cpu, u64 now_ns)
{
	if (!config.parts)
		return false;
	ek_look_around(index, now_ns);
	return cpu->around.quiet_from > 0 && is_refused(&cpu->around, class_of(p, now_ns));
}

/* The idle CPU that suits a waking task's level; -1: the kernel may choose. */
static s32 suitable_for(struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	if (!(config.parts & EK_PART_PLACING) || p->nr_cpus_allowed == 1 || may_not_migrate(p) ||
	    (wake_flags & kernel_enum(scx_wake_flags, SCX_WAKE_SYNC)))
		return -1;

	u64 now_ns = scx_bpf_now();
	s32 index = is_even(now_ns) ? idle_for(p, prev_cpu, now_ns) : -1;

	if (index >= 0 && index != prev_cpu)
		count(EK_PLACED);
	return index;
}

SEC("struct_ops/ek_select_cpu")
s32 BPF_PROG(ek_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	s32 index = suitable_for(p, prev_cpu, wake_flags);
	bool is_idle = index >= 0;

	if (!is_idle)
		index = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &is_idle);

	struct ek_cpu *cpu = is_idle ? cpu_of(index) : NULL;
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (cache && !is_refused_on(p, index, cpu, scx_bpf_now())) {
		u32 group = group_on(p, index, cpu, cache);

		count(EK_WOKE_IDLE);
		place(p, group_at(cpu, cache, group), scx_bpf_now());
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight_of(p)), 0);
	}
	return index;
}

/*
 * Interrupts a CPU of the cache whose task is ahead of one that is queued: the
 * nearest, or one whose task is of a group where virtual time passes faster. A CPU
 * on which no task of ours runs may have looked for one before this task was queued
 * and not be known as idle yet, so a kick makes that CPU look again; the kick does
 * nothing on a CPU that runs a task of a higher class.
 */
static void interrupt_one(struct task_struct *p, u32 number, u32 near, u64 now_ns)
{
	u32 index = near, best = near, weight = weight_of(p);
	u64 vtime_ns = p->scx.dsq_vtime, least_ns = 0;

	for (u32 i = 0; i < WAKE_LOOKS_MAX; i++) {
		const struct ek_cpu *cpu = cpu_of(index);

		if (!cpu)
			break;
		if (bpf_cpumask_test_cpu(index, p->cpus_ptr)) {
			if (cpu->weight == 0)
				scx_bpf_kick_cpu(index, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));

			u64 rate_ns = ek_gives_way(index, number, vtime_ns, weight, now_ns);

			if (rate_ns > least_ns) {
				best = index;
				least_ns = ek_rate_of_more_ns(rate_ns);
			}
		}
		index = cpu->next;
		if (index == near)
			break;
	}
	if (least_ns > 0)
		interrupt(best);
}

/* --- Queues --- */

/*
 * Tasks wait for the kernel's threads, so these go to the local queue at once, unless they
 * have used more than their share, or are lighter than nice 0: then they wait in order
 * and interrupt a running task as any task does, by their weight.
 */
static bool goes_at_once(struct task_struct *p, u32 index, const struct ek_cpu *cpu,
			 const struct ek_group *group, u32 number, u32 weight)
{
	return (p->flags & PF_KTHREAD) && weight >= EK_WEIGHT_ONE &&
	       clock_at(cpu, group, number, p->scx.dsq_vtime) <= cpu->clock_ns &&
	       !is_taken(index, cpu);
}

/*
 * Which CPU might run a task that was just queued? A waking task found no idle CPU,
 * but a CPU may have become idle since; if none has, the task interrupts one. The
 * CPU of a task that may run nowhere else is woken by the kernel.
 */
static void find_cpu(struct task_struct *p, u32 number, u32 index, u64 now_ns)
{
	s32 idle = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);

	if (idle >= 0)
		scx_bpf_kick_cpu(idle, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
	else
		interrupt_one(p, number, index, now_ns);
}

SEC("struct_ops/ek_enqueue")
void BPF_PROG(ek_enqueue, struct task_struct *p, u64 enq_flags)
{
	u32 index = scx_bpf_task_cpu(p), weight = weight_of(p);
	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	bool wakes = enq_flags & kernel_enum(scx_enq_flags, SCX_ENQ_WAKEUP);
	u64 queue, now_ns = scx_bpf_now();

#ifdef EK_LOSE
	/* For tests of the watchdog: a task of the least weight is never queued. */
	if (p->static_prio == DEFAULT_PRIO + 19)
		return;
#endif
	if (!cache) {
		/* The CPU is not among those that the loader found. */
		count(EK_NO_MEMORY);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, config.slice_ns, enq_flags);
		return;
	}

	u32 number = group_on(p, index, cpu, cache);
	struct ek_group *group = group_at(cpu, cache, number);

	if ((enq_flags & SCX_ENQ_LAST) && cpu->airs) {
		/* A forced switch-out: no other CPU takes the task, which goes on here at once. */
		count(EK_AIRED);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight), enq_flags);
		scx_bpf_kick_cpu(index, 0);
		return;
	}
	note_queued(index, cpu, group, number, now_ns);
	if (wakes || p->scx.dsq_vtime == IS_NEW)
		place(p, group, now_ns);
	else
		forgive_lag(p, group, weight);
	if (goes_at_once(p, index, cpu, group, number, weight)) {
		count(EK_KERNEL_THREAD);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight),
				   enq_flags | SCX_ENQ_PREEMPT);
		return;
	}
	if (number == EK_GROUP_OWN && wakes && has_no_choice(index, cpu, cache) &&
	    !is_refused_on(p, index, cpu, now_ns)) {
		/* No order to keep, and no other CPU that may run the task. */
		count(EK_STRAIGHT);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight), enq_flags);
		interrupt_one(p, number, index, now_ns);
		return;
	}
	if (config.parts && is_sent(p, index, cpu, enq_flags))
		return;
	/* The CPU would idle now; the kick makes the CPU choose again, unless idle is forced. */
	if ((enq_flags & SCX_ENQ_LAST) && !cpu->quiet_ns)
		scx_bpf_kick_cpu(index, 0);
	if (number == EK_GROUP_OWN) {
		count(EK_PINNED);
		cpu->has_own = true;
		queue = OF_CPU | index;
	} else {
		u32 class = class_of(p, now_ns);

		count(EK_QUEUED);
		mark_queue(cache, class, number);
		queue = queue_of(cpu->cache, class, number);
	}
	scx_bpf_dsq_insert_vtime(p, queue, slice_ns(weight, cpu->cache, cache, now_ns),
				 p->scx.dsq_vtime, enq_flags);
	find_cpu(p, number, index, now_ns);
}

/* The head of a CPU's own queue, if tasks may wait there. */
static void look_at_own(u32 index, struct ek_cpu *cpu, struct choice *choice)
{
	choice->own_ns = NEVER;
	if (!cpu->has_own)
		return;
	choice->own_ns = head_of_own(index, cpu, &choice->own_level);
	choice->own_vtime_ns = cpu->head_vtime_ns;
	/* A task that is being queued may not be in the queue yet. */
	if (choice->own_ns == NEVER && ek_sub(scx_bpf_now(), cpu->bound.used_ns) > AWAY_NS)
		cpu->has_own = false;
}

SEC("struct_ops/ek_dispatch")
void BPF_PROG(ek_dispatch, s32 index, struct task_struct *prev)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	struct choice choice = {.own_ns = NEVER};

	if (!cache)
		return;
	cpu->is_taken = false;
	if (config.parts) {
		u64 now_ns = scx_bpf_now();

		if (cpu->quiet_ns)
			ek_end_quiet(index, now_ns);
		ek_look_around(index, now_ns);
	}
	/* At every other dispatch, so that thousands of starved tasks do not starve the rest. */
	cpu->took_aged = cache->has_aged && !cpu->took_aged && take_aged(cpu->cache, cache);
	if (cpu->took_aged)
		return;
	choice.goes_on = prev && (prev->scx.flags & SCX_TASK_QUEUED);
	cpu->gives_way = false;
	if (!choice.goes_on && !cpu->has_own && has_one_queue(cache)) {
		/* Nothing to compare the head with. */
		if (scx_bpf_dsq_move_to_local(queue_of(cpu->cache, 0, EK_GROUP_WHOLE))) {
			cpu->is_least = true;
			count(EK_TOOK);
			return;
		}
	} else {
		look_at_own(index, cpu, &choice);
		if (choose(prev, index, cpu, cache, &choice))
			return;
		/* Another CPU took the head that was compared: any task is better than none. */
		if (!choice.goes_on && (take(OF_CPU | (u32)index) || take_any(cpu->cache)))
			return;
	}
	if (take_aged(cpu->cache, cache) || take_from_others(cpu->cache))
		return;
	/* The chosen task is gone: the task that ran stays until the next tick. */
	if (choice.goes_on && prev)
		set_slice(prev, EK_SLICE_MIN_NS);
}

/* --- Running --- */

/*
 * A waiting task that is behind by more than the granularity preempts now, in case no
 * CPU was interrupted for that task.
 */
SEC("struct_ops/ek_tick")
void BPF_PROG(ek_tick, struct task_struct *p)
{
	u32 index = scx_bpf_task_cpu(p);
	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u64 least_ns;

	if (!cache || cpu->weight == 0)
		return;
	u64 now_ns = scx_bpf_now();

	note_used(group_at(cpu, cache, cpu->group), now_ns);
	if (is_empty(SCX_DSQ_LOCAL_ON | index)) {
		u32 level;

		if (config.parts)
			ek_look_around(index, now_ns);
		least_of(index, cpu, cache, EK_LEVELS_MAX, &least_ns);
		if (cpu->has_own)
			least_ns = take_lesser(cpu, least_ns, head_of_own(index, cpu, &level));
		if (least_ns == NEVER)
			return;
		/* The running task has a price as well. */
		least_ns = ek_sub(least_ns, price_ns(cpu, cpu->runs_level));
		if (!is_ahead(cpu, least_ns, cpu->least_weight, now_ns))
			return;
	}
	count(EK_PREEMPTED);
	set_slice(p, 0);
}

SEC("struct_ops/ek_running")
void BPF_PROG(ek_running, struct task_struct *p)
{
	u32 index = scx_bpf_task_cpu(p);
	struct ek_cpu *cpu = cpu_of(index);
	u64 now_ns = scx_bpf_now();

	if (!cpu)
		return;
	struct ek_cache *cache = cache_of(cpu->cache);

	if (!cache)
		return;

	u32 number = group_on(p, index, cpu, cache);

	/* The kernel ran the task without an enqueue, as a task that exits. */
	if (p->scx.dsq_vtime == IS_NEW)
		set_vtime(p, group_at(cpu, cache, number)->floor_ns + 1);
	if (cpu->is_least)
		ek_note_least(index, number, p->scx.dsq_vtime, now_ns);
	cpu->is_least = false;
	cpu->group = number;
	cpu->gives_way = false;
	cpu->has_yielded = false;
	cpu->is_taken = false;
	cpu->airs = false;
	cpu->came_ns = now_ns;
	begin(p, index, cpu, now_ns);
}

SEC("struct_ops/ek_stopping")
void BPF_PROG(ek_stopping, struct task_struct *p, bool runnable)
{
	u32 index = scx_bpf_task_cpu(p);
	struct ek_cpu *cpu = cpu_of(index);

	/* The slice did not begin under this scheduler. */
	if (!cpu || cpu->weight == 0)
		return;
	charge(p, index, cpu, runnable);
	cpu->weight = 0;
	/* Only a task of a higher class takes the CPU before the slice ends. */
	if (runnable && p->scx.slice > 0)
		note_taken(index, cpu);
	if (config.parts)
		note_sent(p, cpu, runnable);
}

/*
 * For kernels before 6.19, which enqueue tasks of a local DSQ again only here, at once.
 * For later kernels the loader leaves this operation out.
 */
SEC("struct_ops/ek_cpu_release")
void BPF_PROG(ek_cpu_release, s32 index, struct scx_cpu_release_args *args)
{
	struct ek_cpu *cpu = cpu_of(index);

	/* So that no task is dispatched directly to this CPU again. */
	if (cpu)
		cpu->is_taken = true;
	count(EK_TAKEN);
	if (bpf_ksym_exists(scx_bpf_reenqueue_local))
		scx_bpf_reenqueue_local();
}

SEC("struct_ops/ek_yield")
bool BPF_PROG(ek_yield, struct task_struct *from, struct task_struct *to)
{
	struct ek_cpu *cpu = cpu_of(scx_bpf_task_cpu(from));

	if (!cpu || to)
		return false;
	count(EK_YIELDED);
	cpu->has_yielded = true;
	set_slice(from, 0);
	return false;
}

/* --- Beginning and end --- */

SEC("struct_ops.s/ek_init_task")
s32 BPF_PROG(ek_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task *task = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!task)
		return -ENOMEM;
	task->ruled = EK_NAME_ASKED;
	/* No task has this CPU time: the starvation timer has not seen the task yet. */
	task->seen_exec_ns = EK_U64_MAX;
	return 0;
}

SEC("struct_ops/ek_enable")
void BPF_PROG(ek_enable, struct task_struct *p)
{
	struct task *task = task_of(p);

	set_vtime(p, IS_NEW);
	if (task)
		change_group(p, task, scx_bpf_task_cpu(p), true);
}

/* A task that may not migrate for a while is called with one CPU, and its affinity mask stays. */
SEC("struct_ops/ek_set_cpumask")
void BPF_PROG(ek_set_cpumask, struct task_struct *p, const struct cpumask *cpumask)
{
	struct task *task = task_of(p);

	if (task)
		change_group(p, task, scx_bpf_task_cpu(p), true);
}

/*
 * A CPU is about to idle. A task that was queued after the CPU looked for one, and
 * before the kernel listed the CPU as idle, is found here: no wake-up looks for this
 * CPU again.
 */
SEC("struct_ops/ek_update_idle")
void BPF_PROG(ek_update_idle, s32 index, bool idle)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u64 least_ns = NEVER;

	if (!idle || !cache || cpu->quiet_ns || cpu->airs)
		return;
	if (may_hold_tasks(cpu->cache))
		least_of(index, cpu, cache, EK_LEVELS_MAX, &least_ns);
	if (least_ns != NEVER || (cpu->has_own && !is_empty(OF_CPU | (u32)index)) ||
	    (cache->has_aged && ek_has_head(index, OF_AGED | cpu->cache)) ||
	    (config.caches > 1 && others_may_hold_tasks(cpu->cache)))
		scx_bpf_kick_cpu(index, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
}

/* Without these two, a change of online CPUs would end the scheduler. All CPUs have queues. */
SEC("struct_ops/ek_cpu_online")
void BPF_PROG(ek_cpu_online, s32 index)
{
	struct ek_cpu *cpu = cpu_of(index);

	if (cpu)
		cpu->is_going = 0;
}

SEC("struct_ops/ek_cpu_offline")
void BPF_PROG(ek_cpu_offline, s32 index)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct look *first = the_look();

	if (!cpu || !first)
		return;
	cpu->is_going = 1;
	/* Before the timer starts: the callback reads this after its own start of the timer. */
	cpus_going_ns = scx_bpf_now();
	bpf_timer_start(&first->timer, GOING_LOOK_NS, 0);
}

/* No task has used wide instructions on a CPU's core yet. */
static void nobody_yet(u32 index)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct core *core = cpu ? core_of(cpu) : NULL;

	if (!core)
		return;
	cpu->decision.culprit = EK_NOBODY;
	ek_users_none(&core->users);
}

/* The queues of a cache. */
__noinline int ek_create_queues(u32 cache)
{
	for (u32 class = 0; class < EK_LEVELS_MAX && class < config.classes; class++) {
		for (u32 group = 0; group < EK_GROUPS; group++) {
			int error = scx_bpf_create_dsq(queue_of(cache, class, group), -1);

			if (error)
				return error;
		}
	}
	return 0;
}

SEC("struct_ops.s/ek_init")
s32 BPF_PROG(ek_init)
{
	struct look *first = the_look();
	int i, error;

	if (!first || !has_masks())
		return -ENOENT;
	bpf_for(i, 0, (int)config.caches) {
		error = ek_create_queues(i);
		if (error)
			return error;
		error = scx_bpf_create_dsq(OF_AGED | (u32)i, -1);
		if (error)
			return error;
	}
	bpf_for(i, 0, (int)config.cpus) {
		error = scx_bpf_create_dsq(OF_CPU | (u32)i, -1);
		if (error)
			return error;
		nobody_yet(i);
		error = prepare_taken(i);
		if (error)
			return error;
		if (config.parts) {
			error = prepare_quiet(i);
			if (error)
				return error;
		}
	}
	error = bpf_timer_init(&first->timer, &looks, CLOCK_MONOTONIC);
	if (error)
		return error;
	error = bpf_timer_set_callback(&first->timer, look);
	if (error)
		return error;
	return bpf_timer_start(&first->timer, ek_wait_look_ns(config.watchdog_ns), 0);
}

SEC("struct_ops/ek_exit")
void BPF_PROG(ek_exit, struct scx_exit_info *info)
{
	bpf_probe_read_kernel_str(end.reason, sizeof(end.reason), info->reason);
	bpf_probe_read_kernel_str(end.message, sizeof(end.message), info->msg);
	bpf_probe_read_kernel_str(end.dump, sizeof(end.dump), info->dump);
	end.code = info->exit_code;
	/* Last, since the loader waits for `kind`. */
	barrier();
	*(volatile s32 *)&end.kind = info->kind;
}

SEC(".struct_ops.link")
struct sched_ext_ops evenkeel_ops = {
	.select_cpu = (void *)ek_select_cpu,
	.enqueue = (void *)ek_enqueue,
	.dispatch = (void *)ek_dispatch,
	.tick = (void *)ek_tick,
	.running = (void *)ek_running,
	.stopping = (void *)ek_stopping,
	.yield = (void *)ek_yield,
	.update_idle = (void *)ek_update_idle,
	.cpu_online = (void *)ek_cpu_online,
	.cpu_offline = (void *)ek_cpu_offline,
	.cpu_release = (void *)ek_cpu_release,
	.init_task = (void *)ek_init_task,
	.enable = (void *)ek_enable,
	.set_cpumask = (void *)ek_set_cpumask,
	.dump = (void *)ek_dump,
	.dump_cpu = (void *)ek_dump_cpu,
	.dump_task = (void *)ek_dump_task,
	.init = (void *)ek_init,
	.exit = (void *)ek_exit,
	.flags = SCX_OPS_KEEP_BUILTIN_IDLE | SCX_OPS_ENQ_LAST,
	.name = "evenkeel",
};

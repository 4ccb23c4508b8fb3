/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A sched_ext scheduler by virtual time, with DSQs for each last-level cache.
 *
 * Each cache has a DSQ in order of virtual time for each class and each affinity group
 * of tasks, and one for starved tasks; each CPU has one for pinned tasks. A CPU compares
 * the heads of these DSQs and its running task, and runs the least. Time that a slice
 * lost to the licenses of other tasks is refunded to its task, and billed to the culprit.
 * docs/decisions/0014 says where this order is not exact and why, 0030 how affinity
 * groups are compared, 0016 how licenses are known, 0039 how wide tasks are confined.
 *
 * No formula is in this file: each operation gathers, calls the headers of policy/, acts
 * and counts.
 */
#include "kernel.h"

#include "cpu_released.bpf.h"
#include "dispatch.bpf.h"
#include "dump.bpf.h"
#include "placing.bpf.h"
#include "preempt.bpf.h"
#include "starvation_timer.bpf.h"
#include "state.bpf.h"
#include "task_class.bpf.h"
#include "vtime.bpf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* --- Waking --- */

SEC("struct_ops/ek_select_cpu")
s32 BPF_PROG(ek_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	s32 cpu_id = idle_cpu_for_class(p, prev_cpu, wake_flags);
	bool is_idle = cpu_id >= 0;
	struct ek_cpu *waker = cpu_of(bpf_get_smp_processor_id());

	if (waker)
		waker->sync_wakes =
			wake_flags & kernel_enum(scx_wake_flags, SCX_WAKE_SYNC) ? p->pid : 0;

	/* The kernel would pick an idle CPU of a narrow core. */
	if (!is_idle && may_specialize() && class_of(p, scx_bpf_now()) == EK_TASK_WIDE)
		return prev_cpu;
	if (!is_idle)
		cpu_id = scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &is_idle);

	struct ek_cpu *cpu = is_idle ? cpu_of(cpu_id) : NULL;
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (cache && !is_refused_on(p, cpu_id, cpu, scx_bpf_now())) {
		u32 group = group_on(p, cpu_id, cpu, cache);

		count(EK_WOKE_IDLE);
		place(p, group_at(cpu, cache, group), scx_bpf_now());
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight_of(p)), 0);
	}
	return cpu_id;
}

/* --- Enqueue and dispatch --- */

/*
 * Whether a kernel thread is dispatched directly, since tasks wait for kernel threads: not
 * if it is ahead of its CPU's clock, or lighter than nice 0. Such a thread waits in order,
 * and preempts a running task as any task does, by its weight.
 */
static bool is_urgent_kthread(struct task_struct *p, u32 cpu_id, const struct ek_cpu *cpu,
			      const struct ek_group *group, u32 number, u32 weight)
{
	return (p->flags & PF_KTHREAD) && weight >= EK_WEIGHT_ONE &&
	       clock_at(cpu, group, number, p->scx.dsq_vtime) <= cpu->clock_ns &&
	       !is_released(cpu_id, cpu);
}

SEC("struct_ops/ek_enqueue")
void BPF_PROG(ek_enqueue, struct task_struct *p, u64 enq_flags)
{
	u32 cpu_id = scx_bpf_task_cpu(p), weight = weight_of(p);
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	bool wakes = enq_flags & kernel_enum(scx_enq_flags, SCX_ENQ_WAKEUP);
	u64 dsq, now_ns = scx_bpf_now();

#ifdef EK_LOSE
	/* For tests of the watchdog: a task of the least weight is in no DSQ. */
	if (p->static_prio == DEFAULT_PRIO + 19)
		return;
#endif
	if (!cache) {
		/* The CPU is not among those that the loader found. */
		count(EK_NO_MEMORY);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, config.slice_ns, enq_flags);
		return;
	}

	u32 number = group_on(p, cpu_id, cpu, cache);
	struct ek_group *group = group_at(cpu, cache, number);

	if ((enq_flags & SCX_ENQ_LAST) && cpu->forced_switch_out) {
		/* A forced switch-out: the task goes on here, and no other CPU can run it. */
		count(EK_FORCED_SWITCH_OUTS);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight), enq_flags);
		scx_bpf_kick_cpu(cpu_id, 0);
		return;
	}
	note_group_queued(cpu_id, cpu, group, number, now_ns);
	place_enqueued(p, group, wakes, weight, now_ns);
	if (is_urgent_kthread(p, cpu_id, cpu, group, number, weight)) {
		count(EK_KERNEL_THREAD);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight),
				   enq_flags | SCX_ENQ_PREEMPT);
		return;
	}
	if (number == EK_GROUP_PINNED && wakes && has_nothing_queued(cpu_id, cpu, cache) &&
	    !is_refused_on(p, cpu_id, cpu, now_ns)) {
		/* No task waits before it, and no other CPU may run it. */
		count(EK_DIRECT_DISPATCHES);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_alone_ns(weight), enq_flags);
		preempt_one_cpu(p, number, cpu_id, false, now_ns);
		return;
	}
	if (push(p, cpu, weight, enq_flags, now_ns) ||
	    (config.parts && dispatch_swapped(p, cpu_id, cpu, enq_flags)) ||
	    dispatch_home(p, cpu_id, number, weight, enq_flags, now_ns))
		return;
	/* The CPU would idle now: the kick makes it dispatch again, unless idle is forced. */
	if ((enq_flags & SCX_ENQ_LAST) && !cpu->forced_idle_since_ns)
		scx_bpf_kick_cpu(cpu_id, 0);
	if (number == EK_GROUP_PINNED) {
		count(EK_ENQUEUED_PINNED);
		cpu->has_pinned = true;
		dsq = DSQ_CPU | cpu_id;
	} else {
		u32 task_class = class_of(p, now_ns);

		count(EK_ENQUEUED);
		mark_dsq(cache, task_class, number);
		dsq = dsq_of(cpu->cache, task_class, number);
	}
	scx_bpf_dsq_insert_vtime(p, dsq, slice_ns(weight, cpu->cache, cache, now_ns),
				 p->scx.dsq_vtime, enq_flags);
	kick_or_preempt(p, number, cpu_id, !wakes && !has_one_dsq(cache), now_ns);
}

/* Reads the head of a CPU's pinned tasks, if any may wait. */
static void read_pinned_head(u32 cpu_id, struct ek_cpu *cpu, struct heads *heads)
{
	heads->pinned_ns = VTIME_MAX;
	if (!cpu->has_pinned)
		return;
	heads->pinned_ns = head_of_pinned(cpu_id, cpu, &heads->pinned_level);
	heads->pinned_vtime_ns = cpu->head_vtime_ns;
	heads->pinned_weight = cpu->head_weight;
	/* A task that is being enqueued may not be in the DSQ yet. */
	if (heads->pinned_ns == VTIME_MAX &&
	    ek_sub(scx_bpf_now(), cpu->pinned.used_ns) > GROUP_INACTIVE_NS)
		cpu->has_pinned = false;
}

SEC("struct_ops/ek_dispatch")
void BPF_PROG(ek_dispatch, s32 cpu_id, struct task_struct *prev)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	struct heads heads = {.pinned_ns = VTIME_MAX};

	if (!cache)
		return;
	cpu->is_released = false;
	if (config.parts) {
		u64 now_ns = scx_bpf_now();

		if (cpu->forced_idle_since_ns)
			ek_end_forced_idle(cpu_id, now_ns);
		ek_update_siblings(cpu_id, now_ns);
	}
	heads.prev_runnable = prev && (prev->scx.flags & SCX_TASK_QUEUED);
	/*
	 * A preemption that was requested before this task began does not end its slice: the
	 * task was dispatched early on purpose, since it is starved or was pushed by a chain.
	 */
	if (heads.prev_runnable && prev && !cpu->runs_least && !must_leave(cpu, cache) &&
	    has_just_begun(cpu, scx_bpf_now())) {
		set_slice(prev, EK_SLICE_MIN_NS);
		return;
	}
	/* At every other dispatch, so that thousands of starved tasks do not starve the rest. */
	cpu->took_starved = cache->has_starved && !cpu->took_starved &&
			    dispatch_starved(cpu->cache, cache);
	if (cpu->took_starved)
		return;
	cpu->preempt_requested = false;
	if (may_specialize())
		ek_choose_kinds(cpu_id, heads.prev_runnable, scx_bpf_now());
	if (!heads.prev_runnable && !cpu->has_pinned && has_one_dsq(cache)) {
		/* No second task to compare the head with. */
		if (scx_bpf_dsq_move_to_local(dsq_of(cpu->cache, 0, EK_GROUP_WHOLE))) {
			cpu->is_least = true;
			count(EK_DISPATCHED);
			return;
		}
	} else {
		read_pinned_head(cpu_id, cpu, &heads);
		if (pick_next(prev, cpu_id, cpu, cache, &heads))
			return;
		/* Another CPU dispatched the least head: any task is better than none. */
		if (!heads.prev_runnable &&
		    (dispatch_from(DSQ_CPU | (u32)cpu_id) || dispatch_any(cpu->cache, cpu)))
			return;
	}
	if (dispatch_starved(cpu->cache, cache) || dispatch_from_other_caches(cpu))
		return;
	/* Another CPU dispatched the least task: the previous one stays until the next tick. */
	if (heads.prev_runnable && prev &&
	    !(may_specialize() && goes_home(prev, cpu_id, cpu, cache, scx_bpf_now())))
		set_slice(prev, EK_SLICE_MIN_NS);
}

/* --- Running --- */

/*
 * A waiting task that is behind by more than the granularity preempts now, in case it
 * preempted no CPU when it was enqueued.
 */
SEC("struct_ops/ek_tick")
void BPF_PROG(ek_tick, struct task_struct *p)
{
	u32 cpu_id = scx_bpf_task_cpu(p);
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u64 least_ns;

	if (!cache || cpu->weight == 0)
		return;
	u64 now_ns = scx_bpf_now();

	note_group_used(group_at(cpu, cache, cpu->group), now_ns);
	if (specializes(now_ns))
		ek_kick_idle_narrow(cpu_id, now_ns);
	if (dsq_is_empty(SCX_DSQ_LOCAL_ON | cpu_id) && !must_leave(cpu, cache)) {
		u32 level;

		if (config.parts)
			ek_update_siblings(cpu_id, now_ns);
		least_of(cpu_id, cpu, cache, EK_LEVELS_MAX, &least_ns);
		if (cpu->has_pinned)
			least_ns =
				least_of_heads(cpu, least_ns, head_of_pinned(cpu_id, cpu, &level));
		if (least_ns == VTIME_MAX)
			return;
		/* The price of the running task counts as well. */
		least_ns = ek_sub(least_ns,
				  class_price_ns(cpu, cache, cpu->running_class, cpu->group));
		if (!is_ahead(running_clock_ns(cpu, now_ns), least_ns, cpu->least_weight))
			return;
	}
	count(EK_PREEMPTED);
	set_slice(p, 0);
}

SEC("struct_ops/ek_running")
void BPF_PROG(ek_running, struct task_struct *p)
{
	u32 cpu_id = scx_bpf_task_cpu(p);
	struct ek_cpu *cpu = cpu_of(cpu_id);
	u64 now_ns = scx_bpf_now();

	if (!cpu)
		return;
	struct ek_cache *cache = cache_of(cpu->cache);

	if (!cache)
		return;

	u32 number = group_on(p, cpu_id, cpu, cache);

	/* The kernel ran the task without an enqueue, as a task that exits. */
	if (p->scx.dsq_vtime == VTIME_UNSET)
		set_vtime(p, group_at(cpu, cache, number)->min_vtime_ns + 1);
	if (cpu->is_least)
		ek_note_least(cpu_id, number, p->scx.dsq_vtime, now_ns);
	cpu->runs_least = cpu->is_least;
	cpu->is_least = false;
	cpu->group = number;
	cpu->preempt_requested = false;
	cpu->push_to = 0;
	cpu->has_yielded = false;
	cpu->is_released = false;
	cpu->forced_switch_out = false;
	cpu->on_cpu_since_ns = now_ns;
	begin(p, cpu_id, cpu, now_ns);
}

SEC("struct_ops/ek_stopping")
void BPF_PROG(ek_stopping, struct task_struct *p, bool runnable)
{
	u32 cpu_id = scx_bpf_task_cpu(p);
	struct ek_cpu *cpu = cpu_of(cpu_id);

	/* The slice did not begin under this scheduler. */
	if (!cpu || cpu->weight == 0)
		return;
	charge(p, cpu_id, cpu, runnable);
	cpu->weight = 0;
	/* Only a task of a higher scheduling class preempts before the slice ends. */
	if (runnable && p->scx.slice > 0)
		note_released(cpu_id, cpu);
	if (config.parts || may_specialize())
		cpu->idle_since_ns = scx_bpf_now();
	if (config.parts)
		note_swap(p, cpu, runnable);
}

/*
 * For kernels before 6.19, which enqueue tasks of a local DSQ again only in this operation.
 * For later kernels the loader leaves this operation out.
 */
SEC("struct_ops/ek_cpu_release")
void BPF_PROG(ek_cpu_release, s32 cpu_id, struct scx_cpu_release_args *args)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);

	/* So that no task is dispatched directly to this CPU until it is back. */
	if (cpu)
		cpu->is_released = true;
	count(EK_REENQUEUED);
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

/* A forked task has the kind of its parent (D 6.3.2). */
static void inherit_kind(struct task *task)
{
	const struct task *parent = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);

	if (!parent)
		return;
	task->declared = parent->declared;
	task->phase = parent->phase;
	task->phase.ran_ns = 0;
	task->learned = parent->learned;
	task->wide_until_ns = parent->wide_until_ns;
}

SEC("struct_ops.s/ek_init_task")
s32 BPF_PROG(ek_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task *task = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!task)
		return -ENOMEM;
	task->rule_level = EK_NAME_ASKED;
	if (config.specialization && args->fork)
		inherit_kind(task);
	/* No task has this CPU time: the starvation timer has not seen the task yet. */
	task->seen_exec_ns = EK_U64_MAX;
	return 0;
}

SEC("struct_ops/ek_enable")
void BPF_PROG(ek_enable, struct task_struct *p)
{
	struct task *task = task_of(p);

	set_vtime(p, VTIME_UNSET);
	if (task)
		change_group(p, task, scx_bpf_task_cpu(p), true);
}

/* Called with one CPU for a task that may not migrate for a while, whose affinity mask stays. */
SEC("struct_ops/ek_set_cpumask")
void BPF_PROG(ek_set_cpumask, struct task_struct *p, const struct cpumask *cpumask)
{
	struct task *task = task_of(p);

	if (task)
		change_group(p, task, scx_bpf_task_cpu(p), true);
}

/*
 * A CPU is about to idle. A task may have been enqueued after the CPU's last dispatch and
 * before the CPU was in the kernel's idle mask, so that no wake-up kicked this CPU: if a
 * task waits, a kick makes the CPU dispatch again.
 */
SEC("struct_ops/ek_update_idle")
void BPF_PROG(ek_update_idle, s32 cpu_id, bool idle)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u64 least_ns = VTIME_MAX;

	if (!idle || !cache || cpu->forced_idle_since_ns || cpu->forced_switch_out)
		return;
	if (may_hold_tasks(cpu->cache))
		least_of(cpu_id, cpu, cache, EK_LEVELS_MAX, &least_ns);
	if (least_ns != VTIME_MAX || (cpu->has_pinned && !dsq_is_empty(DSQ_CPU | (u32)cpu_id)) ||
	    (cache->has_starved && ek_has_head(cpu_id, DSQ_STARVED | cpu->cache)) ||
	    (config.caches > 1 && other_caches_may_hold_tasks(cpu->cache)))
		scx_bpf_kick_cpu(cpu_id, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
}

/* Without these two, a change of online CPUs would eject the scheduler. All CPUs have DSQs. */
SEC("struct_ops/ek_cpu_online")
void BPF_PROG(ek_cpu_online, s32 cpu_id)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);

	if (!cpu)
		return;
	cpu->going_offline = 0;
	mark_stale(cpu->cache);
}

SEC("struct_ops/ek_cpu_offline")
void BPF_PROG(ek_cpu_offline, s32 cpu_id)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct timer *first = starvation_timer();

	if (!cpu || !first)
		return;
	cpu->going_offline = 1;
	mark_stale(cpu->cache);
	/* Before the timer starts: its callback reads this after its own start of the timer. */
	last_cpu_offline_ns = scx_bpf_now();
	bpf_timer_start(&first->timer, OFFLINE_PERIOD_NS, 0);
}

/* The initial state of a CPU's core: no task has used wide instructions. */
static void reset_core(u32 cpu_id)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct core *core = cpu ? core_of(cpu) : NULL;

	if (!core)
		return;
	cpu->decision.culprit = EK_NO_TASK;
	ek_users_none(&core->users);
}

/* Creates the DSQs of a cache. */
__noinline int ek_create_dsqs(u32 cache)
{
	for (u32 task_class = 0; task_class < EK_LEVELS_MAX && task_class < config.classes;
	     task_class++) {
		for (u32 group = 0; group < EK_GROUPS; group++) {
			int error = scx_bpf_create_dsq(dsq_of(cache, task_class, group), -1);

			if (error)
				return error;
		}
	}
	return 0;
}

SEC("struct_ops.s/ek_init")
s32 BPF_PROG(ek_init)
{
	struct timer *first = starvation_timer();
	int i, error;

	if (!first || !has_masks())
		return -ENOENT;
	bpf_for(i, 0, (int)config.caches) {
		error = ek_create_dsqs(i);
		if (error)
			return error;
		error = scx_bpf_create_dsq(DSQ_STARVED | (u32)i, -1);
		if (error)
			return error;
		mark_stale(i);
	}
	bpf_for(i, 0, (int)config.cpus) {
		error = scx_bpf_create_dsq(DSQ_CPU | (u32)i, -1);
		if (error)
			return error;
		reset_core(i);
		error = init_release_timer(i);
		if (error)
			return error;
		if (config.parts) {
			error = init_forced_idle_timer(i);
			if (error)
				return error;
		}
	}
	error = bpf_timer_init(&first->timer, &starve_timer, CLOCK_MONOTONIC);
	if (error)
		return error;
	error = bpf_timer_set_callback(&first->timer, run_starvation_timer);
	if (error)
		return error;
	return bpf_timer_start(&first->timer, ek_starved_period_ns(config.watchdog_ns), 0);
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

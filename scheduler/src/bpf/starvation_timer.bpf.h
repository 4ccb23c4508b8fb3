/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which tasks are starved, and which CPUs are going offline?
 *
 * The starvation timer moves starved tasks to the DSQs that are served first, and the
 * last tasks of a CPU that goes offline to its local DSQ.
 */
#ifndef EVENKEEL_STARVATION_TIMER_BPF_H
#define EVENKEEL_STARVATION_TIMER_BPF_H

#include <evenkeel/starved.h>

#include "affinity_group.bpf.h"

/*
 * Whether a waiting task is starved. Its wait counts from one period before the timer
 * first found the task waiting with its present CPU time.
 */
static bool is_starved(const struct task_struct *p, struct task *task, u64 now_ns)
{
	u64 exec_ns = p->se.sum_exec_runtime;

	if (task->seen_exec_ns != exec_ns) {
		task->seen_exec_ns = exec_ns;
		task->waits_since_ns = ek_sub(now_ns, ek_starved_period_ns(config.watchdog_ns));
	}
	return ek_starved(ek_sub(now_ns, task->waits_since_ns), config.watchdog_ns);
}

/* No CPU goes offline: only starved tasks are moved. */
#define NO_CPU (~0U)

/*
 * Moves tasks of a DSQ to one that is served first: starved tasks, or those whose last
 * CPU is `draining_cpu`. Returns whether any was moved.
 */
static bool move_first(u64 dsq, u64 to, u64 flags, u64 now_ns, u32 draining_cpu)
{
	struct task_struct *p;
	bool any = false;

	if (dsq_is_empty(dsq))
		return false;
	bpf_for_each(scx_dsq, p, dsq, 0) {
		struct task *task = task_of(p);

		if (!task)
			continue;

		bool starved = is_starved(p, task, now_ns);
		bool moves = draining_cpu == NO_CPU ? starved :
						      (u32)scx_bpf_task_cpu(p) == draining_cpu;

		if (moves && scx_bpf_dsq_move(&___it, p, to, flags)) {
			any = true;
			if (starved)
				count(EK_STARVED);
		}
	}
	return any;
}

/* Marks a DSQ that holds tasks, and clears the mark where it has been unused for long. */
__noinline int ek_refresh_mark(u32 cache_id, u32 task_class, u32 group, u64 now_ns)
{
	struct ek_cache *cache = cache_of(cache_id);

	if (!cache || task_class >= EK_LEVELS_MAX || group >= EK_GROUPS)
		return 0;
	if (!dsq_is_empty(dsq_of(cache_id, task_class, group)))
		__sync_fetch_and_or(&cache->queues[task_class], 1U << group);
	else if (group >= EK_GROUP_SETS &&
		 ek_sub(now_ns, cache->groups[group].used_ns) > GROUP_REUSE_NS) {
		__sync_fetch_and_and(&cache->queues[task_class], ~(1U << group));
		/* A task that was enqueued meanwhile found the mark set. */
		if (!dsq_is_empty(dsq_of(cache_id, task_class, group)))
			__sync_fetch_and_or(&cache->queues[task_class], 1U << group);
	}
	return 0;
}

/* Moves tasks of a class with an affinity mask to the local DSQ of their last CPU. */
static __noinline int drain_class(u32 cpu_id, u32 cache, u32 task_class, u64 now_ns)
{
	int group;

	bpf_for(group, EK_GROUP_SETS, EK_GROUPS)
		move_first(dsq_of(cache, task_class, group), SCX_DSQ_LOCAL_ON | cpu_id, 0, now_ns,
			   cpu_id);
	return 0;
}

/*
 * A CPU that goes offline calls no `dispatch`, and stays until the kernel has no task left
 * on that CPU. So tasks that no other CPU may run, since they are pinned to this one or
 * this is the last one of their mask, go to its local DSQ. The kernel migrates each of
 * them when the CPU schedules, and only then finds the CPU empty (balance_push in
 * kernel/sched/core.c, Linux 7.0).
 */
static bool drain_cpu(u32 cpu_id, struct ek_cpu *cpu, u64 now_ns)
{
	u32 cache = cpu->cache;
	int task_class;

	if (!is_online(cpu_id)) {
		cpu->going_offline = 0;
		return false;
	}
	move_first(DSQ_CPU | cpu_id, SCX_DSQ_LOCAL_ON | cpu_id, 0, now_ns, cpu_id);
	move_first(DSQ_STARVED | cache, SCX_DSQ_LOCAL_ON | cpu_id, 0, now_ns, cpu_id);
	bpf_for(task_class, 0, (int)config.classes)
		drain_class(cpu_id, cache, task_class, now_ns);
	scx_bpf_kick_cpu(cpu_id, 0);
	return true;
}

/* The DSQs of a class of a cache: moves starved tasks, and marks the DSQs. */
static __noinline int scan_class(u32 cache_id, u32 task_class, u64 now_ns)
{
	int group;

	bpf_for(group, 0, EK_GROUPS) {
		ek_refresh_mark(cache_id, task_class, group, now_ns);
		move_first(dsq_of(cache_id, task_class, group), DSQ_STARVED | cache_id, 0, now_ns,
			   NO_CPU);
	}
	return 0;
}

/* Marks DSQs that hold tasks, so a mark lost to a race is back after one period. */
static void scan_cache(u32 cache_id, u64 now_ns)
{
	struct ek_cache *cache = cache_of(cache_id);
	int task_class;

	bpf_for(task_class, 0, (int)config.classes)
		scan_class(cache_id, task_class, now_ns);
	if (cache && !dsq_is_empty(DSQ_STARVED | cache_id))
		cache->has_starved = true;
}

static int run_starvation_timer(void *map, int *key, struct timer *timer)
{
	u64 now_ns = scx_bpf_now(), next_ns = ek_starved_period_ns(config.watchdog_ns);
	int i;

	bpf_for(i, 0, (int)config.caches)
		scan_cache(i, now_ns);
	bpf_for(i, 0, (int)config.cpus) {
		struct ek_cpu *cpu = cpu_of(i);

		if (cpu && cpu->going_offline && drain_cpu(i, cpu, now_ns))
			next_ns = OFFLINE_PERIOD_NS;
		else
			move_first(DSQ_CPU | (u32)i, SCX_DSQ_LOCAL_ON | (u32)i, SCX_ENQ_PREEMPT,
				   now_ns, NO_CPU);
	}
	bpf_timer_start(&timer->timer, next_ns, 0);
	/* `cpu_offline` started the timer meanwhile, and this start replaced that one. */
	if (last_cpu_offline_ns >= now_ns && next_ns != OFFLINE_PERIOD_NS)
		bpf_timer_start(&timer->timer, OFFLINE_PERIOD_NS, 0);
	return 0;
}

static struct timer *starvation_timer(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&starve_timer, &zero);
}

#endif

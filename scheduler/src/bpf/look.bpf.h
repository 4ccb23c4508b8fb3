/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which tasks are starved, and which CPUs are going offline? The starvation timer looks
 * for both.
 */
#ifndef EVENKEEL_LOOK_BPF_H
#define EVENKEEL_LOOK_BPF_H

#include <evenkeel/wait.h>

#include "group.bpf.h"

/*
 * Whether a waiting task is starved. Its wait counts from the look before the one that
 * first found the task waiting with its present CPU time.
 */
static bool is_aged(const struct task_struct *p, struct task *task, u64 now_ns)
{
	u64 exec_ns = p->se.sum_exec_runtime;

	if (task->seen_exec_ns != exec_ns) {
		task->seen_exec_ns = exec_ns;
		task->waits_since_ns = ek_sub(now_ns, ek_wait_look_ns(config.watchdog_ns));
	}
	return ek_wait_is_long(ek_sub(now_ns, task->waits_since_ns), config.watchdog_ns);
}

/* Of no CPU: only starved tasks are moved. */
#define NO_CPU (~0U)

/*
 * Moves tasks of a queue to where they go first: starved tasks, or those that the
 * kernel has on a CPU that is going offline; whether any was moved.
 */
static bool hurry(u64 queue, u64 to, u64 flags, u64 now_ns, u32 leaving)
{
	struct task_struct *p;
	bool any = false;

	if (is_empty(queue))
		return false;
	bpf_for_each(scx_dsq, p, queue, 0) {
		struct task *task = task_of(p);

		if (!task)
			continue;

		bool aged = is_aged(p, task, now_ns);
		bool moves = leaving == NO_CPU ? aged : (u32)scx_bpf_task_cpu(p) == leaving;

		if (moves && scx_bpf_dsq_move(&___it, p, to, flags)) {
			any = true;
			if (aged)
				count(EK_AGED);
		}
	}
	return any;
}

/* A queue that holds tasks is marked; one that has not been used for long is no longer. */
__noinline int ek_mark_again(u32 index, u32 class, u32 group, u64 now_ns)
{
	struct ek_cache *cache = cache_of(index);

	if (!cache || class >= EK_LEVELS_MAX || group >= EK_GROUPS)
		return 0;
	if (!is_empty(queue_of(index, class, group)))
		__sync_fetch_and_or(&cache->queues[class], 1U << group);
	else if (group >= EK_GROUP_SETS &&
		 ek_sub(now_ns, cache->groups[group].used_ns) > UNUSED_NS) {
		__sync_fetch_and_and(&cache->queues[class], ~(1U << group));
		/* A task that was queued meanwhile saw the mark. */
		if (!is_empty(queue_of(index, class, group)))
			__sync_fetch_and_or(&cache->queues[class], 1U << group);
	}
	return 0;
}

static bool is_online(u32 index)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();
	bool is = bpf_cpumask_test_cpu(index, online);

	scx_bpf_put_cpumask(online);
	return is;
}

/* Hands tasks of a class that the kernel has on a CPU to that CPU: those of sets of CPUs. */
static __noinline int send_off_class(u32 index, u32 cache, u32 class, u64 now_ns)
{
	int group;

	bpf_for(group, EK_GROUP_SETS, EK_GROUPS)
		hurry(queue_of(cache, class, group), SCX_DSQ_LOCAL_ON | index, 0, now_ns, index);
	return 0;
}

/*
 * A CPU that is going offline asks the scheduler for no task, and stays until the kernel
 * has no task left on that CPU. So tasks that no other CPU might take, since they are bound to
 * this one or this is the last one of their set, go to its local queue; the CPU passes
 * them on, and finds itself empty only when it schedules (balance_push in
 * kernel/sched/core.c, Linux 7.0).
 */
static bool send_off(u32 index, struct ek_cpu *cpu, u64 now_ns)
{
	u32 cache = cpu->cache;
	int class;

	if (!is_online(index)) {
		cpu->is_going = 0;
		return false;
	}
	hurry(OF_CPU | index, SCX_DSQ_LOCAL_ON | index, 0, now_ns, index);
	hurry(OF_AGED | cache, SCX_DSQ_LOCAL_ON | index, 0, now_ns, index);
	bpf_for(class, 0, (int)config.classes)
		send_off_class(index, cache, class, now_ns);
	scx_bpf_kick_cpu(index, 0);
	return true;
}

/* The queues of a class of a cache: moves starved tasks, and marks the queues. */
static __noinline int look_at_class(u32 index, u32 class, u64 now_ns)
{
	int group;

	bpf_for(group, 0, EK_GROUPS) {
		ek_mark_again(index, class, group, now_ns);
		hurry(queue_of(index, class, group), OF_AGED | index, 0, now_ns, NO_CPU);
	}
	return 0;
}

/* Marks queues that hold tasks, so a mark lost to a race is back at the next look. */
static void look_at_cache(u32 index, u64 now_ns)
{
	struct ek_cache *cache = cache_of(index);
	int class;

	bpf_for(class, 0, (int)config.classes)
		look_at_class(index, class, now_ns);
	if (cache && !is_empty(OF_AGED | index))
		cache->has_aged = true;
}

static int look(void *map, int *key, struct look *look)
{
	u64 now_ns = scx_bpf_now(), next_ns = ek_wait_look_ns(config.watchdog_ns);
	int i;

	bpf_for(i, 0, (int)config.caches)
		look_at_cache(i, now_ns);
	bpf_for(i, 0, (int)config.cpus) {
		struct ek_cpu *cpu = cpu_of(i);

		if (cpu && cpu->is_going && send_off(i, cpu, now_ns))
			next_ns = GOING_LOOK_NS;
		else
			hurry(OF_CPU | (u32)i, SCX_DSQ_LOCAL_ON | (u32)i, SCX_ENQ_PREEMPT, now_ns,
			      NO_CPU);
	}
	bpf_timer_start(&look->timer, next_ns, 0);
	/* A CPU that began to go offline meanwhile started the timer; this start replaced that. */
	if (cpus_going_ns >= now_ns && next_ns != GOING_LOOK_NS)
		bpf_timer_start(&look->timer, GOING_LOOK_NS, 0);
	return 0;
}

static struct look *the_look(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&looks, &zero);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is the virtual time of a task, of what runs on a CPU, and of a cache as
 * a whole?
 */
#ifndef EVENKEEL_VTIME_BPF_H
#define EVENKEEL_VTIME_BPF_H

#include <evenkeel/charge.h>
#include <evenkeel/move.h>
#include <evenkeel/preempt.h>
#include <evenkeel/slice.h>

#include "state.bpf.h"

static u32 weight_of(const struct task_struct *p)
{
	return ek_weight(p->static_prio - DEFAULT_PRIO);
}

/* A task is ahead of the minimum of another cache as it was of its own. */
static void change_cache(struct task_struct *p, u32 to)
{
	if (config.caches == 1)
		return;

	struct task *task = task_of(p);

	if (!task || task->cache == to)
		return;

	struct ek_cache *old = cache_of(task->cache), *new = cache_of(to);

	if (!old || !new)
		return;
	set_vtime(p, ek_move_ns(p->scx.dsq_vtime, old->min_vtime_ns, new->min_vtime_ns));
	task->cache = to;
}

/* That of what runs on a CPU, if it were accounted now; NEVER if nothing of ours runs. */
static u64 running_vtime_ns(const struct ek_cpu *cpu, u64 now_ns)
{
	u32 weight = cpu->weight;

	if (weight == 0)
		return NEVER;
	return ek_charge_ns(cpu->vtime_ns, ek_sub(now_ns, cpu->since_ns), 0, 0, weight);
}

/* Whether what runs on a CPU is ahead of a task that waits by more than the granularity. */
static bool is_ahead(const struct ek_cpu *cpu, u64 vtime_ns, u32 weight, u64 now_ns)
{
	u64 limit_ns = ek_preempt_limit_ns(vtime_ns, config.wakeup_granularity_ns, weight);

	return ek_preempt(limit_ns, running_vtime_ns(cpu, now_ns));
}

/*
 * The minimum is the least that runs or waits, looked up now and then. Tasks
 * that may run on one CPU only say nothing about the others, unless there are
 * no others. Races with other CPUs of the cache: a smaller value may stay.
 */
static void raise_minimum(u32 near, struct ek_cpu *cpu, struct ek_cache *cache, u64 now_ns)
{
	u64 least_ns = NEVER, bound_ns = NEVER;
	int i;

	if (ek_sub(now_ns, cache->raised_ns) < RAISE_NS)
		return;
	cache->raised_ns = now_ns;
	for (u32 class = 0; class < EK_LEVELS_MAX && class < cache->classes; class++)
		least_ns = ek_min(least_ns, head_ns(queue_of(cpu->cache, class)));
	bpf_for(i, 0, LOOKS_MAX) {
		u64 vtime_ns = running_vtime_ns(cpu, now_ns);

		if (cpu->is_bound)
			bound_ns = ek_min(bound_ns, vtime_ns);
		else
			least_ns = ek_min(least_ns, vtime_ns);
		if (cpu->next == near)
			break;
		cpu = cpu_of(cpu->next);
		if (!cpu)
			return;
	}
	if (least_ns == NEVER)
		least_ns = bound_ns;
	if (least_ns != NEVER)
		cache->min_vtime_ns = ek_max(cache->min_vtime_ns, least_ns);
}

/*
 * The minimum for a task that may run on one CPU only: where others of the kind
 * crowd there, they are behind the cache, and keep the order among themselves.
 */
static u64 minimum_of_own(u32 index, const struct ek_cpu *cpu, const struct ek_cache *cache,
			  u64 now_ns)
{
	u64 least_ns = cache->min_vtime_ns;

	if (cpu->is_bound)
		least_ns = ek_min(least_ns, running_vtime_ns(cpu, now_ns));
	if (cpu->has_own)
		least_ns = ek_min(least_ns, head_ns(OF_CPU | index));
	return least_ns;
}

/* A slice while nobody waits. */
static u64 slice_alone_ns(u32 weight)
{
	return ek_slice_shared_ns(config.slice_ns, weight, 0, 0);
}

/* A slice while others wait in the queues of the cache; they are counted now and then. */
static u64 slice_ns(u32 weight, u32 index, struct ek_cache *cache, u64 now_ns)
{
	if (ek_sub(now_ns, cache->counted_ns) >= COUNT_NS) {
		cache->counted_ns = now_ns;
		cache->waiting = waiting(index, cache);
	}
	return ek_slice_shared_ns(config.slice_ns, weight, cache->waiting, cache->cpus);
}

#endif

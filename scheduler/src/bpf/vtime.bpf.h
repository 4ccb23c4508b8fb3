/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which virtual time does the running task of a CPU have, and how long is a slice?
 */
#ifndef EVENKEEL_VTIME_BPF_H
#define EVENKEEL_VTIME_BPF_H

#include <evenkeel/charge.h>
#include <evenkeel/preempt.h>
#include <evenkeel/slice.h>

#include "affinity_group.bpf.h"

/*
 * Whether the running task began less than the shortest slice ago. Until then it is not
 * migrated, and a preemption that was requested for the task before it has no effect.
 */
static bool has_just_begun(const struct ek_cpu *cpu, u64 now_ns)
{
	return ek_sub(now_ns, cpu->on_cpu_since_ns) < EK_SLICE_MIN_NS;
}

/* The running task's virtual time if charged now; VTIME_MAX if no task of ours runs. */
static u64 running_vtime_ns(const struct ek_cpu *cpu, u64 now_ns)
{
	u32 weight = cpu->weight;

	if (weight == 0)
		return VTIME_MAX;
	return ek_charge_ns(cpu->vtime_ns, ek_sub(now_ns, cpu->slice_start_ns), 0, 0, weight);
}

/* The running task's virtual time on the CPU clock. */
static u64 running_clock_ns(struct ek_cpu *cpu, u64 now_ns)
{
	struct ek_cache *cache = cache_of(cpu->cache);
	u32 group = cpu->group;

	if (!cache || cpu->weight == 0)
		return VTIME_MAX;
	return clock_at(cpu, group_at(cpu, cache, group), group, running_vtime_ns(cpu, now_ns));
}

/* Whether a running task is ahead of a waiting task by more than the granularity. */
static bool is_ahead(u64 running_ns, u64 waiting_ns, u32 weight)
{
	return ek_preempt(ek_preempt_limit_ns(waiting_ns, config.wakeup_granularity_ns, weight),
			  running_ns);
}

/*
 * Returns 0 if a task that is being enqueued in a group may not preempt the running task of
 * a CPU, or a preemption has been requested already; else one more than the rate of the
 * running task's group (rate_at_ns), so that a rate of 0 differs from "no".
 */
__noinline u64 ek_preempt_rate_ns(u32 cpu_id, u32 number, u64 vtime_ns, u32 weight, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (!cache || cpu->weight == 0 || cpu->preempt_requested)
		return 0;

	u64 running_ns = running_vtime_ns(cpu, now_ns);
	u32 group = cpu->group;

	/* Virtual times of one group compare without the CPU clock. */
	if (group != number) {
		vtime_ns = clock_at(cpu, group_at(cpu, cache, number), number, vtime_ns);
		running_ns = clock_at(cpu, group_at(cpu, cache, group), group, running_ns);
	}
	if (!is_ahead(running_ns, vtime_ns, weight))
		return 0;
	return ek_add(rate_at_ns(group_at(cpu, cache, cpu->group), now_ns), 1);
}

/* Preempts the running task of a CPU. */
static void preempt_cpu(u32 cpu_id)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);

	if (!cpu)
		return;
	count(EK_PREEMPTED);
	cpu->preempt_requested = true;
	scx_bpf_kick_cpu(cpu_id, kernel_enum(scx_kick_flags, SCX_KICK_PREEMPT));
}

/* A slice while no task waits. */
static u64 slice_alone_ns(u32 weight)
{
	return ek_slice_shared_ns(config.slice_ns, weight, 0, 0);
}

/* A slice while tasks wait in the DSQs of the cache, counted every COUNT_NS. */
static u64 slice_ns(u32 weight, u32 cpu_id, struct ek_cache *cache, u64 now_ns)
{
	if (ek_sub(now_ns, cache->counted_ns) >= COUNT_NS) {
		cache->counted_ns = now_ns;
		cache->waiting = waiting(cpu_id, cache);
	}
	return ek_slice_shared_ns(config.slice_ns, weight, cache->waiting, cache->cpus);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What is the virtual time of a task, of what runs on a CPU, and of a cache as
 * a whole?
 */
#ifndef EVENKEEL_VTIME_BPF_H
#define EVENKEEL_VTIME_BPF_H

#include <evenkeel/charge.h>
#include <evenkeel/move.h>
#include <evenkeel/slice.h>

#include "state.bpf.h"

static void read_weight(struct task_struct *p, struct task *task)
{
	task->weight = ek_weight(p->static_prio - DEFAULT_PRIO);
}

/* Races with other CPUs of the cache: a smaller value may stay, until the next one. */
static void raise_minimum(u32 index, u64 vtime_ns)
{
	struct ek_cache *cache = cache_of(index);

	if (cache && vtime_ns != NEVER)
		cache->min_vtime_ns = ek_max(cache->min_vtime_ns, vtime_ns);
}

static void change_cache(struct task *task, u32 to)
{
	struct ek_cache *old = cache_of(task->cache), *new = cache_of(to);

	if (task->cache == to || !old || !new)
		return;
	task->vtime_ns = ek_move_ns(task->vtime_ns, old->min_vtime_ns, new->min_vtime_ns);
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

/*
 * While nothing waits, no head tells the minimum: then it is the least that
 * runs. Looked up when a task comes, since it matters to no one before.
 */
static void raise_minimum_to_running(u32 near)
{
	struct ek_cpu *cpu = cpu_of(near);
	u64 least_ns = NEVER, now_ns = scx_bpf_now();
	int i;

	if (!cpu || waiting(cpu->cache))
		return;
	bpf_for(i, 0, LOOKS_MAX) {
		least_ns = ek_min(least_ns, running_vtime_ns(cpu, now_ns));
		if (cpu->next == near)
			break;
		cpu = cpu_of(cpu->next);
		if (!cpu)
			return;
	}
	raise_minimum(cpu->cache, least_ns);
}

static u64 slice_ns(const struct task *task)
{
	struct ek_cache *cache = cache_of(task->cache);

	return ek_slice_shared_ns(config.slice_ns, task->weight, waiting(task->cache),
				  cache ? cache->cpus : 0);
}

#endif

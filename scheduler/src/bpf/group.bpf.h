/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which tasks may use the same CPUs, and how does a CPU compare tasks that may not?
 *
 * Tasks of one affinity group share queues, in order of one virtual time. Each
 * CPU has a clock, and an anchor for each group that converts the group's virtual
 * time to that clock. Within a limit the order of virtual time stays as it is;
 * <evenkeel/lag.h> gives the reason for the limit. Only a CPU itself moves its
 * anchors, at dispatch and at its ticks.
 */
#ifndef EVENKEEL_GROUP_BPF_H
#define EVENKEEL_GROUP_BPF_H

#include <evenkeel/charge.h>
#include <evenkeel/lag.h>
#include <evenkeel/move.h>

#include "state.bpf.h"

static u32 weight_of(const struct task_struct *p)
{
	if (p->policy == SCHED_IDLE)
		return EK_WEIGHT_IDLE;
	return ek_weight(p->static_prio - DEFAULT_PRIO);
}

/* A number of a group as an index that the verifier knows to be in bounds, whatever clang knows. */
static u32 index_of(u32 number)
{
	asm("" : "+r"(number));
	return number & (EK_GROUP_NUMBERS - 1);
}

/* A group of a cache, or the own one of a CPU. */
static struct ek_group *group_at(struct ek_cpu *cpu, struct ek_cache *cache, u32 number)
{
	return number == EK_GROUP_OWN ? &cpu->bound : &cache->groups[index_of(number)];
}

/* Whether a task needs no look at its memory to know its group. */
static bool is_free(const struct task_struct *p)
{
	return p->nr_cpus_allowed >= (int)config.cpus;
}

static bool is_bound(const struct task_struct *p)
{
	return p->nr_cpus_allowed == 1 && config.cpus > 1;
}

/*
 * Whether a task that waits in a queue may run on a CPU. A task may wait for a while
 * in the queue of another set of CPUs than its own, where the number of the set was
 * given to another one meanwhile, and the kernel ends a scheduler that gives a CPU a
 * task outside of that task's affinity mask.
 */
static bool may_run(const struct task_struct *p, u32 index)
{
	return is_free(p) || bpf_cpumask_test_cpu(index, p->cpus_ptr);
}

/* --- Numbers of groups --- */

/* A task of a group runs. */
static void note_used(struct ek_group *group, u64 now_ns)
{
	if (ek_sub(now_ns, group->used_ns) >= NOTE_NS)
		group->used_ns = now_ns;
}

/* Whether no task waits in the queues of a group of a cache. */
static bool has_none_queued(u32 cache, u32 number)
{
	for (u32 class = 0; class < EK_LEVELS_MAX && class < config.classes; class++) {
		if (!is_empty(queue_of(cache, class, number)))
			return false;
	}
	return true;
}

/* Sets the bit of a group in the CPUs of a cache that `p` may use, and clears the rest. */
static void tell_cpus(struct task_struct *p, u32 first, u32 number)
{
	u32 index = first;
	int i;

	bpf_for(i, 0, SET_CPUS_MAX) {
		struct ek_cpu *cpu = cpu_of(index);

		if (!cpu)
			return;
		if (bpf_cpumask_test_cpu(index, &p->cpus_mask))
			__sync_fetch_and_or(&cpu->groups, 1U << number);
		else
			__sync_fetch_and_and(&cpu->groups, ~(1U << number));
		index = cpu->next;
		if (index == first)
			return;
	}
}

/*
 * Takes a number that has no set of CPUs, or whose set is no longer used. No task
 * finds the number before exactly the CPUs of the new set look into its queues.
 */
static bool claim(struct task_struct *p, u32 first, struct ek_group *group, u32 cache, u32 number,
		  u64 hash, u64 now_ns)
{
	u64 old = group->cpus_hash;

	if (old == HASH_CHANGES ||
	    (old && ek_sub(now_ns, group->used_ns) < UNUSED_NS) ||
	    (old && !has_none_queued(cache, number)))
		return false;
	if (__sync_val_compare_and_swap(&group->cpus_hash, old, HASH_CHANGES) != old)
		return false;
	__sync_fetch_and_add(&group->epoch, 1);
	note_used(group, now_ns);
	tell_cpus(p, first, number);
	__sync_lock_test_and_set(&group->cpus_hash, hash);
	return true;
}

/*
 * A hash of the CPUs of a cache that a task may use, which does not depend on
 * their order; 0: all of them.
 */
static u64 hash_cpus(struct task_struct *p, u32 first)
{
	u32 index = first;
	u64 hash = 0;
	bool is_whole = true;
	int i;

	bpf_for(i, 0, SET_CPUS_MAX) {
		struct ek_cpu *cpu = cpu_of(index);

		if (!cpu)
			break;
		if (bpf_cpumask_test_cpu(index, &p->cpus_mask)) {
			/* The finaliser of SplitMix64: its sums do not collide by chance. */
			u64 mixed = (index + 1) * 0x9e3779b97f4a7c15ULL;

			mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
			mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
			hash += mixed ^ mixed >> 31;
		} else {
			is_whole = false;
		}
		index = cpu->next;
		if (index == first)
			break;
	}
	return is_whole ? 0 : ek_max(hash, HASH_CHANGES + 1);
}

/* The number of the group of a task's CPUs in a cache. */
static u32 find_group(struct task_struct *p, u32 index, u32 to, struct ek_cache *cache, u64 hash)
{
	u64 now_ns = scx_bpf_now();

	if (hash == 0)
		return EK_GROUP_WHOLE;
	for (u32 number = EK_GROUP_SETS; number < EK_GROUP_MIXED; number++) {
		if (cache->groups[index_of(number)].cpus_hash == hash)
			return number;
	}
	for (u32 number = EK_GROUP_SETS; number < EK_GROUP_MIXED; number++) {
		if (claim(p, index, &cache->groups[index_of(number)], to, number, hash, now_ns))
			return number;
	}
	return EK_GROUP_MIXED;
}

/*
 * Puts a task into the group of its CPUs in the cache of a CPU, as far ahead of
 * that group as of the group before. Not for a queued task.
 */
static __noinline u32 change_group(struct task_struct *p, struct task *task, u32 index, bool anew)
{
	/* A task that is bound may still be on another CPU. */
	if (is_bound(p))
		index = bpf_cpumask_first(&p->cpus_mask);

	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	struct ek_cache *from = cache_of(task->cache);
	u32 number = EK_GROUP_WHOLE;

	if (!cache || !from)
		return EK_GROUP_WHOLE;
	if (is_bound(p)) {
		number = EK_GROUP_OWN;
	} else if (!is_free(p)) {
		if (anew || task->cache != cpu->cache || task->group == EK_GROUP_OWN)
			task->cpus_hash = hash_cpus(p, index);
		number = find_group(p, index, cpu->cache, cache, task->cpus_hash);
	}
	if (number == task->group &&
	    (number == EK_GROUP_OWN ? task->cpu == index : task->cache == cpu->cache))
		return number;

	struct ek_cpu *home = task->group == EK_GROUP_OWN ? cpu_of(task->cpu) : cpu;

	if (!home)
		return number;

	const struct ek_group *old = group_at(home, from, task->group);
	const struct ek_group *group = group_at(cpu, cache, number);

	if (p->scx.dsq_vtime != IS_NEW)
		set_vtime(p, ek_max(ek_move_ns(p->scx.dsq_vtime, old->floor_ns, group->floor_ns),
				    IS_NEW + 1));
	task->cache = cpu->cache;
	task->cpu = index;
	task->group = number;
	return number;
}

/* The group that a task is in on a CPU. */
static u32 group_on(struct task_struct *p, u32 index, const struct ek_cpu *cpu,
		    const struct ek_cache *cache)
{
	if (is_bound(p))
		return EK_GROUP_OWN;
	if (is_free(p) && config.caches == 1)
		return EK_GROUP_WHOLE;

	struct task *task = task_of(p);

	if (!task)
		return EK_GROUP_WHOLE;

	u32 number = task->group;

	if (task->cache == cpu->cache &&
	    (number == EK_GROUP_WHOLE ||
	     (number < EK_GROUP_MIXED &&
	      cache->groups[index_of(number)].cpus_hash == task->cpus_hash)))
		return number;
	return change_group(p, task, index, false);
}

/* --- Clocks --- */

/* A task of a group is to be queued; if none was runnable, CPUs anchor the group anew. */
static void note_queued(u32 index, const struct ek_cpu *cpu, struct ek_group *group, u32 number,
			u64 now_ns)
{
	if (ek_sub(now_ns, group->used_ns) >= AWAY_NS &&
	    (number == EK_GROUP_OWN ? is_empty(OF_CPU | index) :
				      has_none_queued(cpu->cache, number)))
		__sync_fetch_and_add(&group->epoch, 1);
	note_used(group, now_ns);
}

/* Where virtual times of a group are on a CPU's clock. */
static struct ek_anchor *anchor_of(struct ek_cpu *cpu, const struct ek_group *group, u32 number)
{
	struct ek_anchor *anchor = &cpu->anchors[index_of(number)];
	u32 *epoch = &cpu->epochs[index_of(number)];

	if (*epoch != group->epoch) {
		anchor->vtime_ns = group->floor_ns;
		anchor->clock_ns = cpu->clock_ns;
		*epoch = group->epoch;
	}
	return anchor;
}

/* A virtual time of a group on the clock of a CPU; its anchors stay. */
static u64 clock_at(const struct ek_cpu *cpu, const struct ek_group *group, u32 number,
		    u64 vtime_ns)
{
	struct ek_anchor anchor = {.vtime_ns = group->floor_ns, .clock_ns = cpu->clock_ns};

	if (cpu->epochs[index_of(number)] == group->epoch)
		anchor = cpu->anchors[index_of(number)];
	return ek_anchor_clock_ns(&anchor, vtime_ns);
}

/*
 * The virtual time of the first task of a queue that may run on a CPU, on that CPU's
 * clock; NEVER: no such task. Notes the weight and the virtual time of that task.
 */
__noinline u64 ek_head_ns(u32 index, u32 number, u64 queue)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	struct task_struct *p;
	u64 vtime_ns = NEVER, limit_ns = 0;
	u32 passes = 0;

	if (!cache || is_empty(queue))
		return NEVER;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (!may_run(p, index)) {
			if (++passes < PASSES_MAX)
				continue;
			break;
		}
		vtime_ns = p->scx.dsq_vtime;
		cpu->head_vtime_ns = vtime_ns;
		cpu->head_weight = weight_of(p);
		limit_ns = ek_lag_limit_ns(config.slice_ns, cpu->head_weight);
		break;
	}
	if (vtime_ns == NEVER)
		return NEVER;

	struct ek_anchor *anchor = anchor_of(cpu, group_at(cpu, cache, number), number);

	return ek_anchor_bound_ns(anchor, vtime_ns, cpu->clock_ns, limit_ns);
}

/* How far the floor of a group rose recently (ek_rate_ns). */
static u64 rate_at_ns(const struct ek_group *group, u64 now_ns)
{
	return ek_rate_ns(group->rate_ns, ek_sub(now_ns, group->rated_ns));
}

/*
 * A task is the least of all that may run on a CPU: the floor of its group and
 * the CPU's clock rise to its virtual time. Races with other CPUs of the group: a
 * smaller value may stay until the next call.
 */
__noinline int ek_note_least(u32 index, u32 number, u64 vtime_ns, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (!cache)
		return 0;

	struct ek_group *group = group_at(cpu, cache, number);
	const struct ek_anchor *anchor = anchor_of(cpu, group, number);

	note_used(group, now_ns);
	if (vtime_ns > ek_add(group->floor_ns, LATE_NS)) {
		group->rate_ns = ek_add(rate_at_ns(group, now_ns), vtime_ns - group->floor_ns);
		group->rated_ns = now_ns;
		group->floor_ns = vtime_ns;
	}
	cpu->clock_ns = ek_max(cpu->clock_ns, ek_anchor_clock_ns(anchor, vtime_ns));
	return 0;
}

/*
 * How far a task that ran is behind its group beyond the limit: such a task always
 * ran, and the unused part of its share is forgotten.
 */
static u64 lag_forgiven_ns(const struct ek_group *group, u64 vtime_ns, u32 weight)
{
	u64 limit_ns = ek_lag_limit_ns(config.slice_ns, weight);

	return ek_lag_bound_ns(vtime_ns, group->floor_ns, limit_ns) - vtime_ns;
}

#endif

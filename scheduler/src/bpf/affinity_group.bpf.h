/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which tasks may use the same CPUs, and how does a CPU compare tasks that may not?
 *
 * Tasks of one affinity group share DSQs, in order of one virtual time. Each CPU has a
 * clock, and an anchor for each group that converts the group's virtual time to that
 * clock. Within a limit the order of virtual time stays as it is; <evenkeel/lag.h> gives
 * the reason for the limit. Only a CPU itself moves its anchors, at dispatch and ticks.
 */
#ifndef EVENKEEL_AFFINITY_GROUP_BPF_H
#define EVENKEEL_AFFINITY_GROUP_BPF_H

#include <evenkeel/charge.h>
#include <evenkeel/lag.h>
#include <evenkeel/move.h>

#include "task_class.bpf.h"

static u32 weight_of(const struct task_struct *p)
{
	if (p->policy == SCHED_IDLE)
		return EK_WEIGHT_IDLE;
	return ek_weight(p->static_prio - DEFAULT_PRIO);
}

/* A group's number as an index; the barrier keeps clang from removing the verifier's bound. */
static u32 group_index(u32 number)
{
	asm("" : "+r"(number));
	return number & (EK_GROUP_NUMBERS - 1);
}

/* A group of a cache, or the group of the pinned tasks of a CPU. */
static struct ek_group *group_at(struct ek_cpu *cpu, struct ek_cache *cache, u32 number)
{
	return number == EK_GROUP_PINNED ? &cpu->pinned : &cache->groups[group_index(number)];
}

/* Whether the affinity mask of a task has all CPUs: its group needs no look-up of its state. */
static bool has_full_affinity(const struct task_struct *p)
{
	return p->nr_cpus_allowed >= (int)config.cpus;
}

static bool is_pinned(const struct task_struct *p)
{
	return p->nr_cpus_allowed == 1 && config.cpus > 1;
}

/*
 * Whether a task in a DSQ may run on a CPU. A task may wait for a while in the DSQ of
 * another set of CPUs than its own, where the number of its set was given to another one
 * meanwhile, and the kernel ejects a scheduler that dispatches a task to a CPU outside of
 * the task's affinity mask.
 */
static bool may_run(const struct task_struct *p, u32 cpu_id)
{
	return has_full_affinity(p) || bpf_cpumask_test_cpu(cpu_id, p->cpus_ptr);
}

/*
 * Whether wide tasks have a group of their own. Only wide cores run them, as if their affinity
 * masks had no other, so that their virtual time may pass faster or slower than that of
 * narrow tasks without end, unless cores change their kinds by virtual time.
 */
static bool has_wide_group(void)
{
	return config.specialization == EK_SPECIALIZATION_BY_LOAD || config.has_fixed_cores;
}

/* The first number that no set of CPUs gets. */
static u32 sets_end(void)
{
	return config.specialization ? EK_GROUP_WIDE : EK_GROUP_MIXED;
}

/* Bits of the groups whose tasks may run on a CPU. */
static u32 groups_allowed(const struct ek_cpu *cpu)
{
	u32 wide = has_wide_group() ? 1U << EK_GROUP_WIDE : 0;

	return cpu->groups | 1U << EK_GROUP_WHOLE | 1U << EK_GROUP_MIXED | wide;
}

/* --- Numbers of groups --- */

/* A task of a group runs. */
static void note_group_used(struct ek_group *group, u64 now_ns)
{
	if (ek_sub(now_ns, group->used_ns) >= USED_UPDATE_NS)
		group->used_ns = now_ns;
}

/* Whether no task waits in the DSQs of a group of a cache. */
static bool group_is_empty(u32 cache, u32 number)
{
	for (u32 task_class = 0; task_class < EK_LEVELS_MAX && task_class < config.classes;
	     task_class++) {
		if (!dsq_is_empty(dsq_of(cache, task_class, number)))
			return false;
	}
	return true;
}

/* Sets the bit of a group in the CPUs of a cache that `p` may use, and clears the rest. */
static void set_group_bits(struct task_struct *p, u32 first, u32 number)
{
	u32 cpu_id = first;
	int i;

	bpf_for(i, 0, SET_CPUS_MAX) {
		struct ek_cpu *cpu = cpu_of(cpu_id);

		if (!cpu)
			return;
		if (bpf_cpumask_test_cpu(cpu_id, &p->cpus_mask))
			__sync_fetch_and_or(&cpu->groups, 1U << number);
		else
			__sync_fetch_and_and(&cpu->groups, ~(1U << number));
		cpu_id = cpu->next_in_cache;
		if (cpu_id == first)
			return;
	}
}

/*
 * Claims a number that has no set of CPUs, or whose set is no longer used. No task finds
 * the number before exactly the CPUs of the new set serve its DSQs.
 */
static bool claim_number(struct task_struct *p, u32 first, struct ek_group *group, u32 cache,
			 u32 number, u64 hash, u64 now_ns)
{
	u64 old = group->cpus_hash;

	if (old == HASH_UPDATING || (old && ek_sub(now_ns, group->used_ns) < GROUP_REUSE_NS) ||
	    (old && !group_is_empty(cache, number)))
		return false;
	if (__sync_val_compare_and_swap(&group->cpus_hash, old, HASH_UPDATING) != old)
		return false;
	__sync_fetch_and_add(&group->epoch, 1);
	note_group_used(group, now_ns);
	set_group_bits(p, first, number);
	__sync_lock_test_and_set(&group->cpus_hash, hash);
	/* Which kinds of cores the group has is not known yet. */
	mark_stale(cache);
	return true;
}

/*
 * A hash of the CPUs of a cache that a task may use, which does not depend on
 * their order; 0: all of them.
 */
static u64 hash_cpus(struct task_struct *p, u32 first)
{
	u32 cpu_id = first;
	u64 hash = 0;
	bool is_whole = true;
	int i;

	bpf_for(i, 0, SET_CPUS_MAX) {
		struct ek_cpu *cpu = cpu_of(cpu_id);

		if (!cpu)
			break;
		if (bpf_cpumask_test_cpu(cpu_id, &p->cpus_mask)) {
			/* The finaliser of SplitMix64: its sums do not collide by chance. */
			u64 mixed = (cpu_id + 1) * 0x9e3779b97f4a7c15ULL;

			mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
			mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
			hash += mixed ^ mixed >> 31;
		} else {
			is_whole = false;
		}
		cpu_id = cpu->next_in_cache;
		if (cpu_id == first)
			break;
	}
	return is_whole ? 0 : ek_max(hash, HASH_UPDATING + 1);
}

/* The number of the group of a task's CPUs in a cache. */
static u32 find_group(struct task_struct *p, u32 cpu_id, u32 to, struct ek_cache *cache, u64 hash)
{
	u64 now_ns = scx_bpf_now();

	if (hash == 0)
		return EK_GROUP_WHOLE;
	for (u32 number = EK_GROUP_SETS; number < EK_GROUP_MIXED && number < sets_end(); number++) {
		if (cache->groups[group_index(number)].cpus_hash == hash)
			return number;
	}
	for (u32 number = EK_GROUP_SETS; number < EK_GROUP_MIXED && number < sets_end(); number++) {
		if (claim_number(p, cpu_id, &cache->groups[group_index(number)], to, number, hash,
				 now_ns))
			return number;
	}
	return EK_GROUP_MIXED;
}

/* Whether a task that may use every CPU of a cache is in the group of wide tasks. */
static bool belongs_to_wide(struct task_struct *p, const struct task *task)
{
	if (!has_wide_group() || !class_may_matter())
		return false;

	u64 now_ns = scx_bpf_now();

	return class_matters(now_ns) && kind_of(p, task, now_ns) == EK_TASK_WIDE;
}

/*
 * Puts a task into the group of its CPUs in the cache of a CPU, as far ahead of
 * that group as of its previous group. Not for a task in a DSQ.
 */
static __noinline u32 change_group(struct task_struct *p, struct task *task, u32 cpu_id,
				   bool mask_changed)
{
	/* A pinned task may still be on another CPU. */
	if (is_pinned(p))
		cpu_id = bpf_cpumask_first(&p->cpus_mask);

	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	struct ek_cache *from = cache_of(task->cache);
	u32 number = EK_GROUP_WHOLE;

	if (!cache || !from)
		return EK_GROUP_WHOLE;
	if (is_pinned(p)) {
		number = EK_GROUP_PINNED;
	} else if (!has_full_affinity(p)) {
		if (mask_changed || task->cache != cpu->cache || task->group == EK_GROUP_PINNED)
			task->cpus_hash = hash_cpus(p, cpu_id);
		number = find_group(p, cpu_id, cpu->cache, cache, task->cpus_hash);
	}
	if (number == EK_GROUP_WHOLE && belongs_to_wide(p, task))
		number = EK_GROUP_WIDE;
	if (number == task->group &&
	    (number == EK_GROUP_PINNED ? task->cpu == cpu_id : task->cache == cpu->cache))
		return number;

	struct ek_cpu *home = task->group == EK_GROUP_PINNED ? cpu_of(task->cpu) : cpu;

	if (!home)
		return number;

	const struct ek_group *old = group_at(home, from, task->group);
	const struct ek_group *group = group_at(cpu, cache, number);

	if (p->scx.dsq_vtime != VTIME_UNSET)
		set_vtime(p, ek_max(ek_move_ns(p->scx.dsq_vtime, old->min_vtime_ns,
					       group->min_vtime_ns),
				    VTIME_UNSET + 1));
	task->cache = cpu->cache;
	task->cpu = cpu_id;
	task->group = number;
	return number;
}

/* The group that a task is in on a CPU. */
static u32 group_on(struct task_struct *p, u32 cpu_id, const struct ek_cpu *cpu,
		    const struct ek_cache *cache)
{
	if (is_pinned(p))
		return EK_GROUP_PINNED;
	if (has_full_affinity(p) && config.caches == 1 &&
	    !(has_wide_group() && class_may_matter() && class_matters(scx_bpf_now())))
		return EK_GROUP_WHOLE;

	struct task *task = task_of(p);

	if (!task)
		return EK_GROUP_WHOLE;

	u32 number = task->group;

	if (number == EK_GROUP_WHOLE || number == EK_GROUP_WIDE) {
		bool is_wide = belongs_to_wide(p, task);

		if (task->cache == cpu->cache && is_wide == (number == EK_GROUP_WIDE))
			return number;
		return change_group(p, task, cpu_id, false);
	}
	if (task->cache == cpu->cache && number < EK_GROUP_MIXED &&
	    cache->groups[group_index(number)].cpus_hash == task->cpus_hash)
		return number;
	return change_group(p, task, cpu_id, false);
}

/* --- Clocks --- */

/* A task of a group is enqueued; if none was runnable, each CPU sets a new anchor. */
static void note_group_queued(u32 cpu_id, const struct ek_cpu *cpu, struct ek_group *group,
			      u32 number, u64 now_ns)
{
	if (ek_sub(now_ns, group->used_ns) >= GROUP_INACTIVE_NS &&
	    (number == EK_GROUP_PINNED ? dsq_is_empty(DSQ_CPU | cpu_id) :
					 group_is_empty(cpu->cache, number)))
		__sync_fetch_and_add(&group->epoch, 1);
	note_group_used(group, now_ns);
}

/* The anchor of a group on a CPU; starts anew in a new epoch of the group. */
static struct ek_anchor *anchor_of(struct ek_cpu *cpu, const struct ek_group *group, u32 number)
{
	struct ek_anchor *anchor = &cpu->anchors[group_index(number)];
	u32 *epoch = &cpu->epochs[group_index(number)];

	if (*epoch != group->epoch) {
		anchor->vtime_ns = group->min_vtime_ns;
		anchor->clock_ns = cpu->clock_ns;
		*epoch = group->epoch;
	}
	return anchor;
}

/* A virtual time of a group on the clock of a CPU, whose anchors stay. */
static u64 clock_at(const struct ek_cpu *cpu, const struct ek_group *group, u32 number,
		    u64 vtime_ns)
{
	struct ek_anchor anchor = {.vtime_ns = group->min_vtime_ns, .clock_ns = cpu->clock_ns};

	if (cpu->epochs[group_index(number)] == group->epoch)
		anchor = cpu->anchors[group_index(number)];
	return ek_anchor_clock_ns(&anchor, vtime_ns);
}

/*
 * The virtual time of the head of a DSQ, that is, of its first task that may run on a
 * CPU, on the CPU clock; VTIME_MAX: no such task. Notes weight and virtual time of the head.
 */
__noinline u64 ek_head_ns(u32 cpu_id, u32 number, u64 dsq)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	struct task_struct *p;
	u64 vtime_ns = VTIME_MAX, limit_ns = 0;
	u32 passes = 0;

	if (!cache || dsq_is_empty(dsq))
		return VTIME_MAX;
	bpf_for_each(scx_dsq, p, dsq, 0) {
		if (!may_run(p, cpu_id)) {
			if (++passes < SKIPS_MAX)
				continue;
			break;
		}
		vtime_ns = p->scx.dsq_vtime;
		cpu->head_vtime_ns = vtime_ns;
		cpu->head_weight = weight_of(p);
		limit_ns = ek_lag_limit_ns(config.slice_ns, cpu->head_weight);
		break;
	}
	if (vtime_ns == VTIME_MAX)
		return VTIME_MAX;

	struct ek_anchor *anchor = anchor_of(cpu, group_at(cpu, cache, number), number);

	return ek_anchor_bound_ns(anchor, vtime_ns, cpu->clock_ns, limit_ns);
}

/* How far the minimum virtual runtime of a group rose recently (ek_rate_ns). */
static u64 rate_at_ns(const struct ek_group *group, u64 now_ns)
{
	return ek_rate_ns(group->rate_ns, ek_sub(now_ns, group->rated_ns));
}

/*
 * A task has the least virtual time of all that may run on a CPU: the minimum of its
 * group and the CPU clock rise to that time. Races with other CPUs of the group: a
 * smaller value may stay until the next call.
 */
__noinline int ek_note_least(u32 cpu_id, u32 number, u64 vtime_ns, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (!cache)
		return 0;

	struct ek_group *group = group_at(cpu, cache, number);
	const struct ek_anchor *anchor = anchor_of(cpu, group, number);

	note_group_used(group, now_ns);
	if (vtime_ns > ek_add(group->min_vtime_ns, MIN_VTIME_SLACK_NS)) {
		group->rate_ns = ek_add(rate_at_ns(group, now_ns), vtime_ns - group->min_vtime_ns);
		group->rated_ns = now_ns;
		group->min_vtime_ns = vtime_ns;
	}
	cpu->clock_ns = ek_max(cpu->clock_ns, ek_anchor_clock_ns(anchor, vtime_ns));
	return 0;
}

/*
 * How far a task that ran is behind its group beyond the limit: such a task always had a
 * CPU, and the rest of its share, which no CPU could give, is forgotten.
 */
static u64 lag_forgiven_ns(const struct ek_group *group, u64 vtime_ns, u32 weight)
{
	u64 limit_ns = ek_lag_limit_ns(config.slice_ns, weight);

	return ek_lag_bound_ns(vtime_ns, group->min_vtime_ns, limit_ns) - vtime_ns;
}

#endif

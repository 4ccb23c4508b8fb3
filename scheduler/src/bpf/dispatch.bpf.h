/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which task does a CPU run next, or is the CPU forced idle?
 *
 * The previous task, the head of the CPU's DSQ of pinned tasks and those of the cache's
 * DSQs are compared on the CPU clock, with prices of their classes. The head of a DSQ is
 * its first task that may run on the CPU.
 */
#ifndef EVENKEEL_DISPATCH_BPF_H
#define EVENKEEL_DISPATCH_BPF_H

#include "compensate.bpf.h"
#include "push_chain.bpf.h"

/* The price of a class of tasks of an affinity group on a CPU. */
static u64 class_price_ns(const struct ek_cpu *cpu, const struct ek_cache *cache, u32 task_class,
			  u32 group)
{
	if (config.specialization)
		return kind_price_ns(cpu, cache, task_class, group);
	return price_ns(cpu, task_class);
}

/* The running task's virtual time on the CPU clock, with the price of its class. */
static u64 running_price_clock_ns(struct ek_cpu *cpu, const struct ek_cache *cache, u64 now_ns)
{
	return ek_add(running_clock_ns(cpu, now_ns),
		      class_price_ns(cpu, cache, cpu->running_class, cpu->group));
}

/* Bits of these groups in whose DSQs of a class tasks may wait. */
static u32 groups_here(const struct ek_cpu *cpu, const struct ek_cache *cache, u32 task_class)
{
	return groups_allowed(cpu) & groups_of(cache, task_class);
}

/* The head of a CPU's pinned tasks on the CPU clock, with the price of its level. */
static u64 head_of_pinned(u32 cpu_id, const struct ek_cpu *cpu, u32 *level)
{
	u64 dsq = DSQ_CPU | cpu_id, head_ns = ek_head_ns(cpu_id, EK_GROUP_PINNED, dsq);
	struct task_struct *p;

	if (!config.parts || !cpu->siblings.runs || head_ns == VTIME_MAX)
		return head_ns;
	bpf_for_each(scx_dsq, p, dsq, 0) {
		*level = class_of(p, scx_bpf_now());
		break;
	}
	return ek_add(head_ns, price_ns(cpu, *level));
}

/* Forces a CPU idle rather than run the head of a DSQ. */
static void force_idle_for_head(u32 cpu_id, struct ek_cpu *cpu, u64 dsq, u64 now_ns)
{
	struct task_struct *p;

	bpf_for_each(scx_dsq, p, dsq, 0) {
		force_idle(cpu_id, cpu, p, now_ns);
		break;
	}
}

static bool dispatch_from(u64 dsq)
{
	return !dsq_is_empty(dsq) && scx_bpf_dsq_move_to_local(dsq);
}

/*
 * Dispatches the head of a DSQ, unless another CPU has dispatched the head that was
 * compared: ticks come at the same time on all CPUs, which then compare the same head,
 * and the second CPU would run a task that goes after its previous one.
 */
__noinline bool ek_dispatch_head(u32 cpu_id, u64 dsq, u64 vtime_ns)
{
	struct task_struct *p;
	u32 passes = 0;
	bool took = false;

	bpf_for_each(scx_dsq, p, dsq, 0) {
		if (!may_run(p, cpu_id)) {
			if (++passes < SKIPS_MAX)
				continue;
			break;
		}
		if (p->scx.dsq_vtime <= vtime_ns)
			took = scx_bpf_dsq_move(&___it, p, SCX_DSQ_LOCAL, 0);
		break;
	}
	return took;
}

/* Whether any task of a DSQ may run on a CPU. */
__noinline bool ek_has_head(u32 cpu_id, u64 dsq)
{
	struct task_struct *p;
	u32 passes = 0;
	bool has = false;

	if (dsq_is_empty(dsq))
		return false;
	bpf_for_each(scx_dsq, p, dsq, 0) {
		has = may_run(p, cpu_id);
		if (has || ++passes >= SKIPS_MAX)
			break;
	}
	return has;
}

/* Notes the head of a DSQ if that task goes before the least head noted so far. */
static void note_head(u32 cpu_id, struct ek_cpu *cpu, const struct ek_cache *cache, u32 task_class,
		      u32 group)
{
	u64 dsq = dsq_of(cpu->cache, task_class, group);
	u64 head_ns = ek_add(ek_head_ns(cpu_id, group, dsq),
			     class_price_ns(cpu, cache, task_class, group));

	if (head_ns >= cpu->least_ns)
		return;
	cpu->least_ns = head_ns;
	cpu->least_dsq = dsq;
	cpu->least_weight = cpu->head_weight;
	cpu->least_vtime_ns = cpu->head_vtime_ns;
}

/* Notes the least of the heads of a class, if that one goes first so far. */
__noinline int ek_note_heads(u32 cpu_id, u32 task_class)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u32 groups = cache ? groups_here(cpu, cache, task_class) : 0;
	int group;

	if (groups & 1U << EK_GROUP_WHOLE)
		note_head(cpu_id, cpu, cache, task_class, EK_GROUP_WHOLE);
	if (groups >> EK_GROUP_SETS == 0)
		return 0;
	bpf_for(group, EK_GROUP_SETS, EK_GROUPS) {
		if (groups >> group & 1)
			note_head(cpu_id, cpu, cache, task_class, group);
	}
	return 0;
}

/*
 * The DSQ of a cache whose head goes first, of levels below a limit; `least_ns` is the
 * virtual time of that head on the CPU clock, with the price of its level.
 */
static u64 least_of(u32 cpu_id, struct ek_cpu *cpu, const struct ek_cache *cache, u32 below,
		    u64 *least_ns)
{
	cpu->least_dsq = dsq_of(cpu->cache, 0, EK_GROUP_WHOLE);
	cpu->least_ns = VTIME_MAX;
	for (u32 task_class = 0;
	     task_class < EK_LEVELS_MAX && task_class < cache->classes && task_class < below;
	     task_class++)
		ek_note_heads(cpu_id, task_class);
	*least_ns = cpu->least_ns;
	return cpu->least_dsq;
}

/* The lesser of the least head of a cache and the head that was read last. */
static u64 least_of_heads(struct ek_cpu *cpu, u64 least_ns, u64 head_ns)
{
	if (head_ns >= least_ns)
		return least_ns;
	cpu->least_weight = cpu->head_weight;
	return head_ns;
}

/* Dispatches any task of a class of a cache that may run here. */
__noinline bool ek_dispatch_any(u32 cache_id, u32 task_class)
{
	const struct ek_cache *cache = cache_of(cache_id);
	u32 groups = cache ? groups_of(cache, task_class) : 0;
	int group;

	bpf_for(group, 0, EK_GROUPS) {
		if ((groups >> group & 1) && dispatch_from(dsq_of(cache_id, task_class, group)))
			return true;
	}
	return false;
}

/* Dispatches any task of a cache that may run here; a narrow core never runs a wide task. */
static bool dispatch_any(u32 cache_id, const struct ek_cpu *cpu)
{
	struct ek_cache *cache = cache_of(cache_id);
	bool confines = config.specialization && !specialization_off && !cpu->is_wide;
	u32 below = confines ? EK_TASK_WIDE : EK_LEVELS_MAX;

	for (u32 task_class = 0; cache && task_class < EK_LEVELS_MAX &&
				 task_class < cache->classes && task_class < below;
	     task_class++) {
		if (ek_dispatch_any(cache_id, task_class))
			return true;
	}
	return false;
}

/*
 * Dispatches a starved task. The mark stays while the DSQ holds any: starved tasks that
 * may not run here wait for another CPU.
 */
static bool dispatch_starved(u32 cache_id, struct ek_cache *cache)
{
	if (!cache->has_starved)
		return false;
	if (dispatch_from(DSQ_STARVED | cache_id))
		return true;
	/* Only the starvation timer adds to this DSQ, and sets the mark afterwards. */
	if (dsq_is_empty(DSQ_STARVED | cache_id))
		cache->has_starved = false;
	return false;
}

/* The previous task goes on unless a waiting task goes first. */
static bool keeps_running(struct task_struct *prev, u32 cpu_id, struct ek_cpu *cpu,
			  struct ek_cache *cache, u64 least_ns, u64 now_ns)
{
	u64 vtime_ns = running_vtime_ns(cpu, now_ns);
	u64 clock_ns = running_price_clock_ns(cpu, cache, now_ns);

	if (least_ns != VTIME_MAX && (cpu->has_yielded || clock_ns >= least_ns))
		return false;

	u64 forgiven_ns = lag_forgiven_ns(group_at(cpu, cache, cpu->group), vtime_ns, cpu->weight);

	cpu->has_yielded = false;
	cpu->vtime_ns = ek_add(cpu->vtime_ns, forgiven_ns);
	ek_note_least(cpu_id, cpu->group, vtime_ns + forgiven_ns, now_ns);
	set_slice(prev, least_ns == VTIME_MAX ? slice_alone_ns(cpu->weight) :
						slice_ns(cpu->weight, cpu->cache, cache, now_ns));
	return true;
}

static bool dispatch_from_other_caches(const struct ek_cpu *cpu)
{
	u32 own = cpu->cache, cache = own;
	int i;

	bpf_for(i, 1, EK_CACHES_MAX) {
		cache = cache + 1 < config.caches ? cache + 1 : 0;
		if (cache == own)
			break;
		if (dispatch_from(DSQ_STARVED | cache) || dispatch_any(cache, cpu)) {
			count(EK_DISPATCHED_OTHER_CACHE);
			return true;
		}
	}
	return false;
}

/* The tasks that a CPU picks from. */
struct heads {
	/* The DSQ of the cache whose head goes first. */
	u64 shared;
	/* That head and the head of the pinned tasks, on the CPU clock with prices. */
	u64 shared_ns;
	u64 pinned_ns;
	/* Virtual times of these heads in their groups. */
	u64 shared_vtime_ns;
	u64 pinned_vtime_ns;
	/* Level and weight of the head of the pinned tasks. */
	u32 pinned_level;
	u32 pinned_weight;
	/* Whether the previous task is still runnable. */
	bool prev_runnable;
};

/* Dispatches the lesser of the two heads, if that task is still queued. */
static bool dispatch_least(u32 cpu_id, struct ek_cpu *cpu, const struct heads *heads)
{
	bool is_pinned_head = heads->pinned_ns < heads->shared_ns;

	cpu->is_least = is_pinned_head ?
				ek_dispatch_head(cpu_id, DSQ_CPU | cpu_id, heads->pinned_vtime_ns) :
				ek_dispatch_head(cpu_id, heads->shared, heads->shared_vtime_ns);
	count(cpu->is_least ? EK_DISPATCHED : EK_HEAD_GONE);
	return cpu->is_least;
}

/* The level of the task that would run next. */
static u32 next_level(struct ek_cpu *cpu, const struct heads *heads, u64 now_ns)
{
	u64 least_ns = ek_min(heads->shared_ns, heads->pinned_ns);
	u64 clock_ns = ek_add(running_clock_ns(cpu, now_ns), price_ns(cpu, cpu->running_class));

	if (heads->prev_runnable && clock_ns < least_ns)
		return cpu->running_class;
	if (least_ns == VTIME_MAX)
		return 0;
	return heads->pinned_ns < heads->shared_ns ? heads->pinned_level :
						     class_of_dsq(heads->shared);
}

/*
 * Drops heads of refused levels, to repay the task on a sibling. Returns whether the CPU
 * is forced idle: no task of a lower level is left, or only one that goes so late that
 * the refused task would starve behind such tasks. Not inline, since the stack of a BPF
 * program has 512 bytes.
 */
static __noinline bool forces_idle(struct task_struct *prev, u32 cpu_id, struct ek_cpu *cpu,
				   struct ek_cache *cache, struct heads *heads)
{
	struct ek_siblings *siblings = &cpu->siblings;
	u64 now_ns = scx_bpf_now();
	bool was_least = heads->pinned_ns < heads->shared_ns;
	u64 refused = was_least ? DSQ_CPU | cpu_id : heads->shared;

	if (!is_refused(siblings, next_level(cpu, heads, now_ns)))
		return false;

	bool prev_runnable = heads->prev_runnable;
	bool prev_refused = is_refused(siblings, cpu->running_class);
	u64 prev_ns = prev_runnable ? running_clock_ns(cpu, now_ns) : VTIME_MAX;
	u64 last_ns = ek_min(prev_ns, ek_min(heads->pinned_ns, heads->shared_ns));

	last_ns = ek_add(last_ns, EK_MIX_PRICE_MAX_NS);
	if (is_refused(siblings, heads->pinned_level))
		heads->pinned_ns = VTIME_MAX;
	heads->shared = least_of(cpu_id, cpu, cache, siblings->idle_from_level, &heads->shared_ns);
	heads->shared_vtime_ns = cpu->least_vtime_ns;
	heads->prev_runnable = prev_runnable && !prev_refused;
	if (heads->prev_runnable && prev_ns <= last_ns)
		return false;
	if (ek_min(heads->pinned_ns, heads->shared_ns) <= last_ns)
		return false;
	if (prev_runnable && prev_refused && prev)
		force_idle(cpu_id, cpu, prev, now_ns);
	else
		force_idle_for_head(cpu_id, cpu, refused, now_ns);
	return true;
}

/* The group of the least task that waits. */
static const struct ek_group *waiting_group(struct ek_cpu *cpu, struct ek_cache *cache,
					    const struct heads *heads)
{
	if (heads->pinned_ns < heads->shared_ns)
		return &cpu->pinned;
	return group_at(cpu, cache, group_of_dsq(heads->shared));
}

/* Whether a CPU of a task's affinity mask idles. */
static bool may_use_idle_cpu(const struct task_struct *p)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	bool may = is_true(bpf_cpumask_intersects(idle, p->cpus_ptr));

	scx_bpf_put_idle_cpumask(idle);
	return may;
}

/*
 * Whether the previous task migrates, even with the least virtual time, since a task
 * waits that may run on fewer CPUs. The previous task goes to an idle CPU; or, if it is
 * worth more than one CPU, begins a chain of migrations; or else it preempts a running task
 * that is ahead of it, and whose group's virtual time passes faster than that of the
 * waiting task's group, which thus gets less CPU time.
 */
static bool migrates_prev(struct task_struct *prev, u32 cpu_id, struct ek_cpu *cpu,
			  struct ek_cache *cache, const struct heads *heads, u64 now_ns)
{
	u32 other = cpu->next_in_cache, number = cpu->group, best = cpu_id;
	u64 waiting_ns = ek_min(heads->pinned_ns, heads->shared_ns);

	/* Where a wide task may go is a question of kinds. */
	if (config.specialization && cpu->running_class == EK_TASK_WIDE)
		return false;
	/* A waiting task that may use every CPU of the cache finds the other CPU by itself. */
	if (waiting_ns == VTIME_MAX || number >= EK_GROUPS || has_just_begun(cpu, now_ns) ||
	    (heads->pinned_ns == VTIME_MAX && has_one_dsq(cache)))
		return false;

	if (may_use_idle_cpu(prev))
		return true;
	/* A chain takes dispatches from starved tasks. */
	if (is_capped(cpu, now_ns))
		return !config.specialization && !cache->has_starved &&
		       ek_start_push_chain(cpu_id, waiting_ns,
					   heads->pinned_ns < heads->shared_ns ?
						   heads->pinned_weight :
						   cpu->least_weight,
					   now_ns);

	u64 vtime_ns = running_vtime_ns(cpu, now_ns);
	u64 least_ns = ek_rate_above_ns(rate_at_ns(waiting_group(cpu, cache, heads), now_ns));

	for (u32 i = 1; i < WAKE_SCAN_MAX && other != cpu_id; i++) {
		const struct ek_cpu *theirs = cpu_of(other);

		if (!theirs)
			return false;
		if (bpf_cpumask_test_cpu(other, prev->cpus_ptr)) {
			u64 rate_ns =
				ek_preempt_rate_ns(other, number, vtime_ns, cpu->weight, now_ns);

			if (rate_ns > ek_add(least_ns, 1)) {
				least_ns = rate_ns;
				best = other;
			}
		}
		other = theirs->next_in_cache;
	}
	if (best == cpu_id)
		return false;
	preempt_cpu(best);
	return true;
}

/*
 * Whether the previous task leaves since it does not suit the core: it must, or it is narrow
 * on a wide core and a narrow CPU idles (D 6.2.1).
 */
static bool goes_home(struct task_struct *prev, u32 cpu_id, const struct ek_cpu *cpu,
		      const struct ek_cache *cache, u64 now_ns)
{
	if (!specializes(now_ns))
		return false;

	u32 rank = rank_on(cpu, cache, cpu->running_class, cpu->group);

	if (rank != 1 || !cpu->is_wide || may_not_migrate(prev))
		return rank == 2;
	return find_idle_cpu(prev, near_home(cpu, cpu_id, EK_TASK_NARROW), cpu->group, 2, now_ns) >=
	       0;
}

/* Picks from the heads and the previous task. Returns whether the dispatch is done. */
static bool pick_next(struct task_struct *prev, u32 cpu_id, struct ek_cpu *cpu,
		      struct ek_cache *cache, struct heads *heads)
{
	u64 now_ns = scx_bpf_now();

	heads->shared = least_of(cpu_id, cpu, cache, EK_LEVELS_MAX, &heads->shared_ns);
	heads->shared_vtime_ns = cpu->least_vtime_ns;
	if (config.parts && cpu->siblings.runs && forces_idle(prev, cpu_id, cpu, cache, heads))
		return true;
	if (config.parts && heads->prev_runnable && prev &&
	    ek_min(heads->shared_ns, heads->pinned_ns) == VTIME_MAX &&
	    ((cpu->siblings.runs && starts_swap(prev, cpu_id, cpu, now_ns)) ||
	     forces_switch_out(prev, cpu_id, cpu, now_ns)))
		return true;
	if (heads->prev_runnable && prev && !goes_home(prev, cpu_id, cpu, cache, now_ns) &&
	    !migrates_prev(prev, cpu_id, cpu, cache, heads, now_ns) &&
	    keeps_running(prev, cpu_id, cpu, cache, ek_min(heads->shared_ns, heads->pinned_ns),
			  now_ns)) {
		count(EK_KEPT);
		/* Charges the task now, so that its loss is repaid while the task goes on. */
		if (config.parts && class_matters(now_ns)) {
			charge(prev, cpu_id, cpu, true);
			begin(prev, cpu_id, cpu, now_ns);
		}
		return true;
	}
	if (ek_min(heads->pinned_ns, heads->shared_ns) == VTIME_MAX)
		return false;
	return dispatch_least(cpu_id, cpu, heads);
}

/* Whether tasks may wait in the DSQs of a cache, for any of its CPUs. */
static bool may_hold_tasks(u32 cache_id)
{
	const struct ek_cache *cache = cache_of(cache_id);

	if (!cache || (has_one_dsq(cache) && dsq_is_empty(dsq_of(cache_id, 0, EK_GROUP_WHOLE)) &&
		       !cache->has_starved))
		return false;
	return waiting(cache_id, cache) > 0 || !dsq_is_empty(DSQ_STARVED | cache_id);
}

/* Whether tasks may wait in the DSQs of another cache. */
static bool other_caches_may_hold_tasks(u32 own)
{
	bool may = false;
	int i;

	bpf_for(i, 0, (int)config.caches) {
		if ((u32)i != own && may_hold_tasks(i)) {
			may = true;
			break;
		}
	}
	return may;
}

/* Whether no task waits in the DSQs of a CPU and of its cache. */
static bool has_nothing_queued(u32 cpu_id, const struct ek_cpu *cpu, const struct ek_cache *cache)
{
	return !cpu->has_pinned && !cache->has_starved && has_one_dsq(cache) &&
	       dsq_is_empty(dsq_of(cpu->cache, 0, EK_GROUP_WHOLE)) &&
	       dsq_is_empty(SCX_DSQ_LOCAL_ON | cpu_id);
}

#endif

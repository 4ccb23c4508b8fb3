/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which task does a CPU run next, or is the CPU forced idle?
 *
 * The task that ran, the head of the CPU's own queue and those of the cache's
 * are compared on the CPU's clock, with prices. The head of a queue is its first
 * task that may run here.
 */
#ifndef EVENKEEL_CHOOSE_BPF_H
#define EVENKEEL_CHOOSE_BPF_H

#include "compensate.bpf.h"

/* Bits of the groups whose tasks may run on a CPU. */
static u32 groups_allowed(const struct ek_cpu *cpu)
{
	return cpu->groups | 1U << EK_GROUP_WHOLE | 1U << EK_GROUP_MIXED;
}

/* Bits of these groups in whose queues of a class tasks may wait. */
static u32 groups_here(const struct ek_cpu *cpu, const struct ek_cache *cache, u32 class)
{
	return groups_allowed(cpu) & groups_of(cache, class);
}

/* The head of a CPU's own queue, with the price of its level. */
static u64 head_of_own(u32 index, const struct ek_cpu *cpu, u32 *level)
{
	u64 queue = OF_CPU | index, head_ns = ek_head_ns(index, EK_GROUP_OWN, queue);
	struct task_struct *p;

	if (!config.parts || !cpu->around.runs || head_ns == NEVER)
		return head_ns;
	bpf_for_each(scx_dsq, p, queue, 0) {
		*level = class_of(p, scx_bpf_now());
		break;
	}
	return ek_add(head_ns, price_ns(cpu, *level));
}

/* The CPU is forced idle though the head of a queue waits. */
static void be_quiet_for_head(u32 index, struct ek_cpu *cpu, u64 queue, u64 now_ns)
{
	struct task_struct *p;

	bpf_for_each(scx_dsq, p, queue, 0) {
		be_quiet(index, cpu, p, now_ns);
		break;
	}
}

static bool take(u64 queue)
{
	return !is_empty(queue) && scx_bpf_dsq_move_to_local(queue);
}

/*
 * Takes the first task of a queue that may run on a CPU, unless another CPU took the
 * one that was compared: ticks come at one time on all CPUs, which then compare the
 * same task, and whichever is second would run one that goes after its own.
 */
__noinline bool ek_take_head(u32 index, u64 queue, u64 vtime_ns)
{
	struct task_struct *p;
	u32 passes = 0;
	bool took = false;

	bpf_for_each(scx_dsq, p, queue, 0) {
		if (!may_run(p, index)) {
			if (++passes < PASSES_MAX)
				continue;
			break;
		}
		if (p->scx.dsq_vtime <= vtime_ns)
			took = scx_bpf_dsq_move(&___it, p, SCX_DSQ_LOCAL, 0);
		break;
	}
	return took;
}

/* Whether a task of a queue may run on a CPU. */
__noinline bool ek_has_head(u32 index, u64 queue)
{
	struct task_struct *p;
	u32 passes = 0;
	bool has = false;

	if (is_empty(queue))
		return false;
	bpf_for_each(scx_dsq, p, queue, 0) {
		has = may_run(p, index);
		if (has || ++passes >= PASSES_MAX)
			break;
	}
	return has;
}

/* Notes the head of a queue if that task goes before the least noted so far. */
static void note_head(u32 index, struct ek_cpu *cpu, u32 class, u32 group)
{
	u64 queue = queue_of(cpu->cache, class, group);
	u64 head_ns = ek_add(ek_head_ns(index, group, queue), price_ns(cpu, class));

	if (head_ns >= cpu->least_ns)
		return;
	cpu->least_ns = head_ns;
	cpu->least_queue = queue;
	cpu->least_weight = cpu->head_weight;
	cpu->least_vtime_ns = cpu->head_vtime_ns;
}

/* Notes the least of the heads of a class. */
__noinline int ek_note_heads(u32 index, u32 class)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u32 groups = cache ? groups_here(cpu, cache, class) : 0;
	int group;

	if (groups & 1U << EK_GROUP_WHOLE)
		note_head(index, cpu, class, EK_GROUP_WHOLE);
	if (groups >> EK_GROUP_SETS == 0)
		return 0;
	bpf_for(group, EK_GROUP_SETS, EK_GROUPS) {
		if (groups >> group & 1)
			note_head(index, cpu, class, group);
	}
	return 0;
}

/*
 * The queue of a cache whose head goes first here, of levels below a limit; `least_ns`
 * is the virtual time of that head on the CPU's clock, with the price of its level.
 */
static u64 least_of(u32 index, struct ek_cpu *cpu, const struct ek_cache *cache, u32 below,
		    u64 *least_ns)
{
	cpu->least_queue = queue_of(cpu->cache, 0, EK_GROUP_WHOLE);
	cpu->least_ns = NEVER;
	for (u32 class = 0; class < EK_LEVELS_MAX && class < cache->classes && class < below;
	     class++)
		ek_note_heads(index, class);
	*least_ns = cpu->least_ns;
	return cpu->least_queue;
}

/* The lesser of the least of a cache and the head that was read last. */
static u64 take_lesser(struct ek_cpu *cpu, u64 least_ns, u64 head_ns)
{
	if (head_ns >= least_ns)
		return least_ns;
	cpu->least_weight = cpu->head_weight;
	return head_ns;
}

/* Takes any task of a class of a cache that may run here. */
__noinline bool ek_take_any(u32 index, u32 class)
{
	const struct ek_cache *cache = cache_of(index);
	u32 groups = cache ? groups_of(cache, class) : 0;
	int group;

	bpf_for(group, 0, EK_GROUPS) {
		if ((groups >> group & 1) && take(queue_of(index, class, group)))
			return true;
	}
	return false;
}

/* Takes any task of a cache that may run here. */
static bool take_any(u32 index)
{
	struct ek_cache *cache = cache_of(index);

	for (u32 class = 0; cache && class < EK_LEVELS_MAX && class < cache->classes; class++) {
		if (ek_take_any(index, class))
			return true;
	}
	return false;
}

/*
 * Takes a starved task. The mark stays while the queue holds any: starved tasks that
 * may not run here wait for another CPU.
 */
static bool take_aged(u32 index, struct ek_cache *cache)
{
	if (!cache->has_aged)
		return false;
	if (take(OF_AGED | index))
		return true;
	/* Only the starvation timer adds to this queue, and sets the mark afterwards. */
	if (is_empty(OF_AGED | index))
		cache->has_aged = false;
	return false;
}

/* The task that ran goes on unless a waiting task goes first. */
static bool keeps(struct task_struct *prev, u32 index, struct ek_cpu *cpu, struct ek_cache *cache,
		  u64 least_ns, u64 now_ns)
{
	u64 vtime_ns = running_vtime_ns(cpu, now_ns);
	u64 clock_ns = ek_add(running_clock_ns(cpu, now_ns), price_ns(cpu, cpu->runs_level));

	if (least_ns != NEVER && (cpu->has_yielded || clock_ns >= least_ns))
		return false;

	u64 forgiven_ns =
		lag_forgiven_ns(group_at(cpu, cache, cpu->group), vtime_ns, cpu->weight);

	cpu->has_yielded = false;
	cpu->vtime_ns = ek_add(cpu->vtime_ns, forgiven_ns);
	ek_note_least(index, cpu->group, vtime_ns + forgiven_ns, now_ns);
	set_slice(prev, least_ns == NEVER ? slice_alone_ns(cpu->weight) :
					    slice_ns(cpu->weight, cpu->cache, cache, now_ns));
	return true;
}

static bool take_from_others(u32 own)
{
	u32 cache = own;
	int i;

	bpf_for(i, 1, EK_CACHES_MAX) {
		cache = cache + 1 < config.caches ? cache + 1 : 0;
		if (cache == own)
			break;
		if (take(OF_AGED | cache) || take_any(cache)) {
			count(EK_TOOK_OTHER_CACHE);
			return true;
		}
	}
	return false;
}

/* The tasks that a CPU may choose from. */
struct choice {
	/* The queue of the cache that goes first; its head and that of the CPU's own queue. */
	u64 shared;
	u64 shared_ns;
	u64 own_ns;
	/* Virtual times of these heads in their groups. */
	u64 shared_vtime_ns;
	u64 own_vtime_ns;
	/* Of the own head. */
	u32 own_level;
	/* Whether the task that ran may go on. */
	bool goes_on;
};

/* Takes the first of the two heads, if that task is still queued. */
static bool take_least(u32 index, struct ek_cpu *cpu, const struct choice *choice)
{
	bool own = choice->own_ns < choice->shared_ns;

	cpu->is_least =
		own ? ek_take_head(index, OF_CPU | index, choice->own_vtime_ns) :
		      ek_take_head(index, choice->shared, choice->shared_vtime_ns);
	count(cpu->is_least ? EK_TOOK : EK_PASSED_OVER);
	return cpu->is_least;
}

/* The level of the task that would run next. */
static u32 next_level(struct ek_cpu *cpu, const struct choice *choice, u64 now_ns)
{
	u64 least_ns = ek_min(choice->shared_ns, choice->own_ns);
	u64 clock_ns = ek_add(running_clock_ns(cpu, now_ns), price_ns(cpu, cpu->runs_level));

	if (choice->goes_on && clock_ns < least_ns)
		return cpu->runs_level;
	if (least_ns == NEVER)
		return 0;
	return choice->own_ns < choice->shared_ns ? choice->own_level :
						    class_of_queue(choice->shared);
}

/*
 * Takes refused levels out of the choice, to repay the task beside. Returns whether the
 * CPU is forced idle: no task of a lower level is left, or only one that goes so late
 * that the refused task would starve behind such tasks. Not inline, since the stack of
 * a BPF program has 512 bytes.
 */
static __noinline bool refuses(struct task_struct *prev, u32 index, struct ek_cpu *cpu,
			       struct ek_cache *cache, struct choice *choice)
{
	struct ek_around *around = &cpu->around;
	u64 now_ns = scx_bpf_now();
	bool was_least = choice->own_ns < choice->shared_ns;
	u64 refused = was_least ? OF_CPU | index : choice->shared;

	if (!is_refused(around, next_level(cpu, choice, now_ns)))
		return false;

	bool goes_on = choice->goes_on, prev_refused = is_refused(around, cpu->runs_level);
	u64 prev_ns = goes_on ? running_clock_ns(cpu, now_ns) : NEVER;
	u64 last_ns = ek_min(prev_ns, ek_min(choice->own_ns, choice->shared_ns));

	last_ns = ek_add(last_ns, EK_MIX_WHOLE_NS);
	if (is_refused(around, choice->own_level))
		choice->own_ns = NEVER;
	choice->shared = least_of(index, cpu, cache, around->quiet_from, &choice->shared_ns);
	choice->shared_vtime_ns = cpu->least_vtime_ns;
	choice->goes_on = goes_on && !prev_refused;
	if (choice->goes_on && prev_ns <= last_ns)
		return false;
	if (ek_min(choice->own_ns, choice->shared_ns) <= last_ns)
		return false;
	if (goes_on && prev_refused && prev)
		be_quiet(index, cpu, prev, now_ns);
	else
		be_quiet_for_head(index, cpu, refused, now_ns);
	return true;
}

/* The group of the least task that waits. */
static const struct ek_group *waiting_group(struct ek_cpu *cpu, struct ek_cache *cache,
					    const struct choice *choice)
{
	if (choice->own_ns < choice->shared_ns)
		return &cpu->bound;
	return group_at(cpu, cache, group_of_queue(choice->shared));
}

/* Whether a CPU that a task may use idles. */
static bool may_use_idle(const struct task_struct *p)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	bool may = is_true(bpf_cpumask_intersects(idle, p->cpus_ptr));

	scx_bpf_put_idle_cpumask(idle);
	return may;
}

/*
 * Whether the task that ran moves to another CPU, even as the least here, since a task
 * waits that may run on fewer CPUs. The former moves to an idle CPU; or to a CPU whose
 * running task is ahead of the moving one, and is of a group whose virtual time passes
 * faster than that of the task that waits here, which thus deserves a CPU more. That
 * CPU is interrupted.
 */
static bool moves_on(struct task_struct *prev, u32 index, struct ek_cpu *cpu,
		     struct ek_cache *cache, const struct choice *choice, u64 now_ns)
{
	u32 other = cpu->next, number = cpu->group, best = index;

	/* Tasks that may go everywhere find the other CPU themselves. */
	if (ek_min(choice->own_ns, choice->shared_ns) == NEVER || number >= EK_GROUPS ||
	    !ek_preempt_at_once(ek_sub(now_ns, cpu->came_ns)) ||
	    (choice->own_ns == NEVER && has_one_queue(cache)))
		return false;

	if (may_use_idle(prev))
		return true;

	u64 vtime_ns = running_vtime_ns(cpu, now_ns);
	u64 least_ns = ek_rate_of_more_ns(rate_at_ns(waiting_group(cpu, cache, choice), now_ns));

	for (u32 i = 1; i < WAKE_LOOKS_MAX && other != index; i++) {
		const struct ek_cpu *theirs = cpu_of(other);

		if (!theirs)
			return false;
		if (bpf_cpumask_test_cpu(other, prev->cpus_ptr)) {
			u64 rate_ns = ek_gives_way(other, number, vtime_ns, cpu->weight, now_ns);

			if (rate_ns > ek_add(least_ns, 1)) {
				least_ns = rate_ns;
				best = other;
			}
		}
		other = theirs->next;
	}
	if (best == index)
		return false;
	interrupt(best);
	return true;
}

/* Chooses among the heads and the task that ran; whether the dispatch is done. */
static bool choose(struct task_struct *prev, u32 index, struct ek_cpu *cpu, struct ek_cache *cache,
		   struct choice *choice)
{
	u64 now_ns = scx_bpf_now();

	choice->shared = least_of(index, cpu, cache, EK_LEVELS_MAX, &choice->shared_ns);
	choice->shared_vtime_ns = cpu->least_vtime_ns;
	if (config.parts && cpu->around.runs && refuses(prev, index, cpu, cache, choice))
		return true;
	if (config.parts && choice->goes_on && prev &&
	    ek_min(choice->shared_ns, choice->own_ns) == NEVER &&
	    ((cpu->around.runs && swaps(prev, index, cpu, now_ns)) ||
	     airs(prev, index, cpu, now_ns)))
		return true;
	if (choice->goes_on && prev && !moves_on(prev, index, cpu, cache, choice, now_ns) &&
	    keeps(prev, index, cpu, cache, ek_min(choice->shared_ns, choice->own_ns), now_ns)) {
		count(EK_KEPT);
		/* Charged now, so that its loss is known and repaid while the task goes on. */
		if (config.parts && matters(now_ns)) {
			charge(prev, index, cpu, true);
			begin(prev, index, cpu, now_ns);
		}
		return true;
	}
	if (ek_min(choice->own_ns, choice->shared_ns) == NEVER)
		return false;
	return take_least(index, cpu, choice);
}

/* Whether any task may wait in the queues of a cache, for whichever CPU. */
static bool may_hold_tasks(u32 index)
{
	const struct ek_cache *cache = cache_of(index);

	if (!cache || (has_one_queue(cache) && is_empty(queue_of(index, 0, EK_GROUP_WHOLE)) &&
		       !cache->has_aged))
		return false;
	return waiting(index, cache) > 0 || !is_empty(OF_AGED | index);
}

/* Whether a task may wait in the queues of another cache. */
static bool others_may_hold_tasks(u32 own)
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

/* Whether no task waits in the queues of a CPU and of its cache. */
static bool has_no_choice(u32 index, const struct ek_cpu *cpu, const struct ek_cache *cache)
{
	return !cpu->has_own && !cache->has_aged && has_one_queue(cache) &&
	       is_empty(queue_of(cpu->cache, 0, EK_GROUP_WHOLE)) &&
	       is_empty(SCX_DSQ_LOCAL_ON | index);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which task goes next on a CPU, or does it stay quiet?
 *
 * The task that ran, the head of the CPU's own queue and those of the cache's
 * are compared by virtual time and price. Of a queue nothing but its head is
 * looked at.
 */
#ifndef EVENKEEL_CHOOSE_BPF_H
#define EVENKEEL_CHOOSE_BPF_H

#include "compensate.bpf.h"

/* The head of a CPU's own queue, with what its level costs beside others. */
static u64 head_of_own(u32 index, const struct ek_cpu *cpu, u32 *level)
{
	struct task_struct *p;
	u64 vtime_ns = NEVER;

	if (!config.parts || !cpu->around.runs)
		return head_ns(OF_CPU | index);
	bpf_for_each(scx_dsq, p, OF_CPU | index, 0) {
		*level = class_of(p, scx_bpf_now());
		vtime_ns = ek_add(p->scx.dsq_vtime, price_ns(cpu, *level));
		break;
	}
	return vtime_ns;
}

/* The CPU stays quiet though the head of a queue waits. */
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
	return scx_bpf_dsq_nr_queued(queue) > 0 && scx_bpf_dsq_move_to_local(queue);
}

/*
 * The queue of a cache whose head goes first here, of levels below a limit, and
 * that of its head: its virtual time, and what its level costs beside others.
 */
static u64 least_of(const struct ek_cpu *cpu, const struct ek_cache *cache, u32 below,
		    u64 *least_ns)
{
	u64 least = queue_of(cpu->cache, 0);

	*least_ns = ek_add(head_ns(least), price_ns(cpu, 0));
	for (u32 class = 1; class < EK_LEVELS_MAX && class < cache->classes && class < below;
	     class++) {
		u64 queue = queue_of(cpu->cache, class);
		u64 vtime_ns = ek_add(head_ns(queue), price_ns(cpu, class));

		if (vtime_ns < *least_ns) {
			*least_ns = vtime_ns;
			least = queue;
		}
	}
	return least;
}

/* Any task of a cache that may run here, of any class. */
static bool take_any(u32 index)
{
	struct ek_cache *cache = cache_of(index);

	for (u32 class = 0; cache && class < EK_LEVELS_MAX && class < cache->classes; class++) {
		if (take(queue_of(index, class)))
			return true;
	}
	return false;
}

/* Those that have waited too long; the mark is set again while there may be more. */
static bool take_aged(u32 index, struct ek_cache *cache)
{
	if (!cache->has_aged)
		return false;
	cache->has_aged = false;
	if (!take(OF_AGED | index))
		return false;
	cache->has_aged = true;
	return true;
}

/* The task that ran goes on if none that waits goes before it. */
static bool keeps(struct task_struct *prev, struct ek_cpu *cpu, struct ek_cache *cache,
		  u64 least_ns, u64 now_ns)
{
	u64 vtime_ns = ek_add(running_vtime_ns(cpu, now_ns), price_ns(cpu, cpu->runs_level));

	if (least_ns != NEVER && (cpu->has_yielded || vtime_ns >= least_ns))
		return false;
	cpu->has_yielded = false;
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

/* What a CPU may choose from. */
struct choice {
	/* The queue of the cache that goes first, its own; and that of the heads. */
	u64 shared;
	u64 shared_ns;
	u64 own_ns;
	/* Of the own head. */
	u32 own_level;
	/* Whether the task that ran may go on. */
	bool goes_on;
};

/* Takes what goes first, of the cache or of the CPU alone. */
static bool take_least(u32 index, struct ek_cpu *cpu, const struct choice *choice)
{
	u64 own = OF_CPU | index, first = choice->own_ns < choice->shared_ns ? own : choice->shared;

	if (choice->own_ns == NEVER && choice->shared_ns == NEVER)
		return false;
	if (take(first)) {
		count(EK_TOOK);
		return true;
	}
	/* Another CPU was quicker, or none of the queue may run here. */
	count(EK_PASSED_OVER);
	return take(first == own ? choice->shared : own) || take_any(cpu->cache);
}

/* The level of what would come next. */
static u32 next_level(const struct ek_cpu *cpu, const struct choice *choice, u64 now_ns)
{
	u64 least_ns = ek_min(choice->shared_ns, choice->own_ns);
	u64 vtime_ns = ek_add(running_vtime_ns(cpu, now_ns), price_ns(cpu, cpu->runs_level));

	if (choice->goes_on && vtime_ns < least_ns)
		return cpu->runs_level;
	if (least_ns == NEVER)
		return 0;
	return choice->own_ns < choice->shared_ns ? choice->own_level :
						    class_of_queue(choice->shared);
}

/*
 * What is left to choose from where levels are refused for what runs beside;
 * whether that is nothing, or so late that who is refused would starve, and the
 * CPU stays quiet. Not inline, for the sake of the stack, of which there are
 * 512 bytes.
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
	u64 prev_ns = goes_on ? running_vtime_ns(cpu, now_ns) : NEVER;
	u64 last_ns = ek_min(prev_ns, ek_min(choice->own_ns, choice->shared_ns));

	last_ns = ek_add(last_ns, EK_MIX_WHOLE_NS);
	if (is_refused(around, choice->own_level))
		choice->own_ns = NEVER;
	choice->shared = least_of(cpu, cache, around->quiet_from, &choice->shared_ns);
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

/* A choice whose parts were looked at. */
static bool choose(struct task_struct *prev, u32 index, struct ek_cpu *cpu, struct ek_cache *cache,
		   struct choice *choice)
{
	u64 now_ns = scx_bpf_now();

	choice->shared = least_of(cpu, cache, EK_LEVELS_MAX, &choice->shared_ns);
	if (config.parts && cpu->around.runs && refuses(prev, index, cpu, cache, choice))
		return true;
	if (config.parts && choice->goes_on && prev &&
	    ek_min(choice->shared_ns, choice->own_ns) == NEVER &&
	    ((cpu->around.runs && swaps(prev, index, cpu, now_ns)) ||
	     airs(prev, index, cpu, now_ns)))
		return true;
	if (choice->goes_on && prev &&
	    keeps(prev, cpu, cache, ek_min(choice->shared_ns, choice->own_ns), now_ns)) {
		count(EK_KEPT);
		/* What it lost is known, and repaid, while it goes on. */
		if (config.parts && matters(now_ns)) {
			charge(prev, index, cpu, true);
			begin(prev, index, cpu, now_ns);
		}
		return true;
	}
	return take_least(index, cpu, choice);
}

#endif

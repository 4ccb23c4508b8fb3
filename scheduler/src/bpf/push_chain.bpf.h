/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which running tasks migrate, one to the CPU of the next, so that a waiting task gets a CPU?
 *
 * A task whose weight is worth more than one CPU is behind its CPU clock for good, and
 * no waiting task goes before it. If it may run on another CPU, it loses nothing there:
 * it preempts the running task of that CPU, which may do the same with a third CPU.
 * So the waiting task may get a CPU at the cost of a task that it shares no CPU with.
 * Whether it deserves a CPU more than that task is compared on the clock of the cache,
 * to which each CPU clock is anchored (docs/decisions/0030).
 *
 * Each task of a chain is dispatched directly to the local DSQ of the next CPU: in a shared
 * DSQ it would be the least on every CPU, and the first CPU to dispatch would take it.
 */
#ifndef EVENKEEL_PUSH_CHAIN_BPF_H
#define EVENKEEL_PUSH_CHAIN_BPF_H

#include "vtime.bpf.h"

/* The longest chain; our choice. */
#define CHAIN_MIGRATIONS_MAX 4
/* A number of a CPU in a chain, as an index that the verifier knows to be in bounds. */
#define CHAIN_INDEX(number) ((number) & (EK_CHAIN_CPUS - 1))

/*
 * Whether the running task of a CPU is worth more than a CPU: behind the CPU clock by
 * more than the limit of lags, which a task that shares the CPU never is for long.
 */
static bool is_capped(struct ek_cpu *cpu, u64 now_ns)
{
	u64 limit_ns = ek_lag_limit_ns(config.slice_ns, cpu->weight);

	return cpu->weight && ek_add(running_clock_ns(cpu, now_ns), limit_ns) < cpu->clock_ns;
}

/* Fills in the CPUs and the groups of their running tasks. */
static void read_chain(u32 cpu_id, struct ek_chain *chain, u64 now_ns)
{
	u32 other = cpu_id;

	chain->length = 0;
	chain->from = 0;
	for (u32 number = 0; number < EK_CHAIN_CPUS; number++) {
		struct ek_cpu *cpu = cpu_of(other);

		if (!cpu)
			return;
		chain->cpus[number] = other;
		chain->groups[number] = EK_GROUP_PINNED;
		if (cpu->group < EK_GROUP_MIXED && is_capped(cpu, now_ns))
			chain->groups[number] = cpu->group;
		chain->length = number + 1;
		other = cpu->next_in_cache;
		if (other == cpu_id)
			return;
	}
}

/* Reaches a CPU from the first of the CPUs that were reached last whose task may migrate there. */
static void reach_cpu(struct ek_chain *chain, u32 to, u64 now_ns)
{
	const struct ek_cpu *cpu = cpu_of(chain->cpus[to]);

	if (!cpu || chain->reached >> to & 1 || cpu->weight == 0 || cpu->preempt_requested ||
	    (!cpu->runs_least && has_just_begun(cpu, now_ns)))
		return;
	for (u32 from = 0; from < EK_CHAIN_CPUS; from++) {
		u32 group = chain->groups[from];

		if (!(chain->last >> from & 1) || group >= EK_GROUP_MIXED ||
		    !(groups_allowed(cpu) >> group & 1))
			continue;
		chain->next |= 1U << to;
		chain->from |= from << 4 * to;
		return;
	}
}

/* Notes the CPUs that a chain may end at. */
static void reach(struct ek_chain *chain, u64 now_ns)
{
	chain->reached = 1;
	chain->last = 1;
	for (u32 migrations = 0; migrations < CHAIN_MIGRATIONS_MAX && chain->last; migrations++) {
		chain->next = 0;
		for (u32 to = 1; to < EK_CHAIN_CPUS && to < chain->length; to++)
			reach_cpu(chain, to, now_ns);
		chain->reached |= chain->next;
		chain->last = chain->next;
	}
}

/* Where a virtual time on the CPU clock is on the clock of the cache. */
static u64 cache_clock_ns(const struct ek_cpu *cpu, u64 clock_ns)
{
	return ek_anchor_clock_ns(&cpu->cache_anchor, clock_ns);
}

/*
 * The number of the CPU whose running task is furthest ahead of a waiting task; 0: none is
 * by more than the granularity. The CPU clocks are anchored anew where they are further apart
 * than the limit of lags, since the difference may be from before a chain was possible.
 */
static u32 end_of_chain(struct ek_cpu *first, const struct ek_chain *chain, u64 wanted_ns,
			u32 weight, u64 now_ns)
{
	u64 most_ns = cache_clock_ns(first, wanted_ns);
	u64 here_ns = cache_clock_ns(first, first->clock_ns);
	u32 end = 0;

	wanted_ns = most_ns;
	for (u32 number = 1; number < EK_CHAIN_CPUS && number < chain->length; number++) {
		struct ek_cpu *cpu = cpu_of(chain->cpus[number]);

		if (!cpu || !(chain->reached >> number & 1))
			continue;

		/* Of the lighter task the limit, and of the heavier one the granularity. */
		u64 limit_ns = ek_lag_limit_ns(config.slice_ns, ek_min(weight, cpu->weight));
		u64 beyond_ns = ek_preempt_limit_ns(wanted_ns, config.wakeup_granularity_ns,
						    ek_max(weight, cpu->weight));

		ek_anchor_bound_ns(&cpu->cache_anchor, cpu->clock_ns, here_ns, limit_ns);

		u64 vtime_ns = cache_clock_ns(cpu, running_clock_ns(cpu, now_ns));

		if (vtime_ns > most_ns && ek_preempt(beyond_ns, vtime_ns)) {
			most_ns = vtime_ns;
			end = number;
		}
	}
	return end;
}

/*
 * Whether a chain begins with the running task of a CPU, for a task that waits there with
 * a virtual time on the CPU clock. The tasks of the chain migrate when they are enqueued.
 */
__noinline bool ek_start_push_chain(u32 cpu_id, u64 wanted_ns, u32 weight, u64 now_ns)
{
	struct ek_cpu *first = cpu_of(cpu_id);

	if (!first)
		return false;

	struct ek_chain *chain = &first->chain;

	read_chain(cpu_id, chain, now_ns);
	reach(chain, now_ns);

	u32 to = end_of_chain(first, chain, wanted_ns, weight, now_ns);

	if (to == 0)
		return false;
	for (u32 i = 0; i < CHAIN_MIGRATIONS_MAX && to > 0; i++) {
		u32 from = CHAIN_INDEX(chain->from >> 4 * CHAIN_INDEX(to));
		struct ek_cpu *cpu = cpu_of(chain->cpus[from]);

		if (!cpu)
			return false;
		cpu->push_to = chain->cpus[CHAIN_INDEX(to)] + 1;
		to = from;
	}
	return true;
}

/* Sends a task that is part of a chain to the local DSQ of the next CPU; whether it is one. */
static bool push(struct task_struct *p, struct ek_cpu *cpu, u32 weight, u64 enq_flags, u64 now_ns)
{
	struct ek_cache *cache = cache_of(cpu->cache);
	u32 to = cpu->push_to - 1;

	if (!cpu->push_to || !cache)
		return false;
	cpu->push_to = 0;
	if ((enq_flags & kernel_enum(scx_enq_flags, SCX_ENQ_WAKEUP)) || !may_run(p, to) ||
	    may_not_migrate(p))
		return false;
	count(EK_PUSHED);
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | to, slice_ns(weight, cpu->cache, cache, now_ns),
			   enq_flags | SCX_ENQ_PREEMPT);
	return true;
}

#endif

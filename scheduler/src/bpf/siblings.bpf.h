/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which levels run on siblings of a core, and on which CPU would a task cost less?
 *
 * All of this is skipped while no task is believed to demand a level above 0.
 */
#ifndef EVENKEEL_SIBLINGS_BPF_H
#define EVENKEEL_SIBLINGS_BPF_H

#include <evenkeel/mix.h>

#include "specialize.bpf.h"

/* Whether the additions of `even` to isolation can matter now. */
static bool is_even(u64 now_ns)
{
	return config.parts && wide_anywhere_until_ns > now_ns;
}

/*
 * Whether a task that would keep its CPU has a forced switch-out, since a sibling is
 * busy: its registers, which show its class, are only saved at a switch.
 */
static bool forces_switch_out(const struct task_struct *p, u32 cpu_id, struct ek_cpu *cpu,
			      u64 now_ns)
{
	cpu->forced_switch_out = (config.parts & EK_PART_FORCED_SWITCH_OUT) &&
				 (config.sensors & EK_SENSOR_REGISTERS) &&
				 !(p->flags & PF_KTHREAD) &&
				 ek_forces_switch_out(ek_sub(now_ns, cpu->on_cpu_since_ns)) &&
				 has_busy_sibling(cpu_id, cpu);
	return cpu->forced_switch_out;
}

/* For how long the siblings of a CPU are to be forced idle for its running task. */
static u64 wanted_forced_idle_ns(const struct ek_cpu *cpu)
{
	struct ek_deficit deficit = cpu->deficit;

	if (deficit.deficit_ns < EK_DEFICIT_MIN_NS)
		return 0;
	ek_deficit_repay(&deficit, cpu->siblings_idle_ns, cpu->gain_permille);
	return ek_deficit_forced_idle_ns(&deficit, cpu->gain_permille);
}

/* Reads the siblings of a CPU: highest level, whether any runs and all lead, forced idle. */
static void read_siblings(u32 cpu_id, struct ek_cpu *cpu, struct ek_siblings *siblings)
{
	struct ek_siblings nothing = {};
	u32 sibling = cpu->next_sibling;

	*siblings = nothing;
	for (u32 i = 1; i < SIBLINGS_MAX && sibling != cpu_id; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			return;
		if (other->weight > 0) {
			u64 forced_idle_ns = wanted_forced_idle_ns(other);
			u32 level = other->running_class;

			siblings->lead = (siblings->lead || !siblings->runs) &&
					 ek_alone_leads(&other->deficit);
			siblings->runs = 1;
			siblings->level = level > siblings->level ? level : siblings->level;
			if (forced_idle_ns > 0) {
				u32 from = siblings->idle_from_level ?: EK_LEVELS_MAX;

				siblings->forced_idle_ns =
					ek_max(siblings->forced_idle_ns, forced_idle_ns);
				siblings->idle_from_level = level + 1 < from ? level + 1 : from;
			}
		}
		sibling = other->next_sibling;
	}
}

static u32 loss_permille(const struct ek_cpu *cpu, u32 level, u32 sibling_level)
{
	return ek_mix_loss_permille(turbo_of(cpu), cpu->turbo_row, level, sibling_level);
}

/* Updates `siblings` of a CPU, before its next task is picked. */
__noinline int ek_update_siblings(u32 cpu_id, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);

	if (!cpu)
		return 0;

	struct ek_siblings *siblings = &cpu->siblings, nothing = {};

	if (!is_even(now_ns)) {
		if (siblings->runs)
			*siblings = nothing;
		return 0;
	}
	read_siblings(cpu_id, cpu, siblings);
	if (!(config.parts & EK_PART_REPAYMENT))
		siblings->idle_from_level = 0;
	if (!siblings->runs || !(config.parts & EK_PART_MATCHING))
		return 0;
	for (u32 level = 0; level < EK_LEVELS_MAX && level < config.classes; level++)
		siblings->price_ns[level] =
			ek_mix_price_ns(loss_permille(cpu, level, siblings->level));
	return 0;
}

/* Whether a CPU is forced idle for a level, to repay the task on a sibling. */
static bool is_refused(const struct ek_siblings *siblings, u32 level)
{
	return siblings->idle_from_level > 0 && level >= siblings->idle_from_level;
}

static u64 price_ns(const struct ek_cpu *cpu, u32 level)
{
	return level < EK_LEVELS_MAX ? cpu->siblings.price_ns[level] : 0;
}

/* --- Idle CPUs --- */

/*
 * The cost of a class on an idle CPU, to compare; EK_U32_MAX: forced idle for the level, or
 * never for the kind.
 */
__noinline u32 ek_idle_cost(u32 cpu_id, u32 level, u32 group, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct core *core = cpu ? core_of(cpu) : NULL;
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	struct ek_siblings siblings;

	if (!core || !cache)
		return EK_U32_MAX;
	if (config.specialization)
		return kind_idle_cost(cpu_id, cpu, cache, level, group);
	read_siblings(cpu_id, cpu, &siblings);
	if ((config.parts & EK_PART_REPAYMENT) && is_refused(&siblings, level))
		return EK_U32_MAX;

	struct ek_core_state state = {.is_busy = siblings.runs, .sibling_level = siblings.level};

	/* Tasks that lead may lose speed. */
	if (siblings.lead && level > siblings.level)
		state.sibling_level = level;

	for (u32 held = 1; held < EK_LEVELS_MAX; held++) {
		if (core->held_until_ns[held] > now_ns)
			state.held = held;
	}
	return ek_mix_idle_cost_permille(turbo_of(cpu), cpu->turbo_row, level, &state,
					 config.smt_share_permille);
}

/* The idle CPU of the cache that costs a task of a group least, and below a limit; -1: none. */
static s32 find_idle_cpu(struct task_struct *p, u32 near, u32 group, u32 limit, u64 now_ns)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	u32 cpu_id = near, least = limit, level = class_of(p, now_ns);
	s32 found = -1;
	int i;

	if (!is_true(bpf_cpumask_empty(idle))) {
		bpf_for(i, 0, CPU_SCAN_MAX) {
			struct ek_cpu *cpu = cpu_of(cpu_id);

			if (!cpu)
				break;
			if (bpf_cpumask_test_cpu(cpu_id, idle) &&
			    bpf_cpumask_test_cpu(cpu_id, p->cpus_ptr)) {
				u32 cost = ek_idle_cost(cpu_id, level, group, now_ns);

				if (cost < least) {
					least = cost;
					found = cpu_id;
				}
				if (cost == 0)
					break;
			}
			cpu_id = cpu->next_in_cache;
			if (cpu_id == near)
				break;
		}
	}
	scx_bpf_put_idle_cpumask(idle);
	return found;
}

/* Claims that CPU, at any cost. */
static s32 pick_idle_cpu(struct task_struct *p, u32 near, u32 group, u64 now_ns)
{
	s32 found = find_idle_cpu(p, near, group, EK_U32_MAX, now_ns);

	return found >= 0 && scx_bpf_test_and_clear_cpu_idle(found) ? found : -1;
}

/* Where a task that last ran on a CPU looks for another one: near it, or at cores of its kind. */
static u32 near_home(const struct ek_cpu *cpu, u32 cpu_id, u32 kind)
{
	const struct ek_cache *cache = cache_of(cpu->cache);

	if (!cache)
		return cpu_id;
	if (kind == EK_TASK_WIDE && !cpu->is_wide && cache->kinds.wide_cores > 0)
		return cache->wide_cpu;
	if (kind == EK_TASK_NARROW && cpu->is_wide && cache->kinds.narrow_cores > 0)
		return cache->narrow_cpu;
	return cpu_id;
}

/* --- Swaps --- */

/*
 * The gain, in permille of a CPU's speed, of a swap of the running tasks of two CPUs;
 * the second CPU may be idle. 0: no swap.
 */
__noinline u32 ek_swap_gain(u32 cpu_id, u32 to, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id), *other = cpu_of(to);
	struct core *core = other ? core_of(other) : NULL;
	struct ek_siblings siblings;

	if (!cpu || !core || other->core == cpu->core || core->no_swap_until_ns > now_ns ||
	    other->swap_to)
		return 0;

	bool runs = other->weight > 0;

	/* A CPU in forced idle repays the task on a sibling, and stays idle. */
	if (runs ? !other->has_full_affinity : other->forced_idle_since_ns > 0)
		return 0;
	read_siblings(to, other, &siblings);

	u32 level = cpu->running_class, here = cpu->siblings.level;
	u32 before = loss_permille(cpu, level, here);
	u32 after = siblings.runs ? loss_permille(cpu, level, siblings.level) : 0;

	if (runs) {
		before += siblings.runs ? loss_permille(cpu, other->running_class, siblings.level) :
					  0;
		after += loss_permille(cpu, other->running_class, here);
	}
	return ek_mix_swaps(before, after) ? before - after : 0;
}

/* Whether the task that loses speed beside the levels on the siblings of a CPU leads. */
static bool loser_leads(const struct ek_cpu *cpu)
{
	return cpu->running_class < cpu->siblings.level ? ek_alone_leads(&cpu->deficit) :
							  cpu->siblings.lead;
}

/*
 * Whether a CPU for which no task waits begins a swap: its task does not go on, and moves
 * to the other CPU when the kernel enqueues that task.
 */
static bool starts_swap(struct task_struct *p, u32 cpu_id, struct ek_cpu *cpu, u64 now_ns)
{
	struct core *core = core_of(cpu);
	u32 other = cpu->next_in_cache, best = 0, to = cpu_id;
	int i;

	if (!(config.parts & EK_PART_SWAPS) || !cpu->siblings.runs ||
	    cpu->siblings.level == cpu->running_class || loser_leads(cpu) || !core ||
	    core->no_swap_until_ns > now_ns || may_not_migrate(p))
		return false;
	bpf_for(i, 1, CPU_SCAN_MAX) {
		struct ek_cpu *theirs = cpu_of(other);

		if (!theirs || other == cpu_id)
			break;

		u32 gain = ek_swap_gain(cpu_id, other, now_ns);

		if (gain > best && bpf_cpumask_test_cpu(other, p->cpus_ptr)) {
			best = gain;
			to = other;
		}
		other = theirs->next_in_cache;
	}
	/* The core's next search is EK_MIX_SWAP_PAUSE_NS later, even if this one found no CPU. */
	core->no_swap_until_ns = ek_mix_no_swap_until_ns(now_ns);
	if (to == cpu_id)
		return false;

	struct ek_cpu *theirs = cpu_of(to);

	core = theirs ? core_of(theirs) : NULL;
	if (!core || (theirs->weight == 0 && !scx_bpf_test_and_clear_cpu_idle(to)))
		return false;
	core->no_swap_until_ns = ek_mix_no_swap_until_ns(now_ns);
	cpu->swap_to = to + 1;
	return true;
}

/* A task leaves its CPU: notes its pid if the task is part of a swap. */
static void note_swap(const struct task_struct *p, struct ek_cpu *cpu, bool runnable)
{
	if (!cpu->swap_to)
		return;
	cpu->swap_pid = p->pid;
	if (!runnable) {
		cpu->swap_to = 0;
		cpu->swap_is_second = 0;
	}
}

/*
 * Dispatches a task that has left its CPU for a swap to the other CPU, and returns whether
 * it did. The first task of the two preempts the second one, which then goes to the CPU
 * that the first one has left, unless a third task runs there already.
 */
static bool dispatch_swapped(struct task_struct *p, u32 cpu_id, struct ek_cpu *cpu, u64 enq_flags)
{
	u32 to = cpu->swap_to - 1, swap_is_second = cpu->swap_is_second;
	struct ek_cpu *theirs;

	if (!cpu->swap_to || cpu->swap_pid != (u32)p->pid)
		return false;
	cpu->swap_to = 0;
	cpu->swap_is_second = 0;
	theirs = cpu_of(to);
	if (!theirs || may_not_migrate(p) || !bpf_cpumask_test_cpu(to, p->cpus_ptr))
		return false;
	if (theirs->weight > 0) {
		if (swap_is_second || !theirs->has_full_affinity || theirs->swap_to)
			return false;
		theirs->swap_to = cpu_id + 1;
		theirs->swap_is_second = 1;
		enq_flags |= SCX_ENQ_PREEMPT;
	}
	count(EK_SWAPPED);
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | to, slice_alone_ns(weight_of(p)), enq_flags);
	return true;
}

#endif

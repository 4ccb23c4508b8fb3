/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which levels run beside each other, and where would a task cost less?
 *
 * All of this is skipped while no task is believed to demand a level above 0.
 */
#ifndef EVENKEEL_MIX_BPF_H
#define EVENKEEL_MIX_BPF_H

#include <evenkeel/mix.h>

#include "sense.bpf.h"
#include "vtime.bpf.h"

/* Whether the additions of `even` to isolation can matter now. */
static bool is_even(u64 now_ns)
{
	return config.parts && wide_anywhere_until_ns > now_ns;
}

static bool runs_beside(u32 index, const struct ek_cpu *cpu)
{
	u32 sibling = cpu->sibling;

	for (u32 i = 1; i < SIBLINGS_MAX && sibling != index; i++) {
		const struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			break;
		if (other->weight > 0)
			return true;
		sibling = other->sibling;
	}
	return false;
}

/*
 * Whether a task that would go on here, beside a busy sibling, has a forced switch-out:
 * only then are its registers saved, which show its class.
 */
static bool airs(const struct task_struct *p, u32 index, struct ek_cpu *cpu, u64 now_ns)
{
	cpu->airs = (config.parts & EK_PART_AIRING) && (config.sensors & EK_SENSOR_REGISTERS) &&
		    !(p->flags & PF_KTHREAD) && ek_airs(ek_sub(now_ns, cpu->came_ns)) &&
		    runs_beside(index, cpu);
	return cpu->airs;
}

/* For how long the running task of a CPU is to have its siblings forced idle. */
static u64 wanted_quiet_ns(const struct ek_cpu *cpu)
{
	struct ek_deficit deficit = cpu->deficit;

	if (deficit.owed_ns < EK_DEFICIT_MIN_NS)
		return 0;
	ek_deficit_repay(&deficit, cpu->was_quiet_ns, cpu->gain_permille);
	return ek_deficit_quiet_ns(&deficit, cpu->gain_permille);
}

/* The highest level beside a CPU, whether any task runs, and the forced idle for them. */
static void meet_around(u32 index, struct ek_cpu *cpu, struct ek_around *around)
{
	struct ek_around nothing = {};
	u32 sibling = cpu->sibling;

	*around = nothing;
	for (u32 i = 1; i < SIBLINGS_MAX && sibling != index; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			return;
		if (other->weight > 0) {
			u64 quiet_ns = wanted_quiet_ns(other);
			u32 level = other->runs_level;

			around->runs = 1;
			around->level = level > around->level ? level : around->level;
			if (quiet_ns > 0) {
				u32 from = around->quiet_from ?: EK_LEVELS_MAX;

				around->quiet_ns = ek_max(around->quiet_ns, quiet_ns);
				around->quiet_from = level + 1 < from ? level + 1 : from;
			}
		}
		sibling = other->sibling;
	}
}

static u32 loss_permille(const struct ek_cpu *cpu, u32 level, u32 beside)
{
	return ek_mix_loss_permille(configured(turbo), cpu->turbo_row, level, beside);
}

/* Looks around a CPU, before a choice of its next task. */
__noinline int ek_look_around(u32 index, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(index);

	if (!cpu)
		return 0;

	struct ek_around *around = &cpu->around, nothing = {};

	if (!is_even(now_ns)) {
		if (around->runs)
			*around = nothing;
		return 0;
	}
	meet_around(index, cpu, around);
	if (!(config.parts & EK_PART_REPAYMENT))
		around->quiet_from = 0;
	if (!around->runs || !(config.parts & EK_PART_MATCHING))
		return 0;
	for (u32 level = 0; level < EK_LEVELS_MAX && level < config.classes; level++)
		around->price_ns[level] =
			ek_mix_price_ns(loss_permille(cpu, level, around->level));
	return 0;
}

/* Whether idle is forced on a level, to repay the task beside. */
static bool is_refused(const struct ek_around *around, u32 level)
{
	return around->quiet_from > 0 && level >= around->quiet_from;
}

static u64 price_ns(const struct ek_cpu *cpu, u32 level)
{
	return level < EK_LEVELS_MAX ? cpu->around.price_ns[level] : 0;
}

/* --- Idle CPUs --- */

/* The cost of a level on an idle CPU, to compare; EK_U32_MAX: the CPU refuses the level. */
__noinline u32 ek_idle_cost(u32 index, u32 level, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(index);
	struct core *core = cpu ? core_of(cpu) : NULL;
	struct ek_around around;

	if (!core)
		return EK_U32_MAX;
	meet_around(index, cpu, &around);
	if ((config.parts & EK_PART_REPAYMENT) && is_refused(&around, level))
		return EK_U32_MAX;

	struct ek_core_state state = {.is_busy = around.runs, .beside = around.level};

	for (u32 held = 1; held < EK_LEVELS_MAX; held++) {
		if (core->held_until_ns[held] > now_ns)
			state.held = held;
	}
	return ek_mix_idle_cost_permille(configured(turbo), cpu->turbo_row, level, &state,
					 config.smt_share_permille);
}

/* The idle CPU of the cache that costs a waking task least, which is claimed; -1: none. */
static s32 idle_for(struct task_struct *p, u32 near, u64 now_ns)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	u32 index = near, least = EK_U32_MAX, level = class_of(p, now_ns);
	s32 found = -1;
	int i;

	if (!is_true(bpf_cpumask_empty(idle))) {
		bpf_for(i, 0, MIX_LOOKS_MAX) {
			struct ek_cpu *cpu = cpu_of(index);

			if (!cpu)
				break;
			if (bpf_cpumask_test_cpu(index, idle) &&
			    bpf_cpumask_test_cpu(index, p->cpus_ptr)) {
				u32 cost = ek_idle_cost(index, level, now_ns);

				if (cost < least) {
					least = cost;
					found = index;
				}
				if (cost == 0)
					break;
			}
			index = cpu->next;
			if (index == near)
				break;
		}
	}
	scx_bpf_put_idle_cpumask(idle);
	if (found >= 0 && scx_bpf_test_and_clear_cpu_idle(found))
		return found;
	return -1;
}

/* --- Swaps --- */

/*
 * The gain, in permille of a CPU's speed, if the running tasks of two CPUs are swapped,
 * of which the second may have none; 0: they stay.
 */
__noinline u32 ek_swap_gain(u32 index, u32 to, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(index), *other = cpu_of(to);
	struct core *core = other ? core_of(other) : NULL;
	struct ek_around around;

	if (!cpu || !core || other->core == cpu->core || core->settled_ns > now_ns ||
	    other->sends_to)
		return 0;

	bool runs = other->weight > 0;

	/* A CPU in forced idle repays a task beside, and stays idle. */
	if (runs ? !other->is_free : other->quiet_ns > 0)
		return 0;
	meet_around(to, other, &around);

	u32 level = cpu->runs_level, here = cpu->around.level;
	u32 before = loss_permille(cpu, level, here);
	u32 after = around.runs ? loss_permille(cpu, level, around.level) : 0;

	if (runs) {
		before += around.runs ? loss_permille(cpu, other->runs_level, around.level) : 0;
		after += loss_permille(cpu, other->runs_level, here);
	}
	return ek_mix_swaps(before, after) ? before - after : 0;
}

/*
 * Whether the task of a CPU for which no task waits is sent to another CPU: such a task
 * is not kept then, and moves when the kernel enqueues that task.
 */
static bool swaps(struct task_struct *p, u32 index, struct ek_cpu *cpu, u64 now_ns)
{
	struct core *core = core_of(cpu);
	u32 other = cpu->next, best = 0, to = index;
	int i;

	if (!(config.parts & EK_PART_SWAPS) || !cpu->around.runs ||
	    cpu->around.level == cpu->runs_level || !core || core->settled_ns > now_ns ||
	    may_not_migrate(p))
		return false;
	bpf_for(i, 1, MIX_LOOKS_MAX) {
		struct ek_cpu *theirs = cpu_of(other);

		if (!theirs || other == index)
			break;

		u32 gain = ek_swap_gain(index, other, now_ns);

		if (gain > best && bpf_cpumask_test_cpu(other, p->cpus_ptr)) {
			best = gain;
			to = other;
		}
		other = theirs->next;
	}
	/* The core's next search is EK_MIX_SETTLE_NS later, even if this one found no CPU. */
	core->settled_ns = ek_mix_settled_ns(now_ns);
	if (to == index)
		return false;

	struct ek_cpu *theirs = cpu_of(to);

	core = theirs ? core_of(theirs) : NULL;
	if (!core || (theirs->weight == 0 && !scx_bpf_test_and_clear_cpu_idle(to)))
		return false;
	core->settled_ns = ek_mix_settled_ns(now_ns);
	cpu->sends_to = to + 1;
	return true;
}

/* A task leaves its CPU: noted if a swap sends that task elsewhere. */
static void note_sent(const struct task_struct *p, struct ek_cpu *cpu, bool runnable)
{
	if (!cpu->sends_to)
		return;
	cpu->sent = p->pid;
	if (!runnable) {
		cpu->sends_to = 0;
		cpu->is_second = 0;
	}
}

/*
 * Whether a task that has left its CPU is on its way to another one: the first
 * of a pair to a CPU whose task then comes here, the second to the CPU that the
 * first has left, if no other task was quicker.
 */
static bool is_sent(struct task_struct *p, u32 index, struct ek_cpu *cpu, u64 enq_flags)
{
	u32 to = cpu->sends_to - 1, is_second = cpu->is_second;
	struct ek_cpu *theirs;

	if (!cpu->sends_to || cpu->sent != (u32)p->pid)
		return false;
	cpu->sends_to = 0;
	cpu->is_second = 0;
	theirs = cpu_of(to);
	if (!theirs || may_not_migrate(p) || !bpf_cpumask_test_cpu(to, p->cpus_ptr))
		return false;
	if (theirs->weight > 0) {
		if (is_second || !theirs->is_free || theirs->sends_to)
			return false;
		theirs->sends_to = index + 1;
		theirs->is_second = 1;
		enq_flags |= SCX_ENQ_PREEMPT;
	}
	count(EK_SWAPPED);
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | to, slice_alone_ns(weight_of(p)), enq_flags);
	return true;
}

#endif

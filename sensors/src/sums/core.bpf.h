/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What passed on a core since the last booking, by its two threads?
 *
 * Time beside each other, and time under levels that a thread did not demand. All under the
 * core's lock; without loops over tables.
 */
#ifndef EVENKEEL_SUMS_CORE_H
#define EVENKEEL_SUMS_CORE_H

#include "tables.bpf.h"

/* What passed on a CPU since the last booking. */
struct passed {
	u64 group;
	u64 ran_ns;
	/* The group on the sibling, and the time beside it. */
	u64 other;
	u64 beside_ns;
	/* The core's holder before, and the losses to it. */
	u64 holder;
	u64 lost_ns;
	u64 other_lost_ns;
};

static __always_inline struct core *core_of(u32 cpu, u32 *thread)
{
	struct place *place = bpf_map_lookup_elem(&places, &cpu);
	u32 core;

	if (!place)
		return 0;
	core = place->core;
	*thread = place->thread & 1;
	return bpf_map_lookup_elem(&cores, &core);
}

/* Adds the time at each level since the last booking to the threads of the core. */
static __always_inline void book_levels(struct core *core, const struct clock *clock, u64 now_ns)
{
	struct ek_level_times before = core->belief.booked;

	ek_belief_book(&core->belief, now_ns);
	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		u64 ns = core->belief.booked.ns[level] - before.ns[level];

		if (ns == 0)
			continue;
		for (u32 i = 0; i < 2; i++) {
			struct cpu *cpu = &core->threads[i];
			u32 own = cpu->level;

			if (!cpu->group)
				continue;
			cpu->held_ns += ns;
			if (own < level)
				cpu->lost_ns += ek_mul_q30(ns, clock->slower_q30[own][level]);
		}
	}
}

/* Books the time of the core's threads until now, under its lock. */
static __always_inline void book(struct core *core, u32 thread, const struct clock *clock,
				 u64 now_ns, struct passed *passed)
{
	struct cpu *cpu = &core->threads[thread & 1];
	struct cpu *other = &core->threads[(thread ^ 1) & 1];

	if (core->wide_until_ns > core->belief.since_ns)
		book_levels(core, clock, now_ns);
	passed->group = cpu->group;
	passed->other = other->group;
	passed->holder = core->holder;
	passed->ran_ns = 0;
	passed->beside_ns = 0;
	passed->other_lost_ns = 0;
	passed->lost_ns = cpu->lost_ns;
	cpu->lost_ns = 0;
	if (cpu->group) {
		passed->ran_ns = ek_sub(now_ns, cpu->booked_ns);
		cpu->busy_ns += passed->ran_ns;
		if (other->group)
			passed->beside_ns =
				ek_sub(now_ns, ek_max(cpu->booked_ns, other->booked_ns));
	}
	cpu->booked_ns = ek_max(cpu->booked_ns, now_ns);
}

/* From now on the CPU runs `group`, which demands `level`; under the core's lock. */
static __always_inline void come(struct core *core, u32 thread, u64 group, u32 level, u64 now_ns,
				 struct passed *passed)
{
	struct cpu *cpu = &core->threads[thread & 1];
	struct cpu *other = &core->threads[(thread ^ 1) & 1];

	if (cpu->group && group)
		cpu->switches++;
	if (cpu->level || level) {
		ek_belief_change(&core->belief, configured(hold), cpu->level, level, now_ns);
		core->wide_until_ns = ek_belief_wide_until_ns(&core->belief);
	}
	if (level && core->holder != group) {
		/* Until now the sibling lost to the holder before. */
		passed->other_lost_ns = other->lost_ns;
		other->lost_ns = 0;
		core->holder = group;
	}
	cpu->group = group;
	cpu->level = level;
}

#endif

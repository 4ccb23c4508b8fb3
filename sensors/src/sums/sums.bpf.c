/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Who waited for whom, ran beside whom, and lost clock to whom? Sums by pairs of groups.
 *
 * A group is a process or a control group. At a switch the task that leaves is accounted: its CPU
 * time, its wait before, the stay of a task on the sibling, and its loss by the core's belief.
 *
 * The kernel itself sums how long a task was on run queues (sched_info.run_delay), so no probe
 * sits on wake-ups: a wait is the growth of that sum since the task last left a CPU, and it ended
 * when the task came.
 *
 * Needs Linux 5.11 with BTF. Sums are added up by many CPUs, atomically.
 */
#include "kernel.bpf.h"
#include "interface.bpf.h"

/* Stays of a CPU that a wait is compared with; a power of two, our choice. */
#define STAYS 16
/*
 * A group is wide from the second time on that a task left wide registers; one time can be the
 * start-up code of a library.
 */
#define LEAVES_MIN 2

/* A time for which a CPU ran tasks of one group. */
struct stay {
	u64 group;
	u64 began_ns;
	u64 ended_ns;
};

/* What only this CPU reads and writes. */
struct here {
	/* When its task came, and that task's time on run queues before. */
	u64 came_ns;
	u64 run_delay_ns;
	/* The task that left last, whose registers are saved after the switch. */
	u64 left_group;
	u32 left_tid;
	/* Stays that ended so far. */
	u32 ended;
	struct stay stays[STAYS];
};

const volatile struct setup setup;

/* A pointer to a field of the setup; clang would read a constant 0 without the barrier. */
#define configured(part) \
	({ \
		const void *at = (const void *)&setup.part; \
		asm("" : "+r"(at)); \
		at; \
	})

struct state state;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct clock);
} clock SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct place);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct core);
} cores SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct here);
} heres SEC(".maps");

/* By task: its time on run queues when it last left a CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TASKS_MAX);
	__type(key, u32);
	__type(value, u64);
} delays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GROUPS_MAX);
	__type(key, u64);
	__type(value, struct group_sum);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GROUPS_MAX);
	__type(key, u64);
	__type(value, struct wide_leaves);
} wide SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PAIRS_MAX);
	__type(key, struct pair);
	__type(value, struct pair_sum);
} pairs SEC(".maps");

/* --- Sums --- */

static __always_inline void add(u64 *sum, u64 ns)
{
	if (ns)
		__sync_fetch_and_add(sum, ns);
}

static __always_inline void count_without_room(void)
{
	__sync_fetch_and_add(&state.without_room, 1);
}

/* The group of a task; 0 is the idle task. */
static __always_inline u64 group_of(struct task_struct *task)
{
	if (!task->pid)
		return 0;
	return setup.by_control_group ? task->cgroups->dfl_cgrp->kn->id : (u32)task->tgid;
}

static __always_inline struct group_sum *sum_of(u64 group)
{
	struct group_sum *sum = bpf_map_lookup_elem(&groups, &group);
	struct group_sum none = {};

	if (sum)
		return sum;
	/* Another CPU may be first. */
	bpf_map_update_elem(&groups, &group, &none, BPF_NOEXIST);
	sum = bpf_map_lookup_elem(&groups, &group);
	if (!sum)
		count_without_room();
	return sum;
}

static __noinline int add_pair(u64 victim, u64 culprit, u64 waited_ns, u64 beside_ns, u64 lost_ns)
{
	struct pair key = {.victim = victim, .culprit = culprit};
	struct pair_sum first = {
		.waited_ns = waited_ns, .beside_ns = beside_ns, .lost_ns = lost_ns};
	struct pair_sum *sum = bpf_map_lookup_elem(&pairs, &key);

	if (!sum) {
		if (!bpf_map_update_elem(&pairs, &key, &first, BPF_NOEXIST))
			return 0;
		sum = bpf_map_lookup_elem(&pairs, &key);
	}
	if (!sum) {
		count_without_room();
		return 0;
	}
	add(&sum->waited_ns, waited_ns);
	add(&sum->beside_ns, beside_ns);
	add(&sum->lost_ns, lost_ns);
	return 0;
}

/* --- Waits --- */

/* How long the task that leaves waited before it came. */
static __always_inline u64 waited_ns(struct task_struct *task, struct here *here)
{
	u64 delay_ns = task->sched_info.run_delay;
	u32 tid = task->pid;
	u64 *before_ns = bpf_map_lookup_elem(&delays, &tid);
	u64 waited_ns;

	if (before_ns) {
		waited_ns = ek_sub(delay_ns, *before_ns);
		*before_ns = delay_ns;
	} else if (!bpf_map_update_elem(&delays, &tid, &delay_ns, BPF_ANY)) {
		/* All older tasks were listed, so this one is new. */
		waited_ns = delay_ns;
	} else {
		/* Without what it waited on other CPUs' queues. */
		waited_ns = ek_sub(delay_ns, here->run_delay_ns);
		count_without_room();
	}
	if (is_dead(task))
		bpf_map_delete_elem(&delays, &tid);
	return waited_ns;
}

/* A wait belongs to the groups that ran meanwhile on the CPU that the task got. */
static __always_inline void attribute(u64 victim, u64 waited_ns, struct here *here)
{
	u64 since_ns = ek_sub(here->came_ns, waited_ns);

	for (u32 back = 1; back <= STAYS; back++) {
		struct stay *stay = &here->stays[(here->ended - back) % STAYS];
		u64 from_ns = ek_max(stay->began_ns, since_ns);
		u64 had_ns = ek_min(ek_sub(stay->ended_ns, from_ns), waited_ns);

		if (stay->ended_ns <= since_ns)
			break;
		if (had_ns == 0)
			continue;
		add_pair(victim, stay->group, had_ns, 0, 0);
		waited_ns -= had_ns;
	}
	if (waited_ns)
		add_pair(victim, 0, waited_ns, 0, 0);
}

/* A stay ends; one of the same group that went right before is continued. */
static __always_inline void end_stay(struct here *here, u64 group, u64 now_ns)
{
	struct stay *last = &here->stays[(here->ended - 1) % STAYS];

	if (last->group != group || last->ended_ns != here->came_ns) {
		last = &here->stays[here->ended % STAYS];
		last->group = group;
		last->began_ns = here->came_ns;
		here->ended++;
	}
	last->ended_ns = now_ns;
}

/* --- The core --- */

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

/* --- Events --- */

/* The level that a group demands while its tasks run. */
static __always_inline u32 level_of(u64 group)
{
	struct wide_leaves *leaves;
	u32 level = 0;

	if (!setup.wide_level || !state.wide_groups || !group)
		return 0;
	leaves = bpf_map_lookup_elem(&wide, &group);
	if (!leaves)
		return 0;
	if (leaves->all >= LEAVES_MIN)
		level = setup.wide_level;
	if (leaves->with_tiles >= LEAVES_MIN && setup.tile_level > level)
		level = setup.tile_level;
	return level;
}

/* Adds what passed on a CPU to the sums of its group, which is the result. */
static __always_inline struct group_sum *add_passed(const struct passed *passed)
{
	struct group_sum *sum;

	if (passed->other && passed->other_lost_ns) {
		struct group_sum *other = sum_of(passed->other);

		if (other)
			add(&other->lost_ns, passed->other_lost_ns);
		add_pair(passed->other, passed->holder, 0, 0, passed->other_lost_ns);
	}
	if (!passed->group)
		return 0;
	sum = sum_of(passed->group);
	if (sum) {
		add(&sum->cpu_time_ns, passed->ran_ns);
		add(&sum->lost_ns, passed->lost_ns);
	}
	if (passed->lost_ns)
		add_pair(passed->group, passed->holder, 0, 0, passed->lost_ns);
	if (passed->beside_ns) {
		add_pair(passed->group, passed->other, 0, passed->beside_ns, 0);
		add_pair(passed->other, passed->group, 0, passed->beside_ns, 0);
	}
	return sum;
}

static __always_inline void leave(struct task_struct *task, const struct passed *passed,
				  struct here *here, u64 now_ns)
{
	struct group_sum *sum = add_passed(passed);
	u64 waited = waited_ns(task, here);

	if (sum) {
		add(&sum->leaves, 1);
		add(&sum->waited_ns, waited);
	}
	if (sum && !setup.by_control_group) {
		sum->comm[0] = *(u64 *)&task->group_leader->comm[0];
		sum->comm[1] = *(u64 *)&task->group_leader->comm[8];
	}
	if (waited)
		attribute(passed->group, waited, here);
	end_stay(here, passed->group, now_ns);
}

SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	u32 first = 0, thread = 0;
	struct here *here = bpf_map_lookup_elem(&heres, &first);
	struct clock *slower = bpf_map_lookup_elem(&clock, &first);
	struct core *core = core_of(bpf_get_smp_processor_id(), &thread);
	u64 group = group_of(next);
	u32 level = level_of(group);
	u64 now_ns = bpf_ktime_get_ns();
	struct passed passed;

	if (!here || !slower || !core)
		return 0;
	bpf_spin_lock(&core->lock);
	book(core, thread, slower, now_ns, &passed);
	come(core, thread, group, level, now_ns, &passed);
	bpf_spin_unlock(&core->lock);
	/* Its group is 0, too, where the task came before the collection began. */
	if (passed.group)
		leave(prev, &passed, here, now_ns);
	else
		add_passed(&passed);
	here->left_group = passed.group;
	here->left_tid = prev->pid;
	here->came_ns = now_ns;
	here->run_delay_ns = next->sched_info.run_delay;
	return 0;
}

/* The registers of the task that leaves are saved after the switch was told. */
SEC("tp_btf/x86_fpu_regs_deactivated")
int on_registers(u64 *ctx)
{
	u64 features = saved_features((void *)ctx[0]);
	struct wide_leaves one = {.all = 1};
	struct wide_leaves *leaves;
	struct here *here;
	u32 first = 0;
	u64 group;

	if (!(features & (setup.wide_features | setup.tile_features)))
		return 0;
	here = bpf_map_lookup_elem(&heres, &first);
	if (!here || !here->left_group || here->left_tid != (u32)bpf_get_current_pid_tgid())
		return 0;
	one.with_tiles = features & setup.tile_features ? 1 : 0;
	group = here->left_group;
	leaves = bpf_map_lookup_elem(&wide, &group);
	if (leaves) {
		add(&leaves->all, one.all);
		add(&leaves->with_tiles, one.with_tiles);
	} else if (bpf_map_update_elem(&wide, &group, &one, BPF_NOEXIST)) {
		count_without_room();
	} else {
		__sync_fetch_and_add(&state.wide_groups, 1);
	}
	return 0;
}

/* A process ends with its last thread; its last sums come a little later. */
SEC("tp_btf/sched_process_exit")
int on_exit(u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	u64 group = group_of(task);
	struct group_sum *sum;

	if (setup.by_control_group || task->signal->live.counter > 0)
		return 0;
	sum = bpf_map_lookup_elem(&groups, &group);
	if (sum)
		sum->has_ended = 1;
	return 0;
}

/* Books the running tasks of a core until now: the reader lets the kernel go through all cores. */
SEC("iter/bpf_map_elem")
int book_core(struct bpf_iter__bpf_map_elem *ctx)
{
	u32 *key = ctx->key;
	u32 first = 0, number;
	struct clock *slower = bpf_map_lookup_elem(&clock, &first);
	struct core *core;
	struct passed passed;

	if (!key || !slower)
		return 0;
	number = *key;
	core = bpf_map_lookup_elem(&cores, &number);
	if (!core)
		return 0;
	for (u32 thread = 0; thread < 2; thread++) {
		/* A switch may come between: book() leaves alone what was booked for later times. */
		u64 now_ns = bpf_ktime_get_ns();

		bpf_spin_lock(&core->lock);
		book(core, thread, slower, now_ns, &passed);
		core->level =
			ek_belief_held(&core->belief, ek_belief_demanded(&core->belief), now_ns);
		bpf_spin_unlock(&core->lock);
		add_passed(&passed);
		state.booked_ns = now_ns;
	}
	return 0;
}

/* Every task, before the other probes are attached: its time on run queues so far. */
SEC("iter/task")
int list_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u64 delay_ns;
	u32 tid;

	if (!task)
		return 0;
	tid = task->pid;
	delay_ns = task->sched_info.run_delay;
	if (bpf_map_update_elem(&delays, &tid, &delay_ns, BPF_ANY))
		count_without_room();
	return 0;
}

/* Every task, after the other probes were attached: which CPU runs it. */
SEC("iter/task")
int list_running(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	u64 now_ns = bpf_ktime_get_ns();
	struct core *core;
	struct cpu *cpu;
	u32 thread;
	u64 group;

	if (!task || !task->on_cpu)
		return 0;
	core = core_of(cpu_of(task), &thread);
	if (!core)
		return 0;
	group = group_of(task);
	cpu = &core->threads[thread & 1];
	bpf_spin_lock(&core->lock);
	/* A CPU that has switched since knows better. */
	if (!cpu->booked_ns) {
		cpu->group = group;
		cpu->booked_ns = now_ns;
	}
	bpf_spin_unlock(&core->lock);
	return 0;
}

char _license[] SEC("license") = "Dual MIT/GPL";

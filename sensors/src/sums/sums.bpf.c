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
#include "core.bpf.h"

/*
 * A group is wide from the second time on that a task left wide registers; one time can be the
 * start-up code of a library.
 */
#define LEAVES_MIN 2

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
static __always_inline void attribute(struct cache *cache, u64 victim, u64 waited_ns,
				      struct here *here)
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
		cached_pair(cache, victim, stay->group)->waited_ns += had_ns;
		waited_ns -= had_ns;
	}
	if (waited_ns)
		cached_pair(cache, victim, 0)->waited_ns += waited_ns;
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

/* Adds what passed on a CPU to the sums of pairs. */
static __always_inline void add_passed(struct cache *cache, const struct passed *passed)
{
	if (passed->lost_ns)
		cached_pair(cache, passed->group, passed->holder)->lost_ns += passed->lost_ns;
	if (passed->beside_ns) {
		u64 ns = passed->beside_ns;

		cached_pair(cache, passed->group, passed->other)->beside_ns += ns;
		cached_pair(cache, passed->other, passed->group)->beside_ns += ns;
	}
	if (passed->other && passed->other_lost_ns) {
		u64 ns = passed->other_lost_ns;

		cached_group(cache, passed->other)->lost_ns += ns;
		cached_pair(cache, passed->other, passed->holder)->lost_ns += ns;
	}
}

static __always_inline void leave(struct task_struct *task, const struct passed *passed,
				  struct cache *cache, struct here *here, u64 now_ns)
{
	u64 waited = waited_ns(task, here);
	struct group_sum *sum = cached_group(cache, passed->group);

	sum->cpu_time_ns += passed->ran_ns;
	sum->lost_ns += passed->lost_ns;
	sum->waited_ns += waited;
	sum->leaves++;
	if (!setup.by_control_group) {
		sum->comm[0] = *(u64 *)&task->group_leader->comm[0];
		sum->comm[1] = *(u64 *)&task->group_leader->comm[8];
	}
	if (waited)
		attribute(cache, passed->group, waited, here);
	end_stay(here, passed->group, now_ns);
}

SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	u32 first = 0, thread = 0;
	struct here *here = bpf_map_lookup_elem(&heres, &first);
	struct cache *cache = bpf_map_lookup_elem(&caches, &first);
	struct clock *slower = bpf_map_lookup_elem(&clock, &first);
	struct core *core = core_of(bpf_get_smp_processor_id(), &thread);
	u64 group = group_of(next);
	u32 level = level_of(group);
	u64 now_ns = bpf_ktime_get_ns();
	struct passed passed;

	if (!here || !cache || !slower || !core)
		return 0;
	bpf_spin_lock(&core->lock);
	book(core, thread, slower, now_ns, &passed);
	come(core, thread, group, level, now_ns, &passed);
	bpf_spin_unlock(&core->lock);
	/* Its group is 0, too, where the task came before the collection began. */
	if (passed.group)
		leave(prev, &passed, cache, here, now_ns);
	add_passed(cache, &passed);
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
	u64 one = 1;

	if (setup.by_control_group || task->signal->live.counter > 0)
		return 0;
	if (bpf_map_update_elem(&ended, &group, &one, BPF_ANY))
		count_without_room();
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
		/* A switch may come between: book() leaves later bookings alone. */
		u64 now_ns = bpf_ktime_get_ns();

		bpf_spin_lock(&core->lock);
		book(core, thread, slower, now_ns, &passed);
		core->level =
			ek_belief_held(&core->belief, ek_belief_demanded(&core->belief), now_ns);
		bpf_spin_unlock(&core->lock);
		state.booked_ns = now_ns;
		if (!passed.group)
			continue;

		struct group_sum sum = {.cpu_time_ns = passed.ran_ns, .lost_ns = passed.lost_ns};
		struct pair_sum lost = {.lost_ns = passed.lost_ns};
		struct pair_sum beside = {.beside_ns = passed.beside_ns};

		add_group(passed.group, &sum);
		if (passed.lost_ns)
			add_pair(passed.group, passed.holder, &lost);
		if (passed.beside_ns) {
			add_pair(passed.group, passed.other, &beside);
			add_pair(passed.other, passed.group, &beside);
		}
	}
	return 0;
}

/*
 * Adds this CPU's cached sums to the tables: the reader has each CPU that was busy run it. No
 * switch of the CPU comes between, because interrupts or preemption are off.
 */
SEC("raw_tp")
int flush(void *ctx)
{
	u32 first = 0;
	struct cache *cache = bpf_map_lookup_elem(&caches, &first);

	if (!cache)
		return 0;
	for (u32 at = 0; at < CACHED_GROUPS; at++) {
		if (cache->groups[at])
			add_group(cache->groups[at], &cache->of_groups[at]);
		cache->groups[at] = 0;
	}
	for (u32 at = 0; at < CACHED_PAIRS; at++) {
		if (cache->pairs[at].victim)
			add_pair(cache->pairs[at].victim, cache->pairs[at].culprit,
				 &cache->of_pairs[at]);
		cache->pairs[at].victim = 0;
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

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which cores are wide, and which tasks may a CPU run for that reason?
 *
 * With core specialization the class of a task is its kind, and the rank of the kind on a
 * CPU is a price: nothing, more than virtual times differ, or infinite. So tasks are
 * compared, picked and preempted as without it. A last-level cache decides about its
 * own cores. A kind has no price for an affinity group without a core of that kind, since
 * tasks of the group would starve otherwise, nor for pinned tasks.
 *
 * A CPU asks whether its core changes its kind when it picks a task (D 6.2.2); where the
 * clocks of some cores are capped, another core may change instead. An idle CPU picks no
 * task: ticks of other CPUs kick one when wide tasks have waited for long.
 *
 * All of this is skipped while no task is believed to demand a level above 0.
 */
#ifndef EVENKEEL_SPECIALIZE_BPF_H
#define EVENKEEL_SPECIALIZE_BPF_H

#include <evenkeel/specialize.h>

#include "task_class.bpf.h"
#include "vtime.bpf.h"

/* How often tasks are counted and waits looked at in a cache; our choice. */
#define REVIEW_NS 1000000ULL

/* Whether kinds may matter: a look without the time. */
static bool may_specialize(void)
{
	return config.specialization && class_may_matter();
}

/* Whether kinds can matter now. */
static bool specializes(u64 now_ns)
{
	return config.specialization && class_matters(now_ns) && !specialization_off;
}

/* --- Prices --- */

/* The rank of a kind of tasks of an affinity group on a CPU (ek_specialize_rank). */
static u32 rank_on(const struct ek_cpu *cpu, const struct ek_cache *cache, u32 kind, u32 group)
{
	u32 homes = kind == EK_TASK_WIDE ? cache->wide_groups : cache->narrow_groups;

	/* Tasks that were queued as wide may run anywhere while specialization is off. */
	if (specialization_off || group >= EK_GROUP_PINNED || !(homes >> group & 1))
		return 0;
	if (cpu->is_wide && cpu->narrow_first)
		return kind == EK_TASK_WIDE;
	return ek_specialize_rank(cpu->is_wide, kind);
}

/* What the kind adds to the virtual times of such tasks on a CPU. */
static u64 kind_price_ns(const struct ek_cpu *cpu, const struct ek_cache *cache, u32 kind,
			 u32 group)
{
	return ek_specialize_price_ns(rank_on(cpu, cache, kind, group));
}

/* Whether the running task of a CPU has to leave: it is wide, and the core is narrow. */
static bool must_leave(const struct ek_cpu *cpu, const struct ek_cache *cache)
{
	return config.specialization && cpu->weight > 0 &&
	       rank_on(cpu, cache, cpu->running_class, cpu->group) == 2;
}

/*
 * Whether a task of a kind and a group goes before the running task of a CPU (-1) or after
 * it (1) for their ranks; 0: virtual times decide.
 */
__noinline s32 ek_compare_ranks(u32 cpu_id, u32 kind, u32 group)
{
	const struct ek_cpu *cpu = cpu_of(cpu_id);
	const struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (!cache)
		return 0;

	u32 own = rank_on(cpu, cache, kind, group);
	u32 running = rank_on(cpu, cache, cpu->running_class, cpu->group);

	if (own == 2 || own > running)
		return 1;
	return own < running ? -1 : 0;
}

/* --- The cores of a cache --- */

/* Counts a CPU for the kind of its core, and its core once in each count. */
static void count_cpu(struct ek_cache *cache, u32 cpu_id, const struct ek_cpu *cpu, u64 recount)
{
	u32 groups = groups_allowed(cpu) & ~(1U << EK_GROUP_MIXED);
	struct core *core = core_of(cpu);

	if (!core || cpu->going_offline || !is_online(cpu_id))
		return;
	if (cpu->is_wide) {
		cache->wide_groups |= groups;
		cache->wide_cpu = cpu_id;
	} else {
		cache->narrow_groups |= groups;
		cache->narrow_cpu = cpu_id;
	}
	if (core->recount == recount)
		return;
	core->recount = recount;
	if (cpu->is_wide)
		cache->kinds.wide_cores++;
	else
		cache->kinds.narrow_cores++;
}

/* Counts the online cores of a cache by kind, and notes which affinity groups have which. */
__noinline int ek_count_cores(u32 first)
{
	struct ek_cpu *cpu = cpu_of(first);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u32 cpu_id = first;
	int i;

	if (!cache)
		return 0;

	u64 recount = __sync_add_and_fetch(&cache->recounts, 1);

	cache->is_stale = false;
	cache->wide_groups = 0;
	cache->narrow_groups = 0;
	cache->kinds.wide_cores = 0;
	cache->kinds.narrow_cores = 0;
	bpf_for(i, 0, SET_CPUS_MAX) {
		cpu = cpu_of(cpu_id);
		if (!cpu)
			break;
		count_cpu(cache, cpu_id, cpu, recount);
		cpu_id = cpu->next_in_cache;
		if (cpu_id == first)
			break;
	}
	return 0;
}

/*
 * Kicks a CPU whose core changed its kind, if its task must leave, or goes second now and wide
 * tasks wait.
 */
static void kick_changed(u32 cpu_id, const struct ek_cpu *cpu, const struct ek_cache *cache)
{
	u32 rank = rank_on(cpu, cache, cpu->running_class, cpu->group);

	if (cpu->weight == 0)
		scx_bpf_kick_cpu(cpu_id, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
	else if (rank == 2 || (rank == 1 && ek_waiting(cpu->cache, EK_TASK_WIDE) > 0))
		preempt_cpu(cpu_id);
}

/* The affinity groups of a cache with waiting tasks of a kind, as bits. */
__noinline u32 ek_groups_waiting(u32 cache_id, u32 kind)
{
	struct ek_cache *cache = cache_of(cache_id);
	u32 groups = cache ? groups_of(cache, kind) : 0, waiting = 0;
	int group;

	bpf_for(group, 0, EK_GROUPS) {
		if ((groups >> group & 1) &&
		    scx_bpf_dsq_nr_queued(dsq_of(cache_id, kind, group)) > 0)
			waiting |= 1U << group;
	}
	return waiting;
}

/*
 * A CPU of the core that changes its kind when a CPU asks: that CPU, or one of a preferred core
 * that serves the same waiting tasks, which idles where possible.
 */
__noinline u32 ek_core_to_change(u32 asks)
{
	struct ek_cpu *own = cpu_of(asks);
	u32 found = asks, cpu_id, becomes_wide, served;
	int i;

	if (!own)
		return asks;
	becomes_wide = !own->is_wide;
	if (ek_specialize_prefers(becomes_wide, own->is_slow))
		return asks;
	served = groups_allowed(own) &
		 ek_groups_waiting(own->cache, becomes_wide ? EK_TASK_WIDE : EK_TASK_NARROW);
	cpu_id = own->next_in_cache;
	bpf_for(i, 1, SET_CPUS_MAX) {
		const struct ek_cpu *cpu = cpu_of(cpu_id);

		if (!cpu || cpu_id == asks)
			break;
		/* Nothing says which CPUs the tasks of the mixed group may use. */
		if (cpu->is_wide != becomes_wide &&
		    ek_specialize_prefers(becomes_wide, cpu->is_slow) &&
		    !(served & ~(groups_allowed(cpu) & ~(1U << EK_GROUP_MIXED))) &&
		    !cpu->going_offline && is_online(cpu_id)) {
			if (cpu->weight == 0 && !cpu->is_released)
				return cpu_id;
			if (found == asks)
				found = cpu_id;
		}
		cpu_id = cpu->next_in_cache;
	}
	return found;
}

/* A core changes its kind when a CPU asks, unless another CPU has had the same done meanwhile. */
__noinline int ek_change_core(u32 asks, u64 seen_ns, u64 now_ns)
{
	u32 cpu_id = ek_core_to_change(asks);
	struct ek_cpu *own = cpu_of(cpu_id);
	struct ek_cache *cache = own ? cache_of(own->cache) : NULL;
	u32 sibling = cpu_id, becomes_wide, id;

	if (!cache ||
	    __sync_val_compare_and_swap(&cache->cores_changed_ns, seen_ns, now_ns) != seen_ns)
		return 0;
	count(EK_CORE_CHANGES);
	becomes_wide = !own->is_wide;
	id = own->cache;
	for (u32 i = 0; i < SIBLINGS_MAX; i++) {
		struct ek_cpu *cpu = cpu_of(sibling);

		if (!cpu)
			break;
		cpu->kind_since_ns = now_ns;
		cpu->is_wide = becomes_wide;
		cpu->narrow_first = 0;
		sibling = cpu->next_sibling;
		if (sibling == cpu_id)
			break;
	}
	ek_count_cores(cpu_id);
	for (u32 i = 0; i < SIBLINGS_MAX; i++) {
		const struct ek_cpu *cpu = cpu_of(sibling);

		if (!cpu)
			break;
		if (sibling != asks)
			kick_changed(sibling, cpu, cache);
		sibling = cpu->next_sibling;
		if (sibling == cpu_id)
			break;
	}
	bpf_ringbuf_output(&cores_changed, &id, sizeof(id), 0);
	return 1;
}

/* --- Tasks by kind --- */

/* Counts the runnable tasks of a cache by kind: those that wait in DSQs and those that run. */
__noinline int ek_count_kinds(u32 first)
{
	struct ek_cpu *cpu = cpu_of(first);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u32 cpu_id = first;
	int i;

	if (!cache)
		return 0;
	cache->kinds.wide_tasks = ek_waiting(cpu->cache, EK_TASK_WIDE);
	cache->kinds.narrow_tasks = ek_waiting(cpu->cache, EK_TASK_NARROW);
	bpf_for(i, 0, SET_CPUS_MAX) {
		cpu = cpu_of(cpu_id);
		if (!cpu)
			break;
		if (cpu->weight > 0 && cpu->running_class == EK_TASK_WIDE)
			cache->kinds.wide_tasks++;
		if (cpu->weight > 0 && cpu->running_class == EK_TASK_NARROW)
			cache->kinds.narrow_tasks++;
		cpu_id = cpu->next_in_cache;
		if (cpu_id == first)
			break;
	}
	return 0;
}

/* The least head of a kind that may run on a CPU, on the CPU clock; VTIME_MAX: none waits. */
__noinline u64 ek_kind_head_ns(u32 cpu_id, u32 kind)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u32 groups = cache ? groups_allowed(cpu) & groups_of(cache, kind) : 0;
	u64 least_ns = VTIME_MAX;
	int group;

	if (!groups)
		return VTIME_MAX;
	bpf_for(group, 0, EK_GROUPS) {
		if (groups >> group & 1)
			least_ns = ek_min(least_ns, ek_head_ns(cpu_id, group,
							       dsq_of(cpu->cache, kind, group)));
	}
	return least_ns;
}

/* The least virtual time of the wide tasks that run in the cache, on the clock of a CPU. */
__noinline u64 ek_running_wide_ns(u32 cpu_id, u64 now_ns)
{
	struct ek_cpu *own = cpu_of(cpu_id);
	struct ek_cache *cache = own ? cache_of(own->cache) : NULL;
	u64 least_ns = VTIME_MAX;
	u32 other = cpu_id;
	int i;

	if (!cache)
		return VTIME_MAX;
	bpf_for(i, 0, SET_CPUS_MAX) {
		const struct ek_cpu *cpu = cpu_of(other);

		if (!cpu)
			break;
		u32 group = cpu->group;

		if (cpu->running_class == EK_TASK_WIDE && group < EK_GROUPS)
			least_ns = ek_min(least_ns, clock_at(own, group_at(own, cache, group),
							     group, running_vtime_ns(cpu, now_ns)));
		other = cpu->next_in_cache;
		if (other == cpu_id)
			break;
	}
	return least_ns;
}

/* --- Changes --- */

/*
 * Whether numbers of runnable tasks ask for another kind of the core of a CPU. D asks for a wide
 * core only when it would have to choose a narrow task, which is never where wide tasks
 * that do not sleep always wait.
 */
static bool changes_by_load(u32 cpu_id, const struct ek_cpu *cpu, struct ek_cache *cache,
			    bool is_idle, u64 now_ns)
{
	if (ek_sub(now_ns, cache->reviewed_ns) >= REVIEW_NS) {
		cache->reviewed_ns = now_ns;
		ek_count_kinds(cpu_id);
	}
	return cpu->is_wide ? ek_specialize_removes(&cache->kinds) :
			      ek_specialize_adds(&cache->kinds, is_idle);
}

/* For how long an idle CPU has idled while wide tasks waited. */
static u64 wasted_ns(const struct ek_cpu *cpu, const struct ek_cache *cache, u64 now_ns)
{
	if (cache->wide_waits_since_ns == 0)
		return 0;
	return ek_sub(now_ns, ek_max(cache->wide_waits_since_ns, cpu->idle_since_ns));
}

/* Whether virtual times ask for another kind of the core of a CPU. */
static bool changes_by_lag(const struct ek_cpu *cpu, const struct ek_cache *cache,
			   const struct ek_kind_vtimes *vtimes, bool is_idle, u64 now_ns)
{
	if (cpu->is_wide)
		return ek_specialize_removes_by_lag(&cache->kinds, vtimes);
	return ek_specialize_adds_by_lag(&cache->kinds, vtimes,
					 is_idle ? wasted_ns(cpu, cache, now_ns) : 0);
}

/*
 * A CPU is about to pick a task: its core changes its kind if the rule asks for that. Then
 * notes whether narrow tasks go first on the CPU. `runs`: the previous task is runnable.
 */
__noinline int ek_choose_kinds(u32 cpu_id, u32 runs, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;

	if (!cache || !specializes(now_ns))
		return 0;
	if (cache->is_stale)
		ek_count_cores(cpu_id);
	cpu->narrow_first = 0;

	struct ek_kind_vtimes vtimes = {.wide_ns = ek_kind_head_ns(cpu_id, EK_TASK_WIDE),
					.narrow_ns = ek_kind_head_ns(cpu_id, EK_TASK_NARROW)};
	u64 default_ns = ek_kind_head_ns(cpu_id, EK_TASK_DEFAULT),
	    changed_ns = cache->cores_changed_ns;
	bool by_lag = config.specialization == EK_SPECIALIZATION_BY_LAG;
	u64 interval_ns = by_lag ? EK_SPECIALIZE_LAG_INTERVAL_NS : EK_SPECIALIZE_INTERVAL_NS;
	bool is_idle = !runs && vtimes.narrow_ns == VTIME_MAX && default_ns == VTIME_MAX;
	u32 was_wide = cpu->is_wide;

	/* Default tasks go first on both kinds of cores. */
	if (cpu->is_wide)
		vtimes.wide_ns = ek_min(vtimes.wide_ns, default_ns);
	else
		vtimes.narrow_ns = ek_min(vtimes.narrow_ns, default_ns);
	if (cpu->is_wide && runs && cpu->running_class != EK_TASK_NARROW)
		vtimes.wide_ns = ek_min(vtimes.wide_ns, running_clock_ns(cpu, now_ns));
	/* A narrow task that no other one waits with may be ahead of wide ones that wait. */
	if (!cpu->is_wide && runs && cpu->running_class != EK_TASK_WIDE)
		vtimes.narrow_ns = ek_min(vtimes.narrow_ns, running_clock_ns(cpu, now_ns));
	if (cpu->is_wide && by_lag && vtimes.wide_ns == VTIME_MAX)
		vtimes.wide_ns = ek_running_wide_ns(cpu_id, now_ns);
	if (config.has_fixed_cores)
		return 0;
	/* The last wide core went offline. */
	if (cache->kinds.wide_cores == 0 && vtimes.wide_ns != VTIME_MAX)
		return ek_change_core(cpu_id, changed_ns, now_ns);
	if (ek_specialize_may_change(now_ns, changed_ns, interval_ns) &&
	    (by_lag ? changes_by_lag(cpu, cache, &vtimes, is_idle, now_ns) :
		      changes_by_load(cpu_id, cpu, cache, is_idle, now_ns)))
		ek_change_core(cpu_id, changed_ns, now_ns);
	/* The virtual times are those that a core of its former kind compares. */
	cpu->narrow_first = by_lag && was_wide && cpu->is_wide &&
			    ek_specialize_narrow_first(&cache->kinds, &vtimes);
	return 0;
}

/* --- Idle CPUs --- */

/* The cost of a kind on an idle CPU, to compare; EK_U32_MAX: the CPU never runs the kind. */
static u32 kind_idle_cost(u32 cpu_id, const struct ek_cpu *cpu, const struct ek_cache *cache,
			  u32 kind, u32 group)
{
	u32 rank = rank_on(cpu, cache, kind, group);

	return rank == 2 ? EK_U32_MAX : 2 * rank + has_busy_sibling(cpu_id, cpu);
}

/*
 * At the tick of a CPU: whether wide tasks have waited for long, and kicks a narrow CPU that
 * has idled for as long, which then asks whether its core becomes wide.
 */
__noinline int ek_kick_idle_narrow(u32 first, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(first);
	struct ek_cache *cache = cpu ? cache_of(cpu->cache) : NULL;
	u32 cpu_id = first;
	int i;

	if (!cache || ek_sub(now_ns, cache->looked_ns) < REVIEW_NS)
		return 0;
	cache->looked_ns = now_ns;
	if (ek_waiting(cpu->cache, EK_TASK_WIDE) == 0) {
		cache->wide_waits_since_ns = 0;
		return 0;
	}
	if (cache->wide_waits_since_ns == 0)
		cache->wide_waits_since_ns = now_ns;
	bpf_for(i, 0, SET_CPUS_MAX) {
		cpu = cpu_of(cpu_id);
		if (!cpu)
			break;
		if (!cpu->is_wide && cpu->weight == 0 && !cpu->is_released &&
		    wasted_ns(cpu, cache, now_ns) > EK_SPECIALIZE_IDLE_NS) {
			scx_bpf_kick_cpu(cpu_id, kernel_enum(scx_kick_flags, SCX_KICK_IDLE));
			break;
		}
		cpu_id = cpu->next_in_cache;
		if (cpu_id == first)
			break;
	}
	return 0;
}

/* --- Slices --- */

/* A task begins a slice. One that has to leave is preempted at once. */
static void kind_begins(struct task_struct *p, struct task *task, u32 cpu_id, struct ek_cpu *cpu)
{
	const struct ek_cache *cache = cache_of(cpu->cache);
	u64 now_ns = cpu->slice_start_ns;

	/* Registers that the last slice left are seen only now. */
	if (task->phase.is_wide && task->narrow_core_ns)
		count_by(EK_MISPLACED_NS, task->narrow_core_ns);
	task->narrow_core_ns = 0;
	if (task->phase.is_wide && level_of(task, now_ns) < config.wide_level)
		ek_wide_phase_ends(&task->phase);
	cpu->running_class = kind_of(p, task, now_ns);
	if (cpu->running_class == EK_TASK_WIDE && !cpu->is_wide)
		count(EK_MISPLACED);
	if (cache && must_leave(cpu, cache))
		preempt_cpu(cpu_id);
}

/* A slice ends: counts its time if the task was wide on a narrow core. */
static void kind_ends(struct task_struct *p, struct task *task, const struct ek_cpu *cpu,
		      u64 used_ns, u64 now_ns)
{
	ek_wide_phase_ran(&task->phase, used_ns);
	if (cpu->is_wide)
		return;

	/* The core may have become narrow during the slice. */
	u64 narrow_ns = ek_min(used_ns, ek_sub(now_ns, cpu->kind_since_ns));

	if (kind_of(p, task, now_ns) == EK_TASK_WIDE)
		count_by(EK_MISPLACED_NS, narrow_ns);
	else
		task->narrow_core_ns = narrow_ns;
}

/* A running task calls the kernel, which may end its wide phase. */
SEC("tp_btf/sys_enter")
int ek_system_call(u64 *ctx)
{
	struct ek_cpu *cpu = cpu_of(bpf_get_smp_processor_id());
	struct task *task;

	if (!cpu || cpu->weight == 0 || cpu->running_class != EK_TASK_WIDE)
		return 0;
	task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0, 0);
	if (!task || !ek_wide_phase_ends_by_call(&task->phase, 1))
		return 0;
	ek_wide_phase_ends(&task->phase);
	cpu->running_class = kind_of(bpf_get_current_task_btf(), task, scx_bpf_now());
	count(EK_ENDED_BY_CALL);
	return 0;
}

#endif

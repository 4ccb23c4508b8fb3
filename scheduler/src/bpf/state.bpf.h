/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which state of tasks, CPUs and caches does the scheduler keep, and how are its DSQs
 * numbered?
 */
#ifndef EVENKEEL_STATE_BPF_H
#define EVENKEEL_STATE_BPF_H

#include <evenkeel/wide_phase.h>

#include "kernel.h"
#include "interface.h"

const volatile struct ek_config config;
/* A pointer to a field of the configuration; clang would read a constant 0 without the barrier. */
#define configured(part) \
	({ \
		const void *at = (const void *)&config.part; \
		asm("" : "+r"(at)); \
		at; \
	})
struct ek_end end;
/* Counters that the loader gave up for other users of perf, as bits. */
u32 events_given_up SEC(".data.given_up");
/* Whether core specialization is switched off for a while: then all tasks are narrow. */
u32 specialization_off SEC(".data.specialization");
/* When `cpu_offline` was called last. */
u64 last_cpu_offline_ns;
/* Until when any task may be believed to demand more than level 0, or have pending bills. */
u64 wide_anywhere_until_ns;

/*
 * Numbers of DSQs. One of a class and an affinity group of a cache is the cache with
 * DSQ_CLASS and DSQ_GROUP; DSQ_CPU with a CPU has its pinned tasks, and DSQ_STARVED with
 * a cache its starved tasks.
 */
#define DSQ_CLASS(task_class) ((u64)(task_class) << 16)
#define DSQ_GROUP(group) ((u64)(group) << 24)
#define DSQ_CPU (1ULL << 32)
#define DSQ_STARVED (1ULL << 33)
/* Later than every task: no task waits. */
#define VTIME_MAX (~0ULL)
/* `dsq_vtime` of a task that has not been placed yet. */
#define VTIME_UNSET 0
/* CPUs of a cache that are compared with the affinity mask of a task; our choice. */
#define SET_CPUS_MAX 1024
/* Tasks of the mixed group that a CPU skips because of their affinity masks; our choice. */
#define SKIPS_MAX 256
/* A group is inactive if none of its tasks was runnable for this long; our choice, > 2 ticks. */
#define GROUP_INACTIVE_NS 30000000ULL
/* After this long the number of an unused group may be given to another set; our choice. */
#define GROUP_REUSE_NS 1000000000ULL
/* How often `used_ns` of a group is updated; our choice. */
#define USED_UPDATE_NS 1000000ULL
/* `min_vtime_ns` of a group is updated when it is late by more; our choice. */
#define MIN_VTIME_SLACK_NS 50000ULL
/* How often waiting tasks are counted, for the length of slices; our choice. */
#define COUNT_NS 1000000ULL
/* How often the active cores are counted, for the row of the turbo table. */
#define ACTIVE_NS 1000000ULL
/* CPUs that a wake-up examines for one to preempt; our choice. */
#define WAKE_SCAN_MAX 8
/* Ends of slices look bills up for at least this long after the last bill; our choice. */
#define BILLS_PENDING_NS 60000000000ULL
/*
 * Tasks leave the local DSQ of a CPU that a task of a higher class has had for this
 * long. Most real-time tasks and interrupt threads are done sooner, and a task that
 * left sooner would migrate at each of their wake-ups. Our choice.
 */
#define RELEASED_NS 1000000ULL
/* The hash of a group's set of CPUs while the CPUs' `groups` are updated. */
#define HASH_UPDATING 1
/* The starvation timer's period while a CPU goes offline; our choice. */
#define OFFLINE_PERIOD_NS 5000000ULL

/* CPUs that a search for an idle CPU or a swap examines; our choice. */
#define CPU_SCAN_MAX 64

/* Hardware threads of a core; our choice. */
#define SIBLINGS_MAX 8

/*
 * State of a task besides its virtual time. Operations skip the look-up of this state
 * where they can: the look-up costs more than all their other work.
 */
struct task {
	/* CPU time when the starvation timer found the task waiting, and when the wait began. */
	u64 seen_exec_ns;
	u64 waits_since_ns;
	/* Pending bills: for losses of victims, and for waits while its CPU was forced idle. */
	u64 bill_ns;
	u64 waited_ns;
	struct ek_learned learned;
	/* Levels that registers showed of any thread of the process; kept by the first thread. */
	struct ek_learned process_learned;
	struct ek_tests tests;
	/* Until when the task may be believed to demand more than level 0. */
	u64 wide_until_ns;
	/* How often the task had left a CPU when its saved registers were read. */
	u64 switches;
	/* Its deficit, and since when the task is runnable and waits for a CPU. */
	struct ek_deficit deficit;
	u64 runnable_since_ns;
	/* How much faster the task is alone on its core. */
	u32 gain_permille;
	/* The CPU that was last forced idle rather than run the task. */
	u32 refused_by;
	/* The level that counted instructions of its last slice showed. */
	u32 counted_level;
	/* One more than the enum ek_task_kind that was declared for the task; 0: none was. */
	u32 declared;
	/* Level of the rule for its name, or EK_NAME_UNRULED or EK_NAME_ASKED. */
	u32 rule_level;
	/* The affinity group of its virtual time, and the cache or the CPU of the group. */
	u32 group;
	u32 cache;
	u32 cpu;
	/* Hash of the CPUs of the cache that the task may use. */
	u64 cpus_hash;
	/* Its wide phase; kept where system calls end such phases. */
	struct ek_wide_phase phase;
	/* How long its last slice was on a narrow core. */
	u64 narrow_core_ns;
};

/* A physical core; `belief` is only kept where no counter shows the levels. */
struct core {
	struct bpf_spin_lock lock;
	u32 pad;
	/* When the core was last counted as active. */
	u64 counted_ns;
	/* The last count of the cores of its cache that had the core. */
	u64 recount;
	struct ek_belief belief;
	struct ek_users users;
	/* No task of the core is swapped until then. */
	u64 no_swap_until_ns;
	/* Until when each level may be held. */
	u64 held_until_ns[EK_LEVELS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

/* What the loader declared for a task before its exec: `declared` of the task. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, u32);
} declarations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ek_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ek_cache);
} caches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct core);
} cores SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ek_package);
} packages SEC(".maps");

/* By CPU, then by event. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
} events SEC(".maps");

/* The answer of the rules for a name, or EK_NAME_ASKED. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, EK_NAMES_MAX);
	__type(key, struct ek_names);
	__type(value, u32);
} names SEC(".maps");

/* Names that the loader applies the rules to. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} names_asked SEC(".maps");

/* A cache number whenever a core of the cache changed its kind. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 12);
} cores_changed SEC(".maps");

/* A decision for each slice, where the loader wants them. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 12);
} decisions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, EK_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

/* A timer as the value of a map. */
struct timer {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct timer);
} starve_timer SEC(".maps");

/* By CPU: fires when a task of a higher scheduling class has had the CPU for RELEASED_NS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct timer);
} release_timers SEC(".maps");

/* By CPU: ends its forced idle. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct timer);
} idle_timers SEC(".maps");

static void count_by(u32 counter, u64 by)
{
	u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += by;
}

static void count(u32 counter)
{
	count_by(counter, 1);
}

static struct task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

static struct ek_cpu *cpu_of(u32 cpu)
{
	return bpf_map_lookup_elem(&cpus, &cpu);
}

static struct ek_cache *cache_of(u32 cache)
{
	return bpf_map_lookup_elem(&caches, &cache);
}

/* The cores of a cache have to be counted again, by kind. */
static void mark_stale(u32 cache_id)
{
	struct ek_cache *cache = cache_of(cache_id);

	if (cache && config.specialization)
		cache->is_stale = true;
}

static struct core *core_of(const struct ek_cpu *cpu)
{
	u32 core = cpu->core;

	return bpf_map_lookup_elem(&cores, &core);
}

/*
 * The frequencies of a CPU. The verifier knows both tables, and follows the first alone where the
 * CPU table has no cores of low priority.
 */
static const struct ek_turbo *turbo_of(const struct ek_cpu *cpu)
{
	if (config.has_slow_turbo && cpu->is_slow)
		return configured(slow_turbo);
	return configured(turbo);
}

static bool is_online(u32 cpu_id)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();
	bool is = bpf_cpumask_test_cpu(cpu_id, online);

	scx_bpf_put_cpumask(online);
	return is;
}

static bool has_busy_sibling(u32 cpu_id, const struct ek_cpu *cpu)
{
	u32 sibling = cpu->next_sibling;

	for (u32 i = 1; i < SIBLINGS_MAX && sibling != cpu_id; i++) {
		const struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			break;
		if (other->weight > 0)
			return true;
		sibling = other->next_sibling;
	}
	return false;
}

static u64 dsq_of(u32 cache, u32 task_class, u32 group)
{
	return cache | DSQ_CLASS(task_class) | DSQ_GROUP(group);
}

static u32 class_of_dsq(u64 dsq)
{
	return dsq >> 16 & 0xff;
}

static u32 group_of_dsq(u64 dsq)
{
	return dsq >> 24 & 0xff;
}

static bool dsq_is_empty(u64 dsq)
{
	return scx_bpf_dsq_nr_queued(dsq) <= 0;
}

/* Bits of the groups of a class in whose DSQs tasks may wait. */
static u32 groups_of(const struct ek_cache *cache, u32 task_class)
{
	return task_class < EK_LEVELS_MAX ? cache->queues[task_class] : 0;
}

/* Marks the DSQ that a task is about to be enqueued in. */
static void mark_dsq(struct ek_cache *cache, u32 task_class, u32 group)
{
	if (task_class >= cache->classes)
		cache->classes = task_class + 1;
	if (task_class < EK_LEVELS_MAX && !(cache->queues[task_class] >> group & 1))
		__sync_fetch_and_or(&cache->queues[task_class], 1U << group);
}

/* Whether only one DSQ of a cache may hold tasks, besides those of pinned and starved tasks. */
static bool has_one_dsq(const struct ek_cache *cache)
{
	return cache->classes == 1 && cache->queues[0] == 1U << EK_GROUP_WHOLE;
}

/* Tasks that wait in the DSQs of a class of a cache. */
__noinline u32 ek_waiting(u32 cache_id, u32 task_class)
{
	const struct ek_cache *cache = cache_of(cache_id);
	u32 groups = cache ? groups_of(cache, task_class) : 0, tasks = 0;
	int group;

	bpf_for(group, 0, EK_GROUPS) {
		if (groups >> group & 1) {
			s32 queued = scx_bpf_dsq_nr_queued(dsq_of(cache_id, task_class, group));

			tasks += queued > 0 ? queued : 0;
		}
	}
	return tasks;
}

/* Tasks that wait in the DSQs of a cache. */
static u32 waiting(u32 cache_id, const struct ek_cache *cache)
{
	u32 tasks = 0;

	for (u32 task_class = 0; task_class < EK_LEVELS_MAX && task_class < cache->classes;
	     task_class++)
		tasks += ek_waiting(cache_id, task_class);
	return tasks;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which state of tasks, CPUs and caches does the scheduler keep, and how are its queues
 * numbered?
 */
#ifndef EVENKEEL_STATE_BPF_H
#define EVENKEEL_STATE_BPF_H

#include "kernel.h"
#include "interface.h"

const volatile struct ek_config config;
/* A pointer to a part of the configuration, which clang would else read as 0. */
#define configured(part)                                                                       \
	({                                                                                     \
		const void *at = (const void *)&config.part;                                   \
		asm("" : "+r"(at));                                                            \
		at;                                                                            \
	})
struct ek_end end;
/* Counters that the loader gave up for other users of perf, as bits. */
u32 events_given_up SEC(".data.given_up");
/* When a CPU last began to go offline. */
u64 cpus_going_ns;
/* Until when any task may be believed to demand more than level 0, or have pending bills. */
u64 wide_anywhere_until_ns;

/*
 * Numbers of queues: of a class and an affinity group of a cache, of a CPU, and of
 * the starved tasks of a cache.
 */
#define OF_CLASS(class) ((u64)(class) << 16)
#define OF_GROUP(group) ((u64)(group) << 24)
#define OF_CPU (1ULL << 32)
#define OF_AGED (1ULL << 33)
#define NEVER (~0ULL)
/* The virtual time of a task that has none yet. */
#define IS_NEW 0
/* CPUs of a cache that are looked at for a task's affinity group; our choice. */
#define SET_CPUS_MAX 1024
/* Tasks of the mixed group that a CPU passes over because of their masks; our choice. */
#define PASSES_MAX 256
/* A group had no runnable task if none was noted for this long; our choice, > 2 ticks. */
#define AWAY_NS 30000000ULL
/* After this long the number of an unused group may be given to another set; our choice. */
#define UNUSED_NS 1000000000ULL
/* How often the use of a group is noted, and how far its floor may be late; our choice. */
#define NOTE_NS 1000000ULL
#define LATE_NS 50000ULL
/* How often waiting tasks are counted, for the length of slices; our choice. */
#define COUNT_NS 1000000ULL
/* How often the active cores are counted, for the row of the turbo table. */
#define ACTIVE_NS 1000000ULL
/* CPUs that a wake-up looks at for one to interrupt; our choice. */
#define WAKE_LOOKS_MAX 8
/* How long after a bill the ends of slices look for pending bills at least; our choice. */
#define OWED_NS 60000000000ULL
/*
 * Tasks leave the local DSQ of a CPU that a task of a higher class has had for this
 * long. Most real-time tasks and interrupt threads are done sooner, and a task that
 * left at once would migrate at each of their wake-ups. Our choice.
 */
#define TAKEN_NS 1000000ULL
/* The hash of a set of CPUs while the bits of its group are set in the CPUs. */
#define HASH_CHANGES 1
/* The timer's period while a CPU is going offline; our choice. */
#define GOING_LOOK_NS 5000000ULL

/* CPUs that a search for a place or a swap looks at; our choice. */
#define MIX_LOOKS_MAX 64

/* Hardware threads of a core; our choice. */
#define SIBLINGS_MAX 8

/*
 * State of a task besides its virtual time. Operations skip the look-up of this state
 * where they can: the look-up costs more than all their other work.
 */
struct task {
	/* CPU time when the timer saw the task waiting, and since when the wait may last. */
	u64 seen_exec_ns;
	u64 waits_since_ns;
	/* Pending bills: for losses of victims, and for waits while its CPU was forced idle. */
	u64 owed_ns;
	u64 waited_ns;
	struct ek_learned learned;
	/* Levels that registers showed of any thread of the process; kept by the first thread. */
	struct ek_learned of_threads;
	struct ek_tests tests;
	/* Until when the task may be believed to demand more than level 0. */
	u64 wide_until_ns;
	/* How often the task had left a CPU when its saved registers were read. */
	u64 switches;
	/* Its deficit, and since when the task waits for a CPU. */
	struct ek_deficit deficit;
	u64 runnable_ns;
	/* How much faster the task is alone on its core. */
	u32 gain_permille;
	/* The CPU that is, or was, forced idle rather than run the task. */
	u32 refused_by;
	/* The level that counted instructions of its last slice showed. */
	u32 counted_level;
	u32 pad;
	/* Level by the rules, or the state of the question (EK_NAME_...). */
	u32 ruled;
	/* The affinity group that its virtual time is of, and the cache or the CPU of that. */
	u32 group;
	u32 cache;
	u32 cpu;
	/* Hash of the CPUs of the cache that the task may use. */
	u64 cpus_hash;
};

/* A physical core; `belief` is only kept where no counter tells the levels. */
struct core {
	struct bpf_spin_lock lock;
	u32 pad;
	/* When the core was last counted as active. */
	u64 counted_ns;
	struct ek_belief belief;
	struct ek_users users;
	/* Until when the core is left alone after a swap. */
	u64 settled_ns;
	/* Until when each level may be held. */
	u64 held_until_ns[EK_LEVELS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

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

/* Names that the rules are asked for. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} asked SEC(".maps");

/* Slices, where the loader wants them. */
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

struct look {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct look);
} looks SEC(".maps");

/* By CPU: fires when a task of a higher class has had the CPU for TAKEN_NS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct look);
} taken SEC(".maps");

/* By CPU: ends its forced idle. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct look);
} quiets SEC(".maps");

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

static struct core *core_of(const struct ek_cpu *cpu)
{
	u32 core = cpu->core;

	return bpf_map_lookup_elem(&cores, &core);
}

static u64 queue_of(u32 cache, u32 class, u32 group)
{
	return cache | OF_CLASS(class) | OF_GROUP(group);
}

static u32 class_of_queue(u64 queue)
{
	return queue >> 16 & 0xff;
}

static u32 group_of_queue(u64 queue)
{
	return queue >> 24 & 0xff;
}

static bool is_empty(u64 queue)
{
	return scx_bpf_dsq_nr_queued(queue) <= 0;
}

/* Bits of the groups of a class in whose queues tasks may wait. */
static u32 groups_of(const struct ek_cache *cache, u32 class)
{
	return class < EK_LEVELS_MAX ? cache->queues[class] : 0;
}

/* A task is about to be queued. */
static void mark_queue(struct ek_cache *cache, u32 class, u32 group)
{
	if (class >= cache->classes)
		cache->classes = class + 1;
	if (class < EK_LEVELS_MAX && !(cache->queues[class] >> group & 1))
		__sync_fetch_and_or(&cache->queues[class], 1U << group);
}

/* Whether tasks of a cache wait in one queue only, but for those bound to a CPU. */
static bool has_one_queue(const struct ek_cache *cache)
{
	return cache->classes == 1 && cache->queues[0] == 1U << EK_GROUP_WHOLE;
}

/* Tasks that wait in the queues of a class of a cache. */
__noinline u32 ek_waiting(u32 index, u32 class)
{
	const struct ek_cache *cache = cache_of(index);
	u32 groups = cache ? groups_of(cache, class) : 0, tasks = 0;
	int group;

	bpf_for(group, 0, EK_GROUPS) {
		if (groups >> group & 1) {
			s32 queued = scx_bpf_dsq_nr_queued(queue_of(index, class, group));

			tasks += queued > 0 ? queued : 0;
		}
	}
	return tasks;
}

/* Tasks that wait in the queues of a cache. */
static u32 waiting(u32 index, const struct ek_cache *cache)
{
	u32 tasks = 0;

	for (u32 class = 0; class < EK_LEVELS_MAX && class < cache->classes; class++)
		tasks += ek_waiting(index, class);
	return tasks;
}

#endif

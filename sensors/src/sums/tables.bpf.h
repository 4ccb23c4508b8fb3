/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Where are the sums, and how does a CPU add to them?
 *
 * To its cache first; what leaves the cache is added to the tables, atomically.
 */
#ifndef EVENKEEL_SUMS_TABLES_H
#define EVENKEEL_SUMS_TABLES_H

#include "../kernel.bpf.h"
#include "interface.bpf.h"

/* Stays of a CPU that a wait is compared with; a power of two, our choice. */
#define STAYS 16
/* A time for which a CPU ran tasks of one group. */
struct stay {
	u64 group;
	u64 began_ns;
	u64 ended_ns;
};

/* What only this CPU reads and writes. */
struct here {
	/* When its task came, which, and that task's time on run queues before. */
	u64 came_ns;
	int came_tid;
	u32 pad;
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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cache);
} caches SEC(".maps");

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

/* Processes that ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GROUPS_MAX);
	__type(key, u64);
	__type(value, u64);
} ended SEC(".maps");

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

static __noinline int add_group(u64 group, const struct group_sum *more)
{
	struct group_sum *sum;

	if (!more)
		return 0;
	sum = bpf_map_lookup_elem(&groups, &group);
	if (!sum) {
		if (!bpf_map_update_elem(&groups, &group, more, BPF_NOEXIST))
			return 0;
		/* Another CPU was first, or the table is full. */
		sum = bpf_map_lookup_elem(&groups, &group);
	}
	if (!sum) {
		count_without_room();
		return 0;
	}
	add(&sum->cpu_time_ns, more->cpu_time_ns);
	add(&sum->waited_ns, more->waited_ns);
	add(&sum->lost_ns, more->lost_ns);
	add(&sum->leaves, more->leaves);
	if (more->comm[0]) {
		sum->comm[0] = more->comm[0];
		sum->comm[1] = more->comm[1];
	}
	return 0;
}

static __noinline int add_pair(u64 victim, u64 culprit, const struct pair_sum *more)
{
	struct pair key = {.victim = victim, .culprit = culprit};
	struct pair_sum *sum;

	if (!more)
		return 0;
	sum = bpf_map_lookup_elem(&pairs, &key);
	if (!sum) {
		if (!bpf_map_update_elem(&pairs, &key, more, BPF_NOEXIST))
			return 0;
		sum = bpf_map_lookup_elem(&pairs, &key);
	}
	if (!sum) {
		count_without_room();
		return 0;
	}
	add(&sum->waited_ns, more->waited_ns);
	add(&sum->beside_ns, more->beside_ns);
	add(&sum->lost_ns, more->lost_ns);
	return 0;
}

static __always_inline u32 slot(u64 number)
{
	return (u32)(number * 0x9e3779b97f4a7c15ULL >> 32);
}

/* This CPU's sum of a group, until the next reading. */
static __always_inline struct group_sum *cached_group(struct cache *cache, u64 group)
{
	u32 at = slot(group) % CACHED_GROUPS;
	struct group_sum *sum = &cache->of_groups[at];

	if (cache->groups[at] == group)
		return sum;
	if (cache->groups[at])
		add_group(cache->groups[at], sum);
	cache->groups[at] = group;
	__builtin_memset(sum, 0, sizeof(*sum));
	return sum;
}

/* This CPU's sum of a pair, until the next reading. */
static __always_inline struct pair_sum *cached_pair(struct cache *cache, u64 victim, u64 culprit)
{
	u32 at = slot(victim ^ culprit << 20) % CACHED_PAIRS;
	struct pair_sum *sum = &cache->of_pairs[at];
	struct pair *key = &cache->pairs[at];

	if (key->victim == victim && key->culprit == culprit)
		return sum;
	if (key->victim)
		add_pair(key->victim, key->culprit, sum);
	key->victim = victim;
	key->culprit = culprit;
	__builtin_memset(sum, 0, sizeof(*sum));
	return sum;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What does the scheduler remember of tasks, CPUs and caches, and what are
 * its queues called?
 */
#ifndef EVENKEEL_STATE_BPF_H
#define EVENKEEL_STATE_BPF_H

#include "kernel.h"
#include "interface.h"

const volatile struct ek_config config;
struct ek_end end;

/* Names of queues: a cache's, a CPU's, and that of the long waiting of a cache. */
#define OF_CPU (1ULL << 32)
#define OF_AGED (1ULL << 33)
#define NEVER (~0ULL)
/* CPUs that a wake-up looks at for one to interrupt; our choice. */
#define LOOKS_MAX 64
/* How often a CPU that is being taken away is looked after; our choice. */
#define GOING_LOOK_NS 5000000ULL

struct task {
	u64 vtime_ns;
	/* CPU time it had when it came to a CPU. */
	u64 exec_ns;
	u64 runnable_since_ns;
	u32 weight;
	u32 cache;
	bool is_new;
	bool has_yielded;
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

static void count(u32 counter)
{
	u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += 1;
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

#endif

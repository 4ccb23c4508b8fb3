/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What do the scheduler and its loader tell each other?
 *
 * The loader writes the configuration and the places of CPUs before it loads
 * the program, and reads counters and the reason of the end. src/interface.rs
 * has the same structures.
 */
#ifndef EVENKEEL_INTERFACE_H
#define EVENKEEL_INTERFACE_H

/* More than machines have; a loop over them needs a bound. Our choice. */
#define EK_CACHES_MAX 1024

struct ek_config {
	u64 slice_ns;
	/* A waking task is placed this far behind the minimum at most. */
	u64 sleeper_credit_ns;
	/* A running task this far ahead of a waking one gives way. */
	u64 wakeup_granularity_ns;
	u64 watchdog_ns;
	/* CPU numbers are below. */
	u32 cpus;
	/* Last-level caches. */
	u32 caches;
};

/* A CPU's place, and what runs there. */
struct ek_cpu {
	/* The next CPU of the same cache, in a ring. */
	u32 next;
	u32 cache;
	/* Virtual time of the running task when it began; 0 and weight 0: nothing runs. */
	u64 vtime_ns;
	u64 since_ns;
	u32 weight;
	/* The CPU is being taken away. */
	u32 is_going;
};

struct ek_cache {
	/* Least virtual time so far; never falls. */
	u64 min_vtime_ns;
	u32 cpus;
	u32 pad;
};

/* What happened how often; each has a sentence in src/interface.rs. */
enum ek_counter {
	EK_WOKE_IDLE,
	EK_QUEUED,
	EK_PINNED,
	EK_KERNEL_THREAD,
	EK_PREEMPTED,
	EK_KEPT,
	EK_TOOK,
	EK_TOOK_OTHER_CACHE,
	EK_PASSED_OVER,
	EK_AGED,
	EK_YIELDED,
	EK_NO_MEMORY,
	EK_COUNTERS,
};

struct ek_end {
	s32 kind;
	u32 pad;
	s64 code;
	char reason[128];
	char message[1024];
};

_Static_assert(sizeof(struct ek_config) == 40, "the loader writes this");
_Static_assert(sizeof(struct ek_cpu) == 32, "the loader writes this");
_Static_assert(sizeof(struct ek_cache) == 16, "the loader writes this");
_Static_assert(sizeof(struct ek_end) == 1168, "the loader reads this");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the program and its reader (layout.rs) share: constants and values of maps.
 */
#ifndef EVENKEEL_SUMS_INTERFACE_H
#define EVENKEEL_SUMS_INTERFACE_H

#include <evenkeel/belief.h>

/* Rooms of the tables; our choice. */
#define GROUPS_MAX 16384
#define PAIRS_MAX 65536
#define TASKS_MAX 65536

/* Constants of a collection, set before the program is loaded. */
struct setup {
	/* How long the core holds each level after the last demand. */
	struct ek_level_times hold;
	/* States of registers that show 512-bit code, and tiles, in XSTATE_BV. */
	u64 wide_features;
	u64 tile_features;
	/* Levels that these demand; both 0 without a CPU table. */
	u32 wide_level;
	u32 tile_level;
	u32 by_control_group;
	u32 pad;
};

/* How much slower than at its own level (first index) a task is at a higher one, Q30. */
struct clock {
	u32 slower_q30[EK_LEVELS_MAX][EK_LEVELS_MAX];
};

/* The program's own numbers. */
struct state {
	/* Sums that found no room. */
	u64 without_room;
	/* Groups that left wide registers. */
	u64 wide_groups;
	/* Until when the running tasks were last booked. */
	u64 booked_ns;
};

/* Place of a CPU. */
struct place {
	u32 core;
	u32 thread;
};

struct group_sum {
	u64 cpu_time_ns;
	u64 waited_ns;
	u64 lost_ns;
	u64 leaves;
	/* The name of the process. */
	u64 comm[2];
};

/* How often a group left a CPU with wide registers in use. */
struct wide_leaves {
	u64 all;
	u64 with_tiles;
};

struct pair {
	u64 victim;
	u64 culprit;
};

struct pair_sum {
	u64 waited_ns;
	u64 beside_ns;
	u64 lost_ns;
};

/* A CPU; its core's lock guards it. */
struct cpu {
	/* 0: idle. */
	u64 group;
	/* Until when the time of its task is booked. */
	u64 booked_ns;
	u64 busy_ns;
	u64 switches;
	u64 held_ns;
	/* Lost by the running task to the core's holder, and not booked. */
	u64 lost_ns;
	/* Level that the running task demands. */
	u32 level;
	u32 pad;
};

/*
 * Sums that a CPU has not added to the tables yet. A group that runs on many CPUs would have them
 * fight for one cache line at each switch; so they meet once for each eviction and each reading.
 */
#define CACHED_GROUPS 16
#define CACHED_PAIRS 32
struct cache {
	/* 0: free. */
	u64 groups[CACHED_GROUPS];
	struct pair pairs[CACHED_PAIRS];
	struct group_sum of_groups[CACHED_GROUPS];
	struct pair_sum of_pairs[CACHED_PAIRS];
};

struct core {
	struct bpf_spin_lock lock;
	/* The highest level in force when the belief was last booked. */
	u32 level;
	/* The group that last demanded a level. */
	u64 holder;
	/* Until when more than level 0 may be in force. */
	u64 wide_until_ns;
	struct ek_belief belief;
	struct cpu threads[2];
};

_Static_assert(sizeof(struct setup) == 80, "as layout.rs writes");
_Static_assert(sizeof(struct group_sum) == 48, "as layout.rs reads");
_Static_assert(sizeof(struct cpu) == 56, "as layout.rs reads");
_Static_assert(sizeof(struct core) == 24 + 128 + 112, "as layout.rs reads");

#endif

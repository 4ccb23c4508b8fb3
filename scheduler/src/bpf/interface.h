/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which data do the scheduler and its loader exchange?
 *
 * The loader writes the configuration and the places of CPUs before the program is
 * loaded, and reads counters, decisions and the reason of the end.
 * src/interface.rs has the same structures.
 */
#ifndef EVENKEEL_INTERFACE_H
#define EVENKEEL_INTERFACE_H

#include <evenkeel/active.h>
#include <evenkeel/belief.h>
#include <evenkeel/compensate.h>
#include <evenkeel/deficit.h>
#include <evenkeel/demanded.h>
#include <evenkeel/lag.h>
#include <evenkeel/learned.h>
#include <evenkeel/retired.h>
#include <evenkeel/time_lost.h>
#include <evenkeel/users.h>

/* More than machines have; a loop over them needs a bound. Our choice. */
#define EK_CACHES_MAX 1024
/* TASK_COMM_LEN of the kernel. */
#define EK_NAME 16
/* Names that rules are looked up for; our choice. */
#define EK_NAMES_MAX 8192

/* Hardware counters that a CPU may have for us. */
enum ek_event {
	/* Core cycles at license levels 1 and 2 (CORE_POWER.LVL1/2_TURBO_LICENSE). */
	EK_EVENT_LICENSE_1,
	EK_EVENT_LICENSE_2,
	/* Cycles and reference cycles: of the PMU, or aperf and mperf. */
	EK_EVENT_CYCLES,
	EK_EVENT_REF_CYCLES,
	/* Stalled on L2 misses, and bound by stores. */
	EK_EVENT_STALL_L2_MISS,
	EK_EVENT_STALL_STORES,
	/* Packed floating-point instructions of 256 and 512 bits. */
	EK_EVENT_FP_256,
	EK_EVENT_FP_512,
	EK_EVENTS,
};

/* Sensors of the classes of tasks and of the levels in force. */
enum ek_sensor {
	EK_SENSOR_LICENSES = 1,
	EK_SENSOR_FP_RETIRED = 2,
	EK_SENSOR_REGISTERS = 4,
	EK_SENSOR_RULES = 8,
};

/* The additions of `even` to isolation. */
enum ek_part {
	/* CPUs prefer the level that runs beside them. */
	EK_PART_MATCHING = 1,
	/* Waking tasks take the idle CPU that costs least. */
	EK_PART_PLACING = 2,
	/* Tasks are swapped where no task waits. */
	EK_PART_SWAPS = 4,
	/* Idle compensation repays deficits that virtual time cannot repay. */
	EK_PART_REPAYMENT = 8,
	/* A task that keeps its CPU has forced switch-outs, so that its registers can be read. */
	EK_PART_AIRING = 16,
};

/* Registers that a saved state shows in use. */
enum ek_width { EK_WIDTH_256, EK_WIDTH_512, EK_WIDTH_TILES, EK_WIDTHS_SHOWN };

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
	/* enum ek_mode; without compensation no sensor is read. */
	u32 mode;
	/* Queues of a cache: one for each level that tasks may demand. */
	u32 classes;
	/* Bits of enum ek_sensor, and 1 << enum ek_event for those that the CPU has. */
	u32 sensors;
	u32 events;
	/* Each slice is written to the ring buffer. */
	u32 tells;
	/* Level that registers of each width in use are evidence for. */
	u32 level_of_width[EK_WIDTHS_SHOWN];
	struct ek_level_times hold;
	struct ek_rates rates;
	struct ek_turbo turbo;
	/* Bits of enum ek_part. */
	u32 parts;
	/* The speed of a hardware thread beside a busy one, over its speed alone. */
	u32 smt_share_permille;
	u32 pad;
};

/* The result of a slice, and the inputs to recompute that result. */
struct ek_decision {
	u64 time_ns;
	u64 slice_ns;
	u64 lost_ns;
	u64 refund_ns;
	u64 bill_ns;
	/* Bills for the losses of victims that the task paid with this slice. */
	u64 paid_ns;
	u64 vtime_ns;
	struct ek_slice slice;
	u32 cpu;
	u32 victim;
	/* The task that is billed, or EK_NOBODY. */
	u32 culprit;
	u32 weight;
	u32 own_level;
	/* Whether the task was still runnable when the slice ended. */
	u32 is_runnable;
	/* Lost, and to be repaid by idle compensation: no part of the refund. */
	u64 in_kind_ns;
	/* The part of `paid_ns` for having waited while its CPU was forced idle. */
	u64 waited_ns;
	/* Its virtual time when the slice began. */
	u64 from_vtime_ns;
	/* Its affinity group (enum ek_group_number), whose virtual time that is. */
	u32 group;
	u32 pad;
};

/* The tasks beside a CPU, and their effect on each level here. All 0 where none runs. */
struct ek_around {
	/* The virtual time by which each level goes later. */
	u64 price_ns[EK_LEVELS_MAX];
	/* How long idle is forced, for the task beside, on levels from `quiet_from` on; 0: not. */
	u64 quiet_ns;
	u32 quiet_from;
	/* The highest level of the tasks beside, and whether any runs. */
	u32 level;
	u32 runs;
	u32 pad;
};

/*
 * Affinity groups of a cache: tasks that may use the same of its CPUs. A group has
 * queues and a virtual time of its own.
 */
enum ek_group_number {
	/* Tasks that may use every CPU of the cache. */
	EK_GROUP_WHOLE,
	/* Each of the numbers between is for one set of CPUs; our choice how many. */
	EK_GROUP_SETS,
	/* Tasks whose set of CPUs found no number free: a CPU passes over those of other CPUs. */
	EK_GROUP_MIXED = 14,
	EK_GROUPS,
	/* Tasks that may use one CPU only, in the queue of that CPU. */
	EK_GROUP_OWN = EK_GROUPS,
	/* Numbers of groups, a power of two. */
	EK_GROUP_NUMBERS,
};

struct ek_group {
	/* The greatest virtual time at which a task of the group was the least; never falls. */
	u64 floor_ns;
	/* How far the floor rose recently, and when that was noted (ek_rate_ns). */
	u64 rate_ns;
	u64 rated_ns;
	/* When a task of the group was last queued, or seen running. */
	u64 used_ns;
	/* A hash of the set of CPUs; 0: no set yet. */
	u64 cpus_hash;
	/* How often the group began to be used after none of its tasks was runnable. */
	u32 epoch;
	u32 pad;
};

/* A CPU's place, and its running task. */
struct ek_cpu {
	/* The next CPU of the same cache, in a ring. */
	u32 next;
	u32 cache;
	/* Virtual and CPU time of the running task at its slice's begin; weight 0: none runs. */
	u64 vtime_ns;
	u64 exec_ns;
	u64 since_ns;
	u32 weight;
	/* The CPU is going offline. */
	u32 is_going;
	/* Tasks may wait in the CPU's own queue. */
	u32 has_own;
	u32 core;
	u32 package;
	/* The next CPU of the same core, in a ring. */
	u32 sibling;
	/* The last dispatch took a starved task; the next one takes the least again. */
	u32 took_aged;
	/* Affinity group of the running task. */
	u32 group;
	/* Until when more than level 0 may be in force on its core. */
	u64 busy_until_ns;
	/* A waking task has interrupted the running one. */
	u32 gives_way;
	/* The running task has yielded. */
	u32 has_yielded;
	/* Level that the running task is believed to demand. */
	u32 level;
	/* Whether `booked` was read from the core when the slice began. */
	u32 is_read;
	struct ek_level_times booked;
	/* Counters when the slice began, and whether all were read. */
	u64 counted[EK_EVENTS];
	u32 is_counted;
	/* Row of the turbo table that holds. */
	u32 turbo_row;
	struct ek_level_times believed;
	/* The running task, and the tasks on its siblings since its slice began. */
	struct ek_beside own;
	struct ek_beside beside;
	/* How long the slice's beginning may have been held at a level from before. */
	u64 held_ns;
	struct ek_demanded demanded;
	/* The slice that ends. */
	struct ek_decision decision;
	struct ek_lost lost;
	struct ek_around around;
	/* Level of the running task, and whether that task may run on every CPU. */
	u32 runs_level;
	u32 is_free;
	/* The running task's deficit, and its gain alone on the core, when its slice began. */
	struct ek_deficit deficit;
	u32 gain_permille;
	/* The task that forced idle refused, and its CPU time then. */
	u32 refused;
	u64 refused_exec_ns;
	/* Forced idle of siblings for the running task since its slice began. */
	u64 was_quiet_ns;
	/* Since when the CPU is forced idle; 0: not forced. */
	u64 quiet_ns;
	/* One more than the CPU to which a swap sends the running task; the task, once gone. */
	u32 sends_to;
	u32 sent;
	/* The other task of the two has come already. */
	u32 is_second;
	/* A forced switch-out of the running task is due; since when that task is here. */
	u32 airs;
	u64 came_ns;
	/* The counters of levels and classes could not be read when the slice began. */
	u32 is_deaf;
	/* The task that begins was the least of all that may run here. */
	u32 is_least;
	/* The greatest virtual time at which a task was the least here, on this CPU's own clock. */
	u64 clock_ns;
	/* Where virtual times of the groups are on that clock, and of which epoch that is. */
	struct ek_anchor anchors[EK_GROUP_NUMBERS];
	u32 epochs[EK_GROUP_NUMBERS];
	/* Bits of the groups of sets of CPUs whose tasks may run here. */
	u32 groups;
	/* Weight and virtual time of the head of a queue that was looked at last. */
	u32 head_weight;
	/* The least of the heads of a cache's queues that were looked at, on this CPU's clock. */
	u32 least_weight;
	/* A task of a higher class, as a real-time one, has the CPU. */
	u32 is_taken;
	u64 least_queue;
	u64 least_ns;
	u64 least_vtime_ns;
	u64 head_vtime_ns;
	/* Tasks that may run here only. */
	struct ek_group bound;
};

struct ek_cache {
	/* When the waiting tasks were counted last, and their number. */
	u64 counted_ns;
	u32 waiting;
	u32 cpus;
	/* Classes that tasks were queued in so far; queues beyond are empty. */
	u32 classes;
	/* Tasks may wait in the queue of starved tasks. */
	u32 has_aged;
	/* By class, bits of the groups in whose queues tasks may wait. */
	u32 queues[EK_LEVELS_MAX];
	/* By number; the last is no group of a cache. */
	struct ek_group groups[EK_GROUP_NUMBERS];
};

struct ek_package {
	/* When the active cores were counted, and their number. */
	u64 counted_ns;
	u64 cores;
	struct ek_active active;
};

/* A task's name and that of its process, which rules compare. */
struct ek_names {
	char task[EK_NAME];
	char process[EK_NAME];
};

/* Answers of the rules: a level, or one of these. */
#define EK_NAME_UNRULED 0xfffffffeU
#define EK_NAME_ASKED 0xffffffffU

/* Counted events; each has a sentence in src/interface.rs. */
enum ek_counter {
	EK_WOKE_IDLE,
	EK_QUEUED,
	EK_PINNED,
	EK_STRAIGHT,
	EK_KERNEL_THREAD,
	EK_PREEMPTED,
	EK_KEPT,
	EK_TOOK,
	EK_TOOK_OTHER_CACHE,
	EK_PASSED_OVER,
	EK_AGED,
	EK_YIELDED,
	EK_NO_MEMORY,
	EK_EVIDENCE,
	EK_LOST,
	EK_REFUNDED,
	EK_REFUNDED_NS,
	EK_BILLED_NS,
	EK_NOBODY_TO_BILL,
	EK_UNTOLD,
	EK_PLACED,
	EK_SWAPPED,
	EK_IN_KIND_NS,
	EK_QUIET,
	EK_QUIET_NS,
	EK_AIRED,
	EK_TAKEN,
	EK_COUNTERS,
};

struct ek_end {
	s32 kind;
	u32 pad;
	s64 code;
	char reason[128];
	char message[1024];
	/* The kernel's own length of a dump (SCX_EXIT_DUMP_DFL_LEN). */
	char dump[32768];
};

_Static_assert(sizeof(struct ek_config) == 640, "the loader writes this");
_Static_assert(sizeof(struct ek_cpu) == 1144, "the loader writes this");
_Static_assert(sizeof(struct ek_cache) == 816, "the loader writes this");
_Static_assert(sizeof(struct ek_decision) == 200, "the loader reads this");
_Static_assert(sizeof(struct ek_end) == 33936, "the loader reads this");

#endif

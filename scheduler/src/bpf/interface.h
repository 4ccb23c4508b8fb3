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
#include <evenkeel/alone.h>
#include <evenkeel/demanded.h>
#include <evenkeel/lag.h>
#include <evenkeel/learned.h>
#include <evenkeel/retired.h>
#include <evenkeel/specialize.h>
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
	/* CPUs prefer tasks of the level that runs on their siblings. */
	EK_PART_MATCHING = 1,
	/* Waking tasks take the idle CPU that costs least. */
	EK_PART_PLACING = 2,
	/* Tasks are swapped where no task waits. */
	EK_PART_SWAPS = 4,
	/* Idle compensation repays deficits that virtual time cannot repay. */
	EK_PART_REPAYMENT = 8,
	/* A task that keeps its CPU has forced switch-outs, so that its registers can be read. */
	EK_PART_FORCED_SWITCH_OUT = 16,
};

/* What decides which cores are wide (<evenkeel/specialize.h>). */
enum ek_specialization {
	/* Cores and tasks have no kinds. */
	EK_SPECIALIZATION_OFF,
	/* Numbers of runnable tasks (D 6.2.2). */
	EK_SPECIALIZATION_BY_LOAD,
	/* Virtual times. */
	EK_SPECIALIZATION_BY_LAG,
};

/* Registers that a saved state shows in use. */
enum ek_width { EK_WIDTH_256, EK_WIDTH_512, EK_WIDTH_TILES, EK_WIDTHS_SHOWN };

struct ek_config {
	u64 slice_ns;
	/* A waking task is placed this far behind the minimum at most. */
	u64 sleeper_credit_ns;
	/* A waking task preempts a running task that is this far ahead. */
	u64 wakeup_granularity_ns;
	u64 watchdog_ns;
	/* CPU numbers are below. */
	u32 cpus;
	/* Last-level caches. */
	u32 caches;
	/* enum ek_mode; without compensation no sensor is read. */
	u32 mode;
	/*
	 * Classes of tasks, which have DSQs: one for each level that tasks may demand, or with
	 * core specialization one for each enum ek_task_kind.
	 */
	u32 classes;
	/* Bits of enum ek_sensor, and 1 << enum ek_event for those that the CPU has. */
	u32 sensors;
	u32 events;
	/* A decision for each slice goes to the ring buffer. */
	u32 emits_decisions;
	/* Level that registers of each width in use are evidence for. */
	u32 level_of_width[EK_WIDTHS_SHOWN];
	struct ek_level_times hold;
	struct ek_rates rates;
	/* Of all cores, or of those of high priority. */
	struct ek_turbo turbo;
	/* Bits of enum ek_part. */
	u32 parts;
	/* The speed of a hardware thread with a busy sibling, over its speed alone. */
	u32 smt_share_permille;
	/* enum ek_specialization, and whether cores keep the kinds that the loader gave them. */
	u32 specialization;
	u32 has_fixed_cores;
	/* A task is wide that is believed to demand this level or a higher one. */
	u32 wide_level;
	/* Whether a system call ends a wide phase, unless narrow phases are short. */
	u32 ends_by_call;
	/* Whether only declared tasks are narrow or wide, and not all tasks of users. */
	u32 enrols_declared;
	/* Of cores of low priority, of the same rows; and whether the CPU table has such cores. */
	struct ek_turbo slow_turbo;
	u32 has_slow_turbo;
};

/* The result of a slice, and the inputs to recompute that result. */
struct ek_decision {
	u64 time_ns;
	u64 slice_ns;
	u64 lost_ns;
	u64 refund_ns;
	u64 bill_ns;
	/* All that the task paid with this slice: bills for losses, and `waited_ns`. */
	u64 paid_ns;
	u64 vtime_ns;
	struct ek_slice slice;
	u32 cpu;
	u32 victim;
	/* The task that is billed, or EK_NO_TASK; under `even` also set if all became a deficit. */
	u32 culprit;
	u32 weight;
	u32 own_level;
	/* Whether the task was still runnable when the slice ended. */
	u32 is_runnable;
	/* The part of the time lost that became a deficit: no part of the refund. */
	u64 idle_compensation_ns;
	/* The part of `paid_ns` for waits while its CPU was forced idle. */
	u64 waited_ns;
	/* Its virtual time when the slice began. */
	u64 from_vtime_ns;
	/* Its affinity group (enum ek_group_number), whose virtual time that is. */
	u32 group;
	u32 pad;
};

/* The tasks on the siblings of a CPU, and their effect on each level here; all 0 if none runs. */
struct ek_siblings {
	/* The price of each level: virtual time that a task of the level waits longer. */
	u64 price_ns[EK_LEVELS_MAX];
	/*
	 * How long the CPU is forced idle for tasks of `idle_from_level` and above, to repay
	 * the deficit of the task on a sibling; 0: not at all.
	 */
	u64 forced_idle_ns;
	u32 idle_from_level;
	/* The highest level of the tasks on the siblings; whether any runs, and all lead. */
	u32 level;
	u32 runs;
	u32 lead;
};

/*
 * Affinity groups of a cache: tasks that may use the same of its CPUs. A group has DSQs
 * and a virtual time of its own.
 */
enum ek_group_number {
	/* Tasks that may use every CPU of the cache. */
	EK_GROUP_WHOLE,
	/* Each number from here to EK_GROUP_MIXED or EK_GROUP_WIDE is for one set of CPUs. */
	EK_GROUP_SETS,
	/*
	 * With core specialization, where virtual times do not decide which cores are wide: wide
	 * tasks that may use every CPU of the cache, of which only wide cores run them.
	 */
	EK_GROUP_WIDE = 13,
	/* Tasks whose set of CPUs found no free number: a CPU skips those that it may not run. */
	EK_GROUP_MIXED = 14,
	EK_GROUPS,
	/* Pinned tasks, that is, which may use one CPU only: in the DSQ of that CPU. */
	EK_GROUP_PINNED = EK_GROUPS,
	/* Numbers of groups, a power of two. */
	EK_GROUP_NUMBERS,
};

struct ek_group {
	/* The minimum virtual runtime of the group; never falls. */
	u64 min_vtime_ns;
	/* How far `min_vtime_ns` rose recently, and when that was noted (ek_rate_ns). */
	u64 rate_ns;
	u64 rated_ns;
	/* When a task of the group was last enqueued, or running. */
	u64 used_ns;
	/* A hash of the set of CPUs; 0: no set yet. */
	u64 cpus_hash;
	/* How often the group began to be used after none of its tasks was runnable. */
	u32 epoch;
	u32 pad;
};

/* CPUs that a chain of migrations is looked for among, a power of two; our choice. */
#define EK_CHAIN_CPUS 8

/*
 * A search for a chain of migrations, by numbers of CPUs in the ring of their cache; number 0
 * is the first. It is in a map, since the verifier follows each value of a local variable.
 */
struct ek_chain {
	u32 cpus[EK_CHAIN_CPUS];
	/* The running tasks' groups; EK_GROUP_PINNED for a task that must not migrate. */
	u32 groups[EK_CHAIN_CPUS];
	/* Four bits for each CPU: the number of the CPU whose task would migrate there. */
	u32 from;
	u32 length;
	/* Bits of the numbers that were reached so far, by the last migration, and by the next. */
	u32 reached;
	u32 last;
	u32 next;
	u32 pad;
};

/* A CPU's place, and its running task. */
struct ek_cpu {
	/* The next CPU of the same cache, in a ring. */
	u32 next_in_cache;
	u32 cache;
	/* Virtual and CPU time of the running task when its slice began; weight 0: no task runs. */
	u64 vtime_ns;
	u64 exec_ns;
	u64 slice_start_ns;
	u32 weight;
	/* Set from the CPU's `cpu_offline` until it is offline. */
	u32 going_offline;
	/* Pinned tasks may wait in the DSQ of the CPU. */
	u32 has_pinned;
	u32 core;
	u32 package;
	/* The next CPU of the same core, in a ring. */
	u32 next_sibling;
	/* The last dispatch served a starved task; the next one serves the least head. */
	u32 took_starved;
	/* Affinity group of the running task. */
	u32 group;
	/* Until when more than level 0 may be in force on its core. */
	u64 core_wide_until_ns;
	/* A waking task preempts the running task: the CPU is kicked. */
	u32 preempt_requested;
	/* The task that the running one wakes and promises to sleep for soon; 0: none. */
	u32 sync_wakes;
	/* The running task has yielded. */
	u32 has_yielded;
	/* Level that the running task is believed to demand. */
	u32 level;
	/* Whether `booked` was copied from the core when the slice began. */
	u32 has_booked;
	struct ek_level_times booked;
	/* Counters when the slice began, and whether all were read. */
	u64 counted[EK_EVENTS];
	u32 is_counted;
	/* Row of the turbo table that holds. */
	u32 turbo_row;
	struct ek_level_times believed;
	/* Levels of the running task, and of the tasks on the siblings since its slice began. */
	struct ek_sibling_levels own_levels;
	struct ek_sibling_levels sibling_levels;
	/* How long the slice's beginning may have been held at a level from before. */
	u64 held_ns;
	struct ek_demanded demanded;
	/* The slice that ends. */
	struct ek_decision decision;
	struct ek_lost lost;
	struct ek_siblings siblings;
	/* Class of the running task, and whether that task may run on every CPU. */
	u32 running_class;
	u32 has_full_affinity;
	/* When its slice began: the running task's deficit, and its speed-up alone on the core. */
	struct ek_deficit deficit;
	u32 gain_permille;
	/* The task that forced idle refused, and its CPU time then. */
	u32 refused;
	u64 refused_exec_ns;
	/* Forced idle of siblings for the running task since its slice began. */
	u64 siblings_idle_ns;
	/* How long the CPU had no task of ours, until its last task began; when that task ended. */
	u64 idle_ns;
	u64 idle_since_ns;
	/* The siblings' idle time, forced or not, when the running task's slice began. */
	u64 siblings_before_ns;
	/* Since when the CPU is forced idle; 0: not forced. */
	u64 forced_idle_since_ns;
	/* One more than the CPU to which a swap sends the running task; its pid, once it left. */
	u32 swap_to;
	u32 swap_pid;
	/* The other task of the swap has been enqueued already. */
	u32 swap_is_second;
	/* A forced switch-out of the running task is due; since when that task has the CPU. */
	u32 forced_switch_out;
	u64 on_cpu_since_ns;
	/* The counters of levels or classes could not be read when the slice began. */
	u32 no_pmu;
	/* The dispatched task had the least virtual time of all that may run here. */
	u32 is_least;
	/* The CPU clock: never falls. */
	u64 clock_ns;
	/* Converts each group's virtual time to that clock, since an epoch of the group. */
	struct ek_anchor anchors[EK_GROUP_NUMBERS];
	u32 epochs[EK_GROUP_NUMBERS];
	/* Bits of the numbers from EK_GROUP_SETS on whose tasks may run here. */
	u32 groups;
	/* Weight of the head that ek_head_ns read last; `head_vtime_ns` below. */
	u32 head_weight;
	/* The least of the heads of a cache's DSQs, on the CPU clock. */
	u32 least_weight;
	/* A task of a higher scheduling class has the CPU, as a real-time task. */
	u32 is_released;
	u64 least_dsq;
	u64 least_ns;
	u64 least_vtime_ns;
	u64 head_vtime_ns;
	/* The group of the tasks that are pinned to the CPU. */
	struct ek_group pinned;
	/* Converts the CPU clock to that of the cache, by which chains of migrations are chosen. */
	struct ek_anchor cache_anchor;
	/* One more than the CPU to which a chain sends the running task. */
	u32 push_to;
	/* The running task was dispatched as the least, and not since it was starved. */
	u32 runs_least;
	struct ek_chain chain;
	/* When its core changed its kind; 0: at the start. */
	u64 kind_since_ns;
	/* Whether the clock of its core is capped in favour of others: 0 or 1. */
	u32 is_slow;
	/* Whether its core is wide, and whether narrow tasks go first on it nevertheless. */
	u32 is_wide;
	u32 narrow_first;
};

struct ek_cache {
	/* When the waiting tasks of the cache were counted last, and their number. */
	u64 counted_ns;
	u32 waiting;
	u32 cpus;
	/* One more than the highest class that a task was enqueued with: higher DSQs are empty. */
	u32 classes;
	/* Tasks may wait in DSQ_STARVED. */
	u32 has_starved;
	/* By class, bits of the groups in whose DSQs tasks may wait. */
	u32 queues[EK_LEVELS_MAX];
	/* How often the mean task is alone on its core. */
	struct ek_alone alone;
	/* By number; the last is no group of a cache. */
	struct ek_group groups[EK_GROUP_NUMBERS];
	/* Its online cores by kind, and its runnable tasks when they were counted last. */
	struct ek_kinds kinds;
	/* Bits of the groups whose tasks may run on a wide core, and on a narrow core. */
	u32 wide_groups;
	u32 narrow_groups;
	/* A CPU of a core that became wide, and of one that became narrow, lately. */
	u32 wide_cpu;
	u32 narrow_cpu;
	/* When a core changed its kind last, and when tasks were counted for that. */
	u64 cores_changed_ns;
	u64 reviewed_ns;
	/* Since when wide tasks have waited at each look; 0: none waited at the last one. */
	u64 wide_waits_since_ns;
	u64 looked_ns;
	/* How often its cores were counted, and whether they have to be counted again. */
	u64 recounts;
	u32 is_stale;
	u32 more_pad;
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

/* The level of a rule, or: no rule fits; the loader has not answered yet. */
#define EK_NAME_UNRULED 0xfffffffeU
#define EK_NAME_ASKED 0xffffffffU

/* Counted events; each has a sentence in src/counters.rs. */
enum ek_counter {
	EK_WOKE_IDLE,
	EK_ENQUEUED,
	EK_ENQUEUED_PINNED,
	EK_DIRECT_DISPATCHES,
	EK_KERNEL_THREAD,
	EK_PREEMPTED,
	EK_KEPT,
	EK_DISPATCHED,
	EK_DISPATCHED_OTHER_CACHE,
	EK_HEAD_GONE,
	EK_STARVED,
	EK_YIELDED,
	EK_NO_MEMORY,
	EK_EVIDENCE,
	EK_LOST,
	EK_REFUNDED,
	EK_REFUNDED_NS,
	EK_BILLED_NS,
	EK_NO_CULPRIT,
	EK_DECISIONS_LOST,
	EK_PLACED,
	EK_SWAPPED,
	EK_IDLE_COMPENSATION_NS,
	EK_FORCED_IDLES,
	EK_FORCED_IDLE_NS,
	EK_FORCED_SWITCH_OUTS,
	EK_REENQUEUED,
	EK_PUSHED,
	EK_WIDE_PHASES,
	EK_ENDED_BY_CALL,
	EK_CORE_CHANGES,
	EK_MISPLACED,
	EK_MISPLACED_NS,
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

_Static_assert(sizeof(struct ek_config) == 1120, "the loader writes this");
_Static_assert(sizeof(struct ek_cpu) == 1320, "the loader writes this");
_Static_assert(sizeof(struct ek_cache) == 912, "the loader writes this");
_Static_assert(sizeof(struct ek_decision) == 200, "the loader reads this");
_Static_assert(sizeof(struct ek_end) == 33936, "the loader reads this");

#endif

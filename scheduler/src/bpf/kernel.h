/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which parts of the kernel does the scheduler use?
 *
 * Only the fields and functions that the scheduler needs, and a few that small
 * schedulers of users need, who get this header with the evenkeel command. They are
 * found in the running kernel by BTF: names of fields, functions and constants are
 * the kernel's (kernel/sched/ext.c, ext_idle.c and include/linux/sched/ext.h,
 * Linux 6.18 to 7.3).
 */
#ifndef EVENKEEL_KERNEL_H
#define EVENKEEL_KERNEL_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef signed short s16;
typedef signed int s32;
typedef signed long long s64;
#define EK_HAVE_KERNEL_INTS

typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s8 __s8;
typedef s16 __s16;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0

/* Expected by bpf_helpers.h (include/uapi/linux/bpf.h, Linux 7.0). */
enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_NOEXIST = 1 };
enum { BPF_F_NO_PREALLOC = 1 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
struct bpf_timer {
	u64 opaque[2];
} __attribute__((aligned(8)));

struct bpf_spin_lock {
	u32 val;
};
struct bpf_perf_event_value {
	u64 counter;
	u64 enabled;
	u64 running;
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define CLOCK_MONOTONIC 1
/* The timer fires on the CPU that starts the timer (include/uapi/linux/bpf.h, from 6.7 on). */
#define BPF_F_TIMER_CPU_PIN 2
#define ENOENT 2
#define ENOMEM 12

#define RELOCATED __attribute__((preserve_access_index))

/* --- Tasks --- */

/* The largest size of any kernel (CONFIG_NR_CPUS=8192); only its address is used. */
struct cpumask {
	unsigned long bits[128];
} RELOCATED;

struct sched_entity {
	u64 sum_exec_runtime;
} RELOCATED;

struct sched_ext_entity {
	u32 flags;
	u64 slice;
	u64 dsq_vtime;
	/* 100 is that of nice 0. */
	u32 weight;
} RELOCATED;

struct task_struct {
	unsigned int flags;
	int static_prio;
	unsigned int policy;
	int nr_cpus_allowed;
	unsigned short migration_disabled;
	/* The CPUs that a task may use now: one, if switched out while migration is disabled. */
	const struct cpumask *cpus_ptr;
	/* Its affinity mask, also while migration is disabled; nr_cpus_allowed is its size. */
	struct cpumask cpus_mask;
	struct sched_entity se;
	struct sched_ext_entity scx;
	int pid;
	/* How often the task has left a CPU, of its own will or not. */
	unsigned long nvcsw;
	unsigned long nivcsw;
	struct task_struct *group_leader;
	char comm[16];
} RELOCATED;

/* --- Saved registers (arch/x86/include/asm/fpu/types.h) --- */

struct xstate_header {
	u64 xfeatures;
} RELOCATED;

struct xregs_state {
	struct xstate_header header;
} RELOCATED;

union fpregs_state {
	struct xregs_state xsave;
} RELOCATED;

struct fpstate {
	union fpregs_state regs;
} RELOCATED;

struct fpu {
	struct fpstate *fpstate;
} RELOCATED;

/*
 * Where the kernel keeps the registers of a task that does not run: behind its
 * task_struct, saved when the task left a CPU (x86_task_fpu in
 * arch/x86/include/asm/processor.h, Linux 6.16 to 7.3). Those of a running task are
 * from its last switch-out.
 */
#define saved_registers(task) \
	bpf_core_cast((const char *)(task) + bpf_core_type_size(struct task_struct), struct fpu)

/* include/linux/sched.h, include/linux/sched/prio.h */
#define PF_KTHREAD 0x00200000
#define DEFAULT_PRIO 120
/* include/uapi/linux/sched.h */
#define SCHED_FIFO 1
#define SCHED_RR 2
#define SCHED_IDLE 5
#define SCHED_DEADLINE 6
/* enum scx_ent_flags */
#define SCX_TASK_QUEUED 1

/* --- sched_ext --- */

struct scx_init_task_args {
	bool fork;
} RELOCATED;

enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	const char *msg;
	const char *dump;
} RELOCATED;

struct scx_cpu_release_args {
	enum scx_exit_kind reason;
};

struct scx_dump_ctx {
	u64 at_ns;
} RELOCATED;

/* Values that other versions number differently: by BTF. */
enum scx_enq_flags {
	SCX_ENQ_WAKEUP = 1,
};
/* WF_SYNC of kernel/sched/sched.h: the waker is about to sleep. */
enum scx_wake_flags {
	SCX_WAKE_SYNC = 16,
};
enum scx_kick_flags {
	SCX_KICK_IDLE = 1,
	SCX_KICK_PREEMPT = 2,
};
/* The upper half of the flags is sched_ext's own, and the same in 6.12 to 7.3. */
#define SCX_ENQ_PREEMPT (1ULL << 32)
#define SCX_ENQ_LAST (1ULL << 41)
#define SCX_DSQ_GLOBAL ((1ULL << 63) | 1)
#define SCX_DSQ_LOCAL ((1ULL << 63) | 2)
#define SCX_DSQ_LOCAL_ON ((1ULL << 63) | (1ULL << 62))
#define SCX_SLICE_DFL 20000000ULL
#define SCX_OPS_KEEP_BUILTIN_IDLE (1ULL << 0)
#define SCX_OPS_ENQ_LAST (1ULL << 1)

#define kernel_enum(type, name) bpf_core_enum_value(enum type, name)

struct bpf_iter_scx_dsq {
	u64 opaque[6];
} __attribute__((aligned(8)));
struct bpf_iter_num {
	u64 opaque[1];
} __attribute__((aligned(8)));

s32 scx_bpf_create_dsq(u64 dsq_id, s32 node) __ksym;
s32 scx_bpf_dsq_nr_queued(u64 dsq_id) __ksym;
s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 prev_cpu, u64 wake_flags,
			   bool *is_idle) __ksym;
s32 scx_bpf_pick_idle_cpu(const struct cpumask *cpus_allowed, u64 flags) __ksym;
bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
const struct cpumask *scx_bpf_get_idle_cpumask(void) __ksym;
void scx_bpf_put_idle_cpumask(const struct cpumask *cpumask) __ksym;
bool bpf_cpumask_empty(const struct cpumask *cpumask) __ksym;
u32 bpf_cpumask_first(const struct cpumask *cpumask) __ksym;
bool bpf_cpumask_intersects(const struct cpumask *a, const struct cpumask *b) __ksym;
void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
void scx_bpf_dump_bstr(char *format, unsigned long long *values, u32 bytes) __ksym;
s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
struct task_struct *scx_bpf_cpu_curr(s32 cpu) __ksym __weak;
u64 scx_bpf_now(void) __ksym;
u32 scx_bpf_nr_cpu_ids(void) __ksym;
bool scx_bpf_task_running(const struct task_struct *p) __ksym;
void scx_bpf_error_bstr(char *format, unsigned long long *values, u32 bytes) __ksym;
const struct cpumask *scx_bpf_get_online_cpumask(void) __ksym;
void scx_bpf_put_cpumask(const struct cpumask *cpumask) __ksym;
bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *cpumask) __ksym;
void scx_bpf_dsq_insert(struct task_struct *p, u64 dsq_id, u64 slice, u64 enq_flags) __ksym;
bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it__iter, struct task_struct *p, u64 dsq_id,
		      u64 enq_flags) __ksym;
bool scx_bpf_dsq_move_to_local(u64 dsq_id) __ksym;
/* Kept by kernels beside __scx_bpf_dsq_insert_vtime, for which clang 14 writes no BTF. */
void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 dsq_id, u64 slice, u64 vtime,
			      u64 enq_flags) __ksym;
struct task_struct *bpf_task_from_pid(s32 pid) __ksym;
void bpf_task_release(struct task_struct *p) __ksym;
/* From 6.19 on. */
bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice) __ksym __weak;
/* libbpf strips the last suffix: the kernel's name is scx_bpf_reenqueue_local___v2. */
void scx_bpf_reenqueue_local___v2___compat(void) __ksym __weak;
/* Before 6.19 the only one; ours to call in cpu_release alone. */
u32 scx_bpf_reenqueue_local(void) __ksym __weak;
bool scx_bpf_task_set_dsq_vtime(struct task_struct *p, u64 vtime) __ksym __weak;

int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 dsq_id, u64 flags) __ksym;
struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) __ksym;
void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) __ksym;
int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

/*
 * Functions are matched by their whole prototype, and clang describes a
 * structure that is only pointed to as unknown unless the program asks for its type.
 */
static inline bool has_masks(void)
{
	return bpf_core_type_exists(struct cpumask);
}

/* The operations that we have; libbpf finds their places in the kernel's structure by name. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*set_cpumask)(struct task_struct *p, const struct cpumask *cpumask);
	void (*update_idle)(s32 cpu, bool idle);
	void (*cpu_online)(s32 cpu);
	void (*cpu_offline)(s32 cpu);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*enable)(struct task_struct *p);
	void (*dump)(struct scx_dump_ctx *context);
	void (*dump_cpu)(struct scx_dump_ctx *context, s32 cpu, bool idle);
	void (*dump_task)(struct scx_dump_ctx *context, struct task_struct *p);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	u64 flags;
	u32 timeout_ms;
	char name[128];
};

_Static_assert(__builtin_offsetof(struct sched_ext_ops, timeout_ms) == 20 * 8,
	       "src/load.rs writes this");
_Static_assert(__builtin_offsetof(struct sched_ext_ops, cpu_release) == 11 * 8,
	       "src/load.rs writes this");

/*
 * A bool that a function of the kernel returned. On x86 such a function sets eight bits
 * of the register, and clang 14 tests 32: bpf_cpumask_intersects of Linux 7.0 seemed to
 * return true always.
 */
static inline bool is_true(bool answer)
{
	u64 value = answer;

	asm("" : "+r"(value));
	return value & 1;
}

static inline void set_slice(struct task_struct *p, u64 slice_ns)
{
	if (bpf_ksym_exists(scx_bpf_task_set_slice))
		scx_bpf_task_set_slice(p, slice_ns);
	else
		p->scx.slice = slice_ns;
}

/* Enqueues again the tasks of the local DSQ of this CPU; from 6.19 on. */
static inline void reenqueue_local(void)
{
	if (bpf_ksym_exists(scx_bpf_reenqueue_local___v2___compat))
		scx_bpf_reenqueue_local___v2___compat();
}

/* Sets the virtual time of a task, a field of the kernel's; not of a task in a DSQ. */
static inline void set_vtime(struct task_struct *p, u64 vtime_ns)
{
	if (bpf_ksym_exists(scx_bpf_task_set_dsq_vtime))
		scx_bpf_task_set_dsq_vtime(p, vtime_ns);
	else
		p->scx.dsq_vtime = vtime_ns;
}

/* Whether a time or virtual time is before another, also where they have wrapped. */
static inline bool time_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* The trampoline of a BPF program itself disables migration of the running task once. */
static inline bool may_not_migrate(struct task_struct *p)
{
	if (p->migration_disabled == 1)
		return bpf_get_current_task_btf() != p;
	return p->migration_disabled > 1;
}

#endif

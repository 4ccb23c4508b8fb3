/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which events of the scheduler happened, as fixed records in one ring buffer.
 *
 * Reads the few fields of the kernel that kernel.bpf.h declares, relocated by BTF to where the
 * running kernel has them. Each program reserves one record, fills the record and ends: no loops,
 * no strings, no addresses. A record wakes no task; the reader polls.
 *
 * Needs Linux 5.11 (bpf_get_current_task_btf); marks of functions need 5.15 (cookies of probes).
 */
#include "../kernel.bpf.h"

/* With PREEMPT_RT a task counts its softirqs itself. */
struct task_struct___rt {
	int softirq_disable_cnt;
} RELOCATED;

/* include/linux/preempt.h, the same from 5.11 to 6.18 */
#define SERVING_SOFTIRQ 0x00000100
#define HARDIRQ_OR_NMI 0x00ff0000

/* kernel/sched/sched.h, 6.18: the waker will wait soon; the first is its value until 5.12. */
#define WF_SYNC (0x01 | 0x10)

/* include/linux/sched.h */
#define PF_KTHREAD 0x00200000

/* include/uapi/linux/bpf.h */
struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

/* Kinds of records, and flags; src/recorder/record.rs has the same. */
enum kind {
	KIND_TASK = 1,
	KIND_RUNNING,
	KIND_SWITCH,
	KIND_WAKE,
	KIND_MIGRATE,
	KIND_FORK,
	KIND_EXEC,
	KIND_REGISTERS,
	KIND_FREQUENCY,
	KIND_CLASS,
	KIND_BALANCE,
	KIND_SEND,
	KIND_UNSENT,
	KIND_RECEIVE,
	KIND_STACK,
	KIND_COUNTERS,
};

enum flag {
	FLAG_KERNEL_THREAD = 1,
	FLAG_BLOCKED = 2,
	FLAG_DEAD = 4,
	FLAG_INTERRUPT = 8,
	/* Of a wake-up whose flags were seen, one of the two. */
	FLAG_SYNC = 16,
	FLAG_NOT_SYNC = 32,
};

struct short_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 value; /* by kind: ns accounted, register state, kHz, class, CPU */
	__u32 tid;
	__u32 pid;
	__u32 other; /* by kind: the next task, waker, parent, CPU */
	__u16 cpu;
	__u8 kind;
	__u8 flags;
};

struct task_record {
	struct short_record head;
	__u64 comm[2];
	__s32 prio;
	__u32 unused;
	__u64 control_group; /* its number, which is that of its folder */
};

/* Innermost functions of a stack that are recorded; our choice. */
#define FRAMES 48

struct stack_record {
	struct short_record head; /* value: bytes of addresses */
	__u64 addresses[FRAMES];
};

/* Counters that a CPU may have; src/recorder/record.rs has the same. */
#define COUNTERS_MAX 8

struct counters_record {
	struct short_record head;
	__u64 counts[COUNTERS_MAX]; /* since the last switch of this CPU */
};

_Static_assert(sizeof(struct short_record) == 32, "as the reader expects");
_Static_assert(sizeof(struct task_record) == 64, "as the reader expects");
_Static_assert(sizeof(struct stack_record) == 416, "as the reader expects");
_Static_assert(sizeof(struct counters_record) == 96, "as the reader expects");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} records SEC(".maps");

/* What a CPU is at, from one event to the next. */
struct cpu {
	/* Pending softirqs that a task raised, by number. */
	__u32 raised_by_task;
	/* The softirq that runs was raised by a task. */
	__u32 of_task;
	/* The task that is being woken, and the flags of that wake-up. */
	__u64 woken;
	__u32 wake_flags;
	/* Whether `counted` is of the last switch. */
	__u32 is_counted;
	/* What the counters showed at the last switch. */
	__u64 counted[COUNTERS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu);
} cpus SEC(".maps");

/* By CPU: files of open counters, some of them none. The reader sets the size. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, COUNTERS_MAX);
} counters SEC(".maps");

/* Constants of this kernel, set by the reader. */
const volatile struct kernel {
	/*
	 * From a CPU's `runqueues` to its preempt count, both per-CPU variables; 0: unknown. (By
	 * name the kernel finds the count only if it was built with KALLSYMS_ALL.)
	 */
	__s64 preempt_count;
	/* Whether sched_switch passes the state of the task that leaves (from 5.19). */
	__u8 state_given;
	/* Whether the stacks of tasks with 512-bit registers or tiles in use are wanted. */
	__u8 stacks;
	/* Which counters of a CPU are open, a bit for each. */
	__u8 counters;
} kernel;

/* Records lost for want of room. Written by every CPU. */
__u64 lost;

static __always_inline void *reserve(__u64 size, __u8 kind)
{
	struct short_record *record = bpf_ringbuf_reserve(&records, size, 0);

	if (!record) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->value = 0;
	record->tid = 0;
	record->pid = 0;
	record->other = 0;
	record->cpu = bpf_get_smp_processor_id();
	record->kind = kind;
	record->flags = 0;
	return record;
}

static __always_inline int submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A record of `task` with its name and the time accounted to the task. */
static __always_inline struct task_record *describe(struct task_struct *task, __u8 kind)
{
	struct task_record *record = reserve(sizeof(*record), kind);

	if (!record)
		return 0;
	record->head.value = task->se.sum_exec_runtime;
	record->head.tid = task->pid;
	record->head.pid = task->tgid;
	record->head.flags = task->flags & PF_KTHREAD ? FLAG_KERNEL_THREAD : 0;
	record->comm[0] = *(__u64 *)&task->comm[0];
	record->comm[1] = *(__u64 *)&task->comm[8];
	record->prio = task->normal_prio;
	record->unused = 0;
	record->control_group = task->cgroups->dfl_cgrp->kn->id;
	return record;
}

/* The preempt count of this CPU; 0 where unknown. */
static __always_inline int preempt_count(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	int count = 0;

	if (!kernel.preempt_count || !bpf_core_field_exists(task->se.cfs_rq->rq))
		return 0;
	bpf_probe_read_kernel(&count, sizeof(count),
			      (void *)task->se.cfs_rq->rq + kernel.preempt_count);
	return count;
}

static __always_inline struct cpu *this_cpu(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&cpus, &first);
}

enum context { IN_TASK, IN_SOFTIRQ, IN_INTERRUPT };

/* What runs here, as ftrace's column of flags would say. */
static __always_inline enum context context(void)
{
	int count = preempt_count();
	int softirqs = count;

	if (bpf_core_field_exists(((struct task_struct___rt *)0)->softirq_disable_cnt)) {
		struct task_struct___rt *task = (void *)bpf_get_current_task_btf();

		softirqs = task->softirq_disable_cnt;
	}
	if (count & HARDIRQ_OR_NMI)
		return IN_INTERRUPT;
	return softirqs & SERVING_SOFTIRQ ? IN_SOFTIRQ : IN_TASK;
}

/*
 * A task that sends to this machine itself raises a softirq, which delivers the message and wakes
 * the receiver: the sender's wake-up, although a softirq runs. One that an interrupt raises is
 * the device's, whatever task it meets.
 */
SEC("tp_btf/softirq_raise")
int on_softirq_raise(__u64 *ctx)
{
	struct cpu *cpu = this_cpu();
	enum context here = context();

	if (!cpu || here == IN_INTERRUPT || (here == IN_SOFTIRQ && !cpu->of_task))
		return 0;
	if (here == IN_TASK && !(__u32)bpf_get_current_pid_tgid())
		return 0;
	cpu->raised_by_task |= 1u << (ctx[0] & 31);
	return 0;
}

SEC("tp_btf/softirq_entry")
int on_softirq_entry(__u64 *ctx)
{
	struct cpu *cpu = this_cpu();
	__u32 bit = 1u << (ctx[0] & 31);

	if (!cpu)
		return 0;
	cpu->of_task = cpu->raised_by_task & bit;
	cpu->raised_by_task &= ~bit;
	return 0;
}

SEC("tp_btf/softirq_exit")
int on_softirq_exit(void *ctx)
{
	struct cpu *cpu = this_cpu();

	if (cpu)
		cpu->of_task = 0;
	return 0;
}

/* Begins every wake-up but that of a new task. Tracepoints do not pass the flags. */
SEC("fentry/try_to_wake_up")
int on_wake_begins(__u64 *ctx)
{
	struct cpu *cpu = this_cpu();

	if (!cpu)
		return 0;
	cpu->woken = ctx[0];
	cpu->wake_flags = ctx[2];
	return 0;
}

/* Who woke `task`, and how. */
static __always_inline __u8 wake_flags(struct task_struct *task)
{
	struct cpu *cpu = this_cpu();
	enum context here = context();
	__u8 flags = 0;

	if (!cpu)
		return here == IN_TASK ? 0 : FLAG_INTERRUPT;
	if (here == IN_INTERRUPT || (here == IN_SOFTIRQ && !cpu->of_task))
		flags |= FLAG_INTERRUPT;
	/* An interrupt may have woken another task since the flags were noted. */
	if (cpu->woken == (__u64)task)
		flags |= cpu->wake_flags & WF_SYNC ? FLAG_SYNC : FLAG_NOT_SYNC;
	cpu->woken = 0;
	return flags;
}

/* Every existing task, once at the start. */
SEC("iter/task")
int list_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_record *record;

	if (!task)
		return 0;
	record = describe(task, KIND_TASK);
	return record ? submit(record) : 0;
}

/*
 * What the counters of this CPU counted since its last switch or the start. A slice with a counter
 * that cannot be read, because another program took it, has no record.
 */
static __always_inline void record_counters(void)
{
	struct bpf_perf_event_value value = {};
	struct counters_record *record;
	struct cpu *cpu = this_cpu();
	__u32 was_counted;

	if (!kernel.counters || !cpu)
		return;
	was_counted = cpu->is_counted;
	record = reserve(sizeof(*record), KIND_COUNTERS);
	cpu->is_counted = 1;
	for (__u32 event = 0; event < COUNTERS_MAX; event++) {
		__u32 key = bpf_get_smp_processor_id() * COUNTERS_MAX + event;

		if (record)
			record->counts[event] = 0;
		if (!(kernel.counters >> event & 1))
			continue;
		if (bpf_perf_event_read_value(&counters, key, &value, sizeof(value))) {
			cpu->is_counted = 0;
			continue;
		}
		if (record)
			record->counts[event] = value.counter - cpu->counted[event];
		cpu->counted[event] = value.counter;
	}
	if (!record)
		return;
	if (was_counted && cpu->is_counted)
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	else
		bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
}

/*
 * The running task of a CPU, recorded at the start and at the end. `other` is the
 * preempt count, from which the reader judges whether the count was found.
 */
SEC("raw_tp")
int say_running(void *ctx)
{
	struct task_record *record;

	record_counters();
	record = describe(bpf_get_current_task_btf(), KIND_RUNNING);
	if (!record)
		return 0;
	record->head.other = preempt_count();
	return submit(record);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct task_struct *next = (void *)ctx[2];
	struct task_struct___old *old = (void *)prev;
	struct task_record *record;
	__u32 state;

	record_counters();
	record = describe(prev, KIND_SWITCH);
	if (!record)
		return 0;
	if (kernel.state_given)
		state = ctx[3];
	else if (bpf_core_field_exists(prev->__state))
		state = prev->__state;
	else
		state = old->state;
	if (state & TASK_DEAD)
		record->head.flags |= FLAG_DEAD;
	else if (state && !(ctx[0] & 1))
		record->head.flags |= FLAG_BLOCKED;
	record->head.other = next->pid;
	return submit(record);
}

static __always_inline int wake(struct task_struct *task)
{
	struct short_record *record = reserve(sizeof(*record), KIND_WAKE);

	if (!record)
		return 0;
	record->tid = task->pid;
	record->pid = task->tgid;
	record->other = bpf_get_current_pid_tgid();
	record->value = cpu_of(task);
	record->flags = wake_flags(task);
	return submit(record);
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	return wake((void *)ctx[0]);
}

SEC("tp_btf/sched_wakeup_new")
int on_wakeup_new(__u64 *ctx)
{
	return wake((void *)ctx[0]);
}

SEC("tp_btf/sched_migrate_task")
int on_migrate(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct short_record *record = reserve(sizeof(*record), KIND_MIGRATE);

	if (!record)
		return 0;
	record->tid = task->pid;
	record->pid = task->tgid;
	record->value = cpu_of(task);
	record->other = ctx[1];
	return submit(record);
}

SEC("tp_btf/sched_process_fork")
int on_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0];
	struct task_record *record = describe((void *)ctx[1], KIND_FORK);

	if (!record)
		return 0;
	record->head.other = parent->pid;
	return submit(record);
}

/* A thread that is not the first takes over the number of the process: `other` was its own. */
SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_record *record = describe((void *)ctx[0], KIND_EXEC);

	if (!record)
		return 0;
	record->head.other = ctx[1];
	return submit(record);
}

/* The scheduler chooses a CPU for the program that the task is about to begin. */
SEC("fentry/sched_exec")
int on_balance(void *ctx)
{
	struct short_record *record = reserve(sizeof(*record), KIND_BALANCE);

	if (!record)
		return 0;
	record->tid = bpf_get_current_pid_tgid();
	return submit(record);
}

/* Upper halves of ZMM0 to ZMM15, and tiles (SDM, volume 1, section 13.1). */
#define XFEATURES_WIDE (1ull << 6 | 3ull << 17)
/* include/uapi/linux/bpf.h */
#define BPF_F_USER_STACK 256

/* The stack in user mode of the running task. */
static __always_inline void say_stack(void *ctx)
{
	struct stack_record *record = reserve(sizeof(*record), KIND_STACK);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	long bytes;

	if (!record)
		return;
	record->head.tid = pid_tgid;
	record->head.pid = pid_tgid >> 32;
	bytes = bpf_get_stack(ctx, record->addresses, sizeof(record->addresses), BPF_F_USER_STACK);
	record->head.value = bytes > 0 ? bytes : 0;
	submit(record);
}

/* The registers of the running task were saved: the task leaves. */
SEC("tp_btf/x86_fpu_regs_deactivated")
int on_registers(__u64 *ctx)
{
	u64 features = saved_features((void *)ctx[0]);
	struct short_record *record;

	/* Before the registers, whose record ends the switch for the reader. */
	if (kernel.stacks && (features & XFEATURES_WIDE))
		say_stack(ctx);
	record = reserve(sizeof(*record), KIND_REGISTERS);
	if (!record)
		return 0;
	record->tid = bpf_get_current_pid_tgid();
	record->value = features;
	return submit(record);
}

SEC("tp_btf/cpu_frequency")
int on_frequency(__u64 *ctx)
{
	struct short_record *record = reserve(sizeof(*record), KIND_FREQUENCY);

	if (!record)
		return 0;
	record->value = (__u32)ctx[0];
	record->other = (__u32)ctx[1];
	return submit(record);
}

/* A marked function begins or ends; which, and its class, is in the cookie of the probe. */
SEC("uprobe")
int on_mark(void *ctx)
{
	struct short_record *record = reserve(sizeof(*record), KIND_CLASS);

	if (!record)
		return 0;
	record->tid = bpf_get_current_pid_tgid();
	record->value = bpf_get_attach_cookie(ctx);
	return submit(record);
}

#include "messages.bpf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

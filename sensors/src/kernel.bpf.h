/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which parts of the kernel do the programs of this room use?
 *
 * Only the fields below, found in the running kernel by BTF (Linux 5.11 to 6.18).
 */
#ifndef EVENKEEL_SENSORS_KERNEL_H
#define EVENKEEL_SENSORS_KERNEL_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
#define EK_HAVE_KERNEL_INTS

/* Names that bpf_helpers.h expects. */
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef s32 __s32;
typedef s64 __s64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;

/* include/uapi/linux/bpf.h, 6.18. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY, BPF_NOEXIST };
enum { BPF_RB_NO_WAKEUP = 1 };
struct bpf_spin_lock {
	u32 val;
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define RELOCATED __attribute__((preserve_access_index))

struct kernfs_node {
	u64 id;
} RELOCATED;

struct cgroup {
	struct kernfs_node *kn;
} RELOCATED;

struct css_set {
	struct cgroup *dfl_cgrp;
} RELOCATED;

/* CONFIG_SCHED_INFO, which distributions switch on for delay accounting. */
struct sched_info {
	/* Time on run queues without a CPU. */
	unsigned long long run_delay;
} RELOCATED;

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	/* Threads that have not begun to exit. */
	atomic_t live;
} RELOCATED;

struct thread_info {
	u32 cpu;
} RELOCATED;

struct rq;

struct cfs_rq {
	struct rq *rq;
} RELOCATED;

struct sched_entity {
	struct cfs_rq *cfs_rq;
	u64 sum_exec_runtime;
} RELOCATED;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int normal_prio;
	struct sched_entity se;
	int pid;
	int tgid;
	struct task_struct *group_leader;
	struct sched_info sched_info;
	char comm[16];
	struct signal_struct *signal;
	struct css_set *cgroups;
} RELOCATED;

/* Names that fields had: `state` until 5.13, `cpu` until 5.15. */
struct task_struct___old {
	long state;
	unsigned int cpu;
} RELOCATED;

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

/* Until 5.15. */
struct fpu___old {
	union fpregs_state state;
} RELOCATED;

struct bpf_iter__task {
	struct task_struct *task;
} RELOCATED;

struct bpf_iter__bpf_map_elem {
	void *key;
} RELOCATED;

/* include/linux/sched.h */
#define TASK_DEAD 0x00000080

static __always_inline u32 cpu_of(struct task_struct *task)
{
	struct task_struct___old *old = (void *)task;

	return bpf_core_field_exists(old->cpu) ? old->cpu : task->thread_info.cpu;
}

/* Whether the task will never run again. */
static __always_inline int is_dead(struct task_struct *task)
{
	struct task_struct___old *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state & TASK_DEAD;
	return old->state & TASK_DEAD;
}

/* Which registers the running task left in its CPU, as XSTATE_BV (SDM, volume 1, 13.1). */
static __always_inline u64 saved_features(struct fpu *fpu)
{
	struct fpu___old *old = (void *)fpu;

	if (bpf_core_field_exists(fpu->fpstate))
		return fpu->fpstate->regs.xsave.header.xfeatures;
	return old->state.xsave.header.xfeatures;
}

#endif

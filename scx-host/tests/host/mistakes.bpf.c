/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A scheduler with one queue, which makes the mistake that the test selects, or
 * none.
 */
#include "kernel.h"

#define QUEUE 0
#define SLICE_NS 2000000

enum mistake {
	NONE,
	DROPS_TASKS,
	INSERTS_TWICE,
	INSERTS_ANOTHER,
	UNKNOWN_QUEUE,
	VTIME_IN_LOCAL_QUEUE,
	MIXES_ORDERS,
	MOVES_OUTSIDE_DISPATCH,
	KICKS_NO_CPU,
	SELECTS_NO_CPU,
	NAMES_ITS_OWN,
};

const volatile u32 mistake;
u64 enqueued;
static struct task_struct *last;

char _license[] SEC("license") = "Dual MIT/GPL";

void scx_bpf_error_bstr(char *format, unsigned long long *values, u32 size) __ksym;

SEC("struct_ops/select_cpu")
s32 BPF_PROG(mistakes_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return mistake == SELECTS_NO_CPU ? -7 : prev_cpu;
}

SEC("struct_ops/enqueue")
void BPF_PROG(mistakes_enqueue, struct task_struct *p, u64 flags)
{
	enqueued++;
	switch (mistake) {
	case DROPS_TASKS:
		if (p->pid == 2)
			return;
		break;
	case INSERTS_TWICE:
		scx_bpf_dsq_insert(p, QUEUE, SLICE_NS, flags);
		break;
	case INSERTS_ANOTHER:
		if (last && last != p)
			p = last;
		break;
	case UNKNOWN_QUEUE:
		scx_bpf_dsq_insert(p, 77, SLICE_NS, flags);
		return;
	case VTIME_IN_LOCAL_QUEUE:
		scx_bpf_dsq_insert_vtime(p, SCX_DSQ_LOCAL, SLICE_NS, 0, flags);
		return;
	case MIXES_ORDERS:
		if (enqueued > 3) {
			scx_bpf_dsq_insert_vtime(p, QUEUE, SLICE_NS, 0, flags);
			return;
		}
		break;
	case MOVES_OUTSIDE_DISPATCH:
		scx_bpf_dsq_move_to_local(QUEUE);
		break;
	case KICKS_NO_CPU:
		scx_bpf_kick_cpu(99, 0);
		break;
	case NAMES_ITS_OWN:
		bpf_printk("pid %d of %s", p->pid, p->comm);
		if (p->pid == 2) {
			static char format[] = "pid %d is not wanted";
			unsigned long long values[] = {p->pid};

			scx_bpf_error_bstr(format, values, sizeof(values));
		}
		break;
	}
	last = p;
	scx_bpf_dsq_insert(p, QUEUE, SLICE_NS, flags);
}

SEC("struct_ops/dispatch")
void BPF_PROG(mistakes_dispatch, s32 cpu, struct task_struct *prev)
{
	scx_bpf_dsq_move_to_local(QUEUE);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(mistakes_init)
{
	return scx_bpf_create_dsq(QUEUE, -1);
}

SEC(".struct_ops.link")
struct sched_ext_ops mistakes_ops = {
	.select_cpu = (void *)mistakes_select_cpu,
	.enqueue = (void *)mistakes_enqueue,
	.dispatch = (void *)mistakes_dispatch,
	.init = (void *)mistakes_init,
	.timeout_ms = 500,
	.name = "mistakes",
};

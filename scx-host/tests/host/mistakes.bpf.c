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
	NEVER_ENDS,
	READS_NULL,
	CALLS_ITSELF_FOR_EVER,
	NEVER_ENDS_IN_A_TIMER,
	RELEASES_WHAT_IT_HAS_NOT,
	DOES_NOTHING_FOR_EVER,
	DIVIDES_BY_ZERO,
	READS_WHERE_NOTHING_IS,
	STARTS_ITS_TIMER_FOR_NOW,
};

const volatile u32 mistake;
u64 enqueued;
static struct task_struct *last;
static struct task_struct *nothing;

struct timer_value {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct timer_value);
} timers SEC(".maps");

char _license[] SEC("license") = "Dual MIT/GPL";

void bpf_cpumask_release(struct cpumask *mask) __ksym;

static __noinline u64 deeper(volatile u64 *above)
{
	volatile u64 here[32] = {*above + 1};

	return deeper(here) + here[0];
}

static int starts_its_timer_for_now(void *map, int *key, struct timer_value *value)
{
	enqueued++;
	bpf_timer_start(&value->timer, 0, 0);
	return 0;
}

static int never_ends(void *map, int *key, struct timer_value *value)
{
	while (*(volatile u64 *)&enqueued)
		barrier();
	return 0;
}

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
	case NEVER_ENDS:
		never_ends(0, 0, 0);
		break;
	case DOES_NOTHING_FOR_EVER:
		for (;;)
			barrier();
	case DIVIDES_BY_ZERO:
		enqueued /= *(volatile u32 *)&mistake - DIVIDES_BY_ZERO;
		break;
	case READS_WHERE_NOTHING_IS:
		if (bpf_probe_read_kernel(&enqueued, 8, (void *)0x9a0) != -14 || enqueued)
			return;
		break;
	case READS_NULL:
		enqueued += *(volatile int *)&nothing->pid;
		break;
	case CALLS_ITSELF_FOR_EVER:
		enqueued += deeper(&enqueued);
		break;
	case RELEASES_WHAT_IT_HAS_NOT:
		bpf_cpumask_release((struct cpumask *)p->cpus_ptr);
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
	u32 key = 0;
	struct timer_value *value = bpf_map_lookup_elem(&timers, &key);

	if (value && (mistake == NEVER_ENDS_IN_A_TIMER || mistake == STARTS_ITS_TIMER_FOR_NOW)) {
		bpf_timer_init(&value->timer, &timers, CLOCK_MONOTONIC);
		bpf_timer_set_callback(&value->timer, mistake == NEVER_ENDS_IN_A_TIMER ?
							      never_ends :
							      starts_its_timer_for_now);
		bpf_timer_start(&value->timer, 1000000, 0);
	}
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

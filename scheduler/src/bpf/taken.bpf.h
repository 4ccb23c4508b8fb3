/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which CPUs has a task of a higher class, and when do tasks leave such a CPU?
 *
 * The kernel keeps the task that ran, and the rest of the local DSQ of the CPU,
 * until the CPU is free again. After TAKEN_NS a timer of that CPU has these tasks
 * enqueued again, and other CPUs may run them.
 */
#ifndef EVENKEEL_TAKEN_BPF_H
#define EVENKEEL_TAKEN_BPF_H

#include "state.bpf.h"

/* Whether a task of a higher class has a CPU. */
static bool is_taken(u32 index, const struct ek_cpu *cpu)
{
	const struct task_struct *current;

	if (cpu->is_taken || !bpf_ksym_exists(scx_bpf_cpu_curr))
		return cpu->is_taken;
	current = scx_bpf_cpu_curr(index);
	return current && (current->policy == SCHED_FIFO || current->policy == SCHED_RR ||
			   current->policy == SCHED_DEADLINE);
}

/* A task of a higher class takes a CPU from a task. */
static void note_taken(u32 index, struct ek_cpu *cpu)
{
	struct look *timer = bpf_map_lookup_elem(&taken, &index);

	cpu->is_taken = true;
	if (timer)
		bpf_timer_start(&timer->timer, TAKEN_NS, BPF_F_TIMER_CPU_PIN);
}

/*
 * A task of a higher class has had a CPU for TAKEN_NS: the tasks that the kernel would
 * keep in the local DSQ until the CPU is free may run elsewhere.
 */
static int leave_taken(void *map, int *key, struct look *timer)
{
	const struct ek_cpu *cpu = cpu_of(*key);

	if (cpu && cpu->is_taken) {
		count(EK_TAKEN);
		reenqueue_local();
	}
	return 0;
}

static int prepare_taken(u32 index)
{
	struct look *timer = bpf_map_lookup_elem(&taken, &index);
	int error;

	if (!timer)
		return -ENOENT;
	error = bpf_timer_init(&timer->timer, &taken, CLOCK_MONOTONIC);
	return error ?: bpf_timer_set_callback(&timer->timer, leave_taken);
}

#endif

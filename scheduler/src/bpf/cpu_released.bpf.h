/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which CPUs does a task of a higher scheduling class have, and when do tasks leave such
 * a CPU?
 *
 * A CPU is released where sched_ext lost it to a higher class (`cpu_release` of
 * struct sched_ext_ops). The kernel keeps the preempted task, and the rest of the local DSQ
 * of the CPU, until the CPU is back. After RELEASED_NS a timer of that CPU has these tasks
 * enqueued again, and other CPUs may run them.
 */
#ifndef EVENKEEL_CPU_RELEASED_BPF_H
#define EVENKEEL_CPU_RELEASED_BPF_H

#include "state.bpf.h"

/* Whether a task of a higher scheduling class has a CPU. */
static bool is_released(u32 cpu_id, const struct ek_cpu *cpu)
{
	const struct task_struct *current;

	if (cpu->is_released || !bpf_ksym_exists(scx_bpf_cpu_curr))
		return cpu->is_released;
	current = scx_bpf_cpu_curr(cpu_id);
	return current && (current->policy == SCHED_FIFO || current->policy == SCHED_RR ||
			   current->policy == SCHED_DEADLINE);
}

/* A task of a higher scheduling class preempts a task of ours. */
static void note_released(u32 cpu_id, struct ek_cpu *cpu)
{
	struct timer *timer = bpf_map_lookup_elem(&release_timers, &cpu_id);

	cpu->is_released = true;
	if (timer)
		bpf_timer_start(&timer->timer, RELEASED_NS, BPF_F_TIMER_CPU_PIN);
}

/*
 * A task of a higher scheduling class has had a CPU for RELEASED_NS: the tasks that the
 * kernel would keep in the local DSQ until the CPU is back may run elsewhere.
 */
static int reenqueue_after_release(void *map, int *key, struct timer *timer)
{
	const struct ek_cpu *cpu = cpu_of(*key);

	if (cpu && cpu->is_released) {
		count(EK_REENQUEUED);
		reenqueue_local();
	}
	return 0;
}

static int init_release_timer(u32 cpu_id)
{
	struct timer *timer = bpf_map_lookup_elem(&release_timers, &cpu_id);
	int error;

	if (!timer)
		return -ENOENT;
	error = bpf_timer_init(&timer->timer, &release_timers, CLOCK_MONOTONIC);
	return error ?: bpf_timer_set_callback(&timer->timer, reenqueue_after_release);
}

#endif

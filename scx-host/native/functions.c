/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The functions of a kernel that a scheduler calls, linked into the scheduler's
 * shared object.
 *
 * Each function of native/calls.h passes its arguments on to the instance that
 * loaded this copy, by a pointer that the instance writes when it loads the copy.
 * Functions that need no instance are defined here.
 */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
typedef _Bool bool;

#define EFAULT 14

/* The instance; and a symbol by whose address the host finds the base of this copy. */
void *scx_host_instance;
__attribute__((visibility("default"))) u8 scx_host_anchor;

#define CALL(type, name, parameters, ...) \
	type (*scx_host_call_##name)(); \
	type name parameters \
	{ \
		return scx_host_call_##name(scx_host_instance, ##__VA_ARGS__); \
	}
#include "calls.h"
#undef CALL

/* --- Later names of functions of calls.h --- */

struct insert_vtime_arguments {
	u64 dsq, slice, vtime, flags;
};

bool __scx_bpf_dsq_insert_vtime(void *p, const struct insert_vtime_arguments *arguments)
{
	return scx_bpf_dsq_insert_vtime(p, arguments->dsq, arguments->slice, arguments->vtime,
					arguments->flags);
}

bool scx_bpf_dsq_insert___v2(void *p, u64 dsq, u64 slice, u64 flags)
{
	return scx_bpf_dsq_insert(p, dsq, slice, flags);
}

/* Masks and tasks are the instance's own and need not be given back. */
void bpf_task_release(void *p)
{
}

void scx_bpf_put_cpumask(const void *mask)
{
}

void scx_bpf_put_idle_cpumask(const void *mask)
{
}

u64 bpf_ktime_get_ns(void)
{
	return scx_bpf_now();
}

u64 bpf_ktime_get_boot_ns(void)
{
	return scx_bpf_now();
}

/* --- Sets of CPUs --- */

bool bpf_cpumask_test_cpu(u32 cpu, const u64 *mask)
{
	return cpu < scx_bpf_nr_cpu_ids() && mask[cpu / 64] >> cpu % 64 & 1;
}

u32 bpf_cpumask_first(const u64 *mask)
{
	u32 cpus = scx_bpf_nr_cpu_ids(), cpu = 0;

	while (cpu < cpus && !bpf_cpumask_test_cpu(cpu, mask))
		cpu++;
	return cpu;
}

bool bpf_cpumask_empty(const u64 *mask)
{
	return bpf_cpumask_first(mask) >= scx_bpf_nr_cpu_ids();
}

bool bpf_cpumask_intersects(const u64 *a, const u64 *b)
{
	u32 cpus = scx_bpf_nr_cpu_ids(), cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		if (bpf_cpumask_test_cpu(cpu, a) && bpf_cpumask_test_cpu(cpu, b))
			return 1;
	return 0;
}

u32 bpf_cpumask_weight(const u64 *mask)
{
	u32 cpus = scx_bpf_nr_cpu_ids(), cpu, weight = 0;

	for (cpu = 0; cpu < cpus; cpu++)
		weight += bpf_cpumask_test_cpu(cpu, mask);
	return weight;
}

/* --- Numbers and memory --- */

struct number_iterator {
	s32 current, end;
};

int bpf_iter_num_new(struct number_iterator *it, int start, int end)
{
	it->current = start - 1;
	it->end = end;
	return 0;
}

int *bpf_iter_num_next(struct number_iterator *it)
{
	if (it->current + 1 >= it->end)
		return 0;
	it->current++;
	return &it->current;
}

void bpf_iter_num_destroy(struct number_iterator *it)
{
}

s64 bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	if (!from) {
		__builtin_memset(to, 0, size);
		return -EFAULT;
	}
	__builtin_memcpy(to, from, size);
	return 0;
}

s64 bpf_probe_read_kernel_str(char *to, u32 size, const char *from)
{
	u32 length = 0;

	if (size == 0)
		return 0;
	if (!from) {
		*to = 0;
		return -EFAULT;
	}
	while (length + 1 < size && from[length]) {
		to[length] = from[length];
		length++;
	}
	to[length] = 0;
	return length + 1;
}

/* An instance runs on one thread, so locks have no work. */
void bpf_rcu_read_lock(void)
{
}

void bpf_rcu_read_unlock(void)
{
}

s64 bpf_spin_lock(void *lock)
{
	return 0;
}

s64 bpf_spin_unlock(void *lock)
{
	return 0;
}

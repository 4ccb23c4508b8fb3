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

#define barrier() asm volatile("" ::: "memory")

#define EFAULT 14
#define E2BIG 7

unsigned int CONFIG_HZ = 1000;

/* The instance; and a symbol by whose address the host finds the base of this copy. */
void *scx_host_instance;
__attribute__((visibility("default"))) u8 scx_host_anchor;

/* --- Into a program of the scheduler, and out of one that does not return --- */

/* The kernel's verifier bounds a program; natively a limit of branches does. */
#define BRANCHES_MAX 10000000

enum left { RETURNED, ENDLESS, BAD_ADDRESS, DIVIDED_BY_ZERO };

/* A program of the scheduler that runs. */
struct entry {
	void *place[5];
	u64 branches_left;
};

/* Null while the host runs, whose frames no jump may skip. */
static struct entry *inside;
/* Volatile, since a jump changes it behind the back of `scx_host_enter`. */
static volatile enum left why;

static __attribute__((noinline, noreturn)) void leave(enum left reason)
{
	why = reason;
	__builtin_longjmp(inside->place, 1);
}

/* Runs a program; another value than RETURNED says why the program was left. */
u32 scx_host_enter(u64 (*program)(u64, u64, u64), u64 a, u64 b, u64 c, u64 *returned)
{
	struct entry entry = {.branches_left = BRANCHES_MAX};

	why = RETURNED;
	if (!__builtin_setjmp(entry.place)) {
		inside = &entry;
		*returned = program(a, b, c);
	}
	inside = 0;
	return why;
}

/* Where a read of memory that may not be there goes on. */
static void *probe[5];
static volatile bool is_probing;

/* A signal handler calls this; it returns if no program is running. */
void scx_host_signalled(u32 is_division)
{
	if (is_probing && !is_division)
		__builtin_longjmp(probe, 1);
	if (inside)
		leave(is_division ? DIVIDED_BY_ZERO : BAD_ADDRESS);
}

/* Foreign schedulers are compiled with a call of this at each branch. */
void __sanitizer_cov_trace_pc(void)
{
	if (inside && --inside->branches_left == 0)
		leave(ENDLESS);
}

static inline struct entry *go_outside(void)
{
	struct entry *entry = inside;

	inside = 0;
	return entry;
}

static inline void go_inside(struct entry **entry)
{
	inside = *entry;
}

#define CALL(type, name, parameters, ...) \
	type (*scx_host_call_##name)(); \
	type name parameters \
	{ \
		struct entry *entry __attribute__((cleanup(go_inside), unused)) = go_outside(); \
\
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

struct select_cpu_and_arguments {
	s32 prev_cpu;
	u64 wake_flags, flags;
};

s32 __scx_bpf_select_cpu_and(void *p, const void *mask,
			     const struct select_cpu_and_arguments *arguments)
{
	return scx_bpf_select_cpu_and(p, arguments->prev_cpu, arguments->wake_flags, mask,
				      arguments->flags);
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

u64 bpf_jiffies64(void)
{
	return scx_bpf_now() / (1000000000 / CONFIG_HZ);
}

/* --- The kernel's configuration; the host sets CONFIG_HZ to that of its machine --- */

int LINUX_KERNEL_VERSION = 7 << 16;
bool CONFIG_PREEMPT_RCU = 1;
char CONFIG_CC_VERSION_TEXT[64] = "clang";
char CONFIG_LOCALVERSION[64];
/* Every other option. */
char scx_host_unset[64];

/* --- Performance of CPUs, which the CPU's model decides and no scheduler --- */

u32 scx_bpf_cpuperf_cap(s32 cpu)
{
	return 1024;
}

u32 scx_bpf_cpuperf_cur(s32 cpu)
{
	return 1024;
}

void scx_bpf_cpuperf_set(s32 cpu, u32 performance)
{
}

/* --- Variables of each CPU: the number of its last-level cache is the only one --- */

int sd_llc_id;

void *bpf_per_cpu_ptr(const void *variable, u32 cpu)
{
	return variable == &sd_llc_id ? scx_host_cache_of(cpu) : 0;
}

void *bpf_this_cpu_ptr(const void *variable)
{
	return bpf_per_cpu_ptr(variable, bpf_get_smp_processor_id());
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

/* Sets of the scheduler's own have room for as many CPUs as the host's (src/cpus.rs). */
#define CPUS_MAX 8192
#define MASK_WORDS (CPUS_MAX / 64)

u64 *bpf_cpumask_create(void)
{
	return scx_host_object_new(MASK_WORDS * sizeof(u64));
}

u64 *bpf_cpumask_acquire(u64 *mask)
{
	return scx_host_object_acquire(mask);
}

void bpf_cpumask_release(u64 *mask)
{
	scx_host_object_release(mask);
}

void bpf_cpumask_set_cpu(u32 cpu, u64 *mask)
{
	if (cpu < scx_bpf_nr_cpu_ids())
		mask[cpu / 64] |= 1ULL << cpu % 64;
}

void bpf_cpumask_clear_cpu(u32 cpu, u64 *mask)
{
	if (cpu < scx_bpf_nr_cpu_ids())
		mask[cpu / 64] &= ~(1ULL << cpu % 64);
}

bool bpf_cpumask_test_and_set_cpu(u32 cpu, u64 *mask)
{
	bool was = bpf_cpumask_test_cpu(cpu, mask);

	bpf_cpumask_set_cpu(cpu, mask);
	return was;
}

bool bpf_cpumask_test_and_clear_cpu(u32 cpu, u64 *mask)
{
	bool was = bpf_cpumask_test_cpu(cpu, mask);

	bpf_cpumask_clear_cpu(cpu, mask);
	return was;
}

void bpf_cpumask_setall(u64 *mask)
{
	u32 cpus = scx_bpf_nr_cpu_ids(), cpu;

	for (cpu = 0; cpu < cpus; cpu++)
		bpf_cpumask_set_cpu(cpu, mask);
}

void bpf_cpumask_clear(u64 *mask)
{
	__builtin_memset(mask, 0, MASK_WORDS * sizeof(u64));
}

void bpf_cpumask_copy(u64 *to, const u64 *from)
{
	__builtin_memmove(to, from, MASK_WORDS * sizeof(u64));
}

bool bpf_cpumask_and(u64 *to, const u64 *a, const u64 *b)
{
	u64 any = 0;
	u32 at;

	for (at = 0; at < MASK_WORDS; at++)
		any |= to[at] = a[at] & b[at];
	return any;
}

void bpf_cpumask_or(u64 *to, const u64 *a, const u64 *b)
{
	u32 at;

	for (at = 0; at < MASK_WORDS; at++)
		to[at] = a[at] | b[at];
}

void bpf_cpumask_xor(u64 *to, const u64 *a, const u64 *b)
{
	u32 at;

	for (at = 0; at < MASK_WORDS; at++)
		to[at] = a[at] ^ b[at];
}

bool bpf_cpumask_subset(const u64 *part, const u64 *whole)
{
	u64 beyond = 0;
	u32 at;

	for (at = 0; at < MASK_WORDS; at++)
		beyond |= part[at] & ~whole[at];
	return !beyond;
}

bool bpf_cpumask_equal(const u64 *a, const u64 *b)
{
	return bpf_cpumask_subset(a, b) && bpf_cpumask_subset(b, a);
}

bool bpf_cpumask_full(const u64 *mask)
{
	return bpf_cpumask_weight(mask) == scx_bpf_nr_cpu_ids();
}

u32 bpf_cpumask_first_zero(const u64 *mask)
{
	u32 cpus = scx_bpf_nr_cpu_ids(), cpu = 0;

	while (cpu < cpus && bpf_cpumask_test_cpu(cpu, mask))
		cpu++;
	return cpu;
}

u32 bpf_cpumask_first_and(const u64 *a, const u64 *b)
{
	u32 cpus = scx_bpf_nr_cpu_ids(), cpu = 0;

	while (cpu < cpus && !(bpf_cpumask_test_cpu(cpu, a) && bpf_cpumask_test_cpu(cpu, b)))
		cpu++;
	return cpu;
}

/* The kernel begins after the CPU that was the last answer on this CPU. */
static u32 last_any[CPUS_MAX];

u32 bpf_cpumask_any_and_distribute(const u64 *a, const u64 *b)
{
	u32 cpus = scx_bpf_nr_cpu_ids(), *last = &last_any[bpf_get_smp_processor_id()], at;

	for (at = 1; at <= cpus; at++) {
		u32 cpu = (*last + at) % cpus;

		if (bpf_cpumask_test_cpu(cpu, a) && bpf_cpumask_test_cpu(cpu, b))
			return *last = cpu;
	}
	return cpus;
}

u32 bpf_cpumask_any_distribute(const u64 *mask)
{
	return bpf_cpumask_any_and_distribute(mask, mask);
}

/* --- Numbers and memory --- */

void *bpf_kptr_xchg(void **place, void *object)
{
	void *was = *place;

	*place = object;
	return was;
}

s64 bpf_loop(u32 times, s64 (*body)(u64 at, void *context), void *context, u64 flags)
{
	u32 at;

	if (times > 1 << 23)
		return -E2BIG;
	for (at = 0; at < times; at++)
		if (body(at, context))
			return at + 1;
	return times;
}

s32 bpf_get_numa_node_id(void)
{
	return 0;
}

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
	if (!from || __builtin_setjmp(probe)) {
		is_probing = 0;
		__builtin_memset(to, 0, size);
		return -EFAULT;
	}
	is_probing = 1;
	barrier();
	__builtin_memcpy(to, from, size);
	barrier();
	is_probing = 0;
	return 0;
}

s64 bpf_probe_read_kernel_str(char *to, u32 size, const char *from)
{
	u32 length = 0;

	if (size == 0)
		return 0;
	if (!from || __builtin_setjmp(probe)) {
		is_probing = 0;
		*to = 0;
		return -EFAULT;
	}
	is_probing = 1;
	barrier();
	while (length + 1 < size && from[length]) {
		to[length] = from[length];
		length++;
	}
	to[length] = 0;
	barrier();
	is_probing = 0;
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

/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which macros and helpers of <bpf/bpf_helpers.h> do BPF programs use, when the
 * host runs them?
 *
 * Sections and declarations of maps are as libbpf reads them, so that one source
 * compiles for the BPF target too, whose BTF describes the geometry of the maps.
 * Helpers are functions here; native/functions.c defines them.
 */
#ifndef SCX_HOST_BPF_HELPERS_H
#define SCX_HOST_BPF_HELPERS_H

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int (*name)[value]
#define __type(name, value) typeof(value) *name
#define __array(name, value) typeof(value) *name[]
#define __ulong(name, value) enum { ___bpf_concat(__unique_value, __COUNTER__) = value } name

#ifndef NULL
#define NULL ((void *)0)
#endif
#ifndef KERNEL_VERSION
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))
#endif
#ifndef likely
#define likely(x) __builtin_expect(!!(x), 1)
#endif
#ifndef unlikely
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif
#ifndef __weak
#define __weak __attribute__((weak))
#endif
#define __hidden __attribute__((visibility("hidden")))
#define __ksym
#define __kconfig
#define __kptr
#define __kptr_untrusted
#define __percpu_kptr
#define __uptr
#define __arg_ctx
#define __arg_nonnull
#define __arg_nullable
#define __arg_trusted
#define __arg_untrusted
#define __arg_arena

#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#ifndef container_of
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#endif
#define barrier() asm volatile("" ::: "memory")
#define barrier_var(variable) asm volatile("" : "+r"(variable))

/* A function that the host does not have is one that a kernel does not have. */
#define bpf_ksym_exists(symbol) (!!(symbol))

/* Up to twelve arguments of a macro, counted and stored. */
#define ___bpf_nth(_, a, b, c, d, e, f, g, h, i, j, k, l, n, ...) n
#define ___bpf_narg(...) \
	___bpf_nth(_, ##__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ___bpf_join(a, b) a##b
#define ___bpf_concat(a, b) ___bpf_join(a, b)
#define ___bpf_apply(function, n) ___bpf_concat(function, n)
#define ___bpf_fill0(array, at, nothing...)
#define ___bpf_fill1(array, at, x) array[at] = x
#define ___bpf_fill2(array, at, x, rest...) array[at] = x; ___bpf_fill1(array, at + 1, rest)
#define ___bpf_fill3(array, at, x, rest...) array[at] = x; ___bpf_fill2(array, at + 1, rest)
#define ___bpf_fill4(array, at, x, rest...) array[at] = x; ___bpf_fill3(array, at + 1, rest)
#define ___bpf_fill5(array, at, x, rest...) array[at] = x; ___bpf_fill4(array, at + 1, rest)
#define ___bpf_fill6(array, at, x, rest...) array[at] = x; ___bpf_fill5(array, at + 1, rest)
#define ___bpf_fill7(array, at, x, rest...) array[at] = x; ___bpf_fill6(array, at + 1, rest)
#define ___bpf_fill8(array, at, x, rest...) array[at] = x; ___bpf_fill7(array, at + 1, rest)
#define ___bpf_fill(array, arguments...) \
	___bpf_apply(___bpf_fill, ___bpf_narg(arguments))(array, 0, ##arguments)

/* Loops over iterators; every way out of the scope destroys the iterator. */
#define SCX_HOST_ITERATOR(type, arguments...)							\
	struct bpf_iter_##type ___it								\
		__attribute__((aligned(8), cleanup(bpf_iter_##type##_destroy))),		\
		*___begun __attribute__((unused)) =						\
			(bpf_iter_##type##_new(&___it, ##arguments), (void *)0)
#define bpf_for_each(type, current, arguments...)						\
	for (SCX_HOST_ITERATOR(type, ##arguments); ((current) = bpf_iter_##type##_next(&___it));)
#define bpf_for(i, start, end)									\
	for (SCX_HOST_ITERATOR(num, (start), (end)); ({						\
		int *___next = bpf_iter_num_next(&___it);					\
		___next && ((i) = *___next, 1);							\
	});)
#define bpf_repeat(times)									\
	for (SCX_HOST_ITERATOR(num, 0, (times)); bpf_iter_num_next(&___it);)

/* The host keeps the messages for its caller. */
#define bpf_printk(format, arguments...) ({							\
	unsigned long long ___values[___bpf_narg(arguments) + 1] = {};				\
	_Pragma("GCC diagnostic push")								\
	_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")					\
	___bpf_fill(___values, ##arguments);							\
	_Pragma("GCC diagnostic pop")								\
	scx_host_print(format, ___values, 8 * ___bpf_narg(arguments));				\
})

struct bpf_iter_num;
struct bpf_perf_event_value;
struct bpf_spin_lock;
struct bpf_timer;
struct task_struct;

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end);
extern int *bpf_iter_num_next(struct bpf_iter_num *it);
extern void bpf_iter_num_destroy(struct bpf_iter_num *it);

void scx_host_print(const char *format, unsigned long long *values, __u32 size);
void *bpf_map_lookup_elem(void *map, const void *key);
long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags);
long bpf_map_delete_elem(void *map, const void *key);
long bpf_map_push_elem(void *map, const void *value, __u64 flags);
long bpf_map_pop_elem(void *map, void *value);
long bpf_map_peek_elem(void *map, void *value);
void *bpf_map_lookup_percpu_elem(void *map, const void *key, __u32 cpu);
void *bpf_kptr_xchg(void *place, void *object);
void *bpf_per_cpu_ptr(const void *variable, __u32 cpu);
void *bpf_this_cpu_ptr(const void *variable);
long bpf_loop(__u32 times, void *body, void *context, __u64 flags);
__u64 bpf_jiffies64(void);
int bpf_get_numa_node_id(void);
void *bpf_task_storage_get(void *map, struct task_struct *task, void *value, __u64 flags);
long bpf_task_storage_delete(void *map, struct task_struct *task);
long bpf_timer_init(struct bpf_timer *timer, void *map, __u64 flags);
long bpf_timer_set_callback(struct bpf_timer *timer, void *callback);
long bpf_timer_start(struct bpf_timer *timer, __u64 nsecs, __u64 flags);
long bpf_timer_cancel(struct bpf_timer *timer);
long bpf_spin_lock(struct bpf_spin_lock *lock);
long bpf_spin_unlock(struct bpf_spin_lock *lock);
struct task_struct *bpf_get_current_task_btf(void);
__u32 bpf_get_smp_processor_id(void);
__u64 bpf_ktime_get_ns(void);
__u64 bpf_ktime_get_boot_ns(void);
__u32 bpf_get_prandom_u32(void);
long bpf_probe_read_kernel(void *to, __u32 size, const void *from);
long bpf_probe_read_kernel_str(void *to, __u32 size, const void *from);
long bpf_perf_event_read_value(void *map, __u64 flags, struct bpf_perf_event_value *value,
			       __u32 size);
long bpf_ringbuf_output(void *map, void *data, __u64 size, __u64 flags);
void *bpf_ringbuf_reserve(void *map, __u64 size, __u64 flags);
void bpf_ringbuf_submit(void *data, __u64 flags);
void bpf_ringbuf_discard(void *data, __u64 flags);

#endif

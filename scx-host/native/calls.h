/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which functions of a kernel does the host answer itself? Names and arguments
 * are the kernel's (kernel/sched/ext.c, ext_idle.c and kernel/bpf/helpers.c, Linux 7.0).
 */

/* --- sched_ext --- */
CALL(s32, scx_bpf_create_dsq, (u64 dsq, s32 node), dsq, node)
CALL(void, scx_bpf_destroy_dsq, (u64 dsq), dsq)
CALL(s32, scx_bpf_dsq_nr_queued, (u64 dsq), dsq)
CALL(void *, scx_bpf_dsq_peek, (u64 dsq), dsq)
CALL(bool, scx_bpf_dsq_insert, (void *p, u64 dsq, u64 slice, u64 flags), p, dsq, slice, flags)
CALL(bool, scx_bpf_dsq_insert_vtime, (void *p, u64 dsq, u64 slice, u64 vtime, u64 flags), p, dsq,
     slice, vtime, flags)
CALL(bool, scx_bpf_dsq_move, (void *it, void *p, u64 dsq, u64 flags), it, p, dsq, flags)
CALL(bool, scx_bpf_dsq_move_vtime, (void *it, void *p, u64 dsq, u64 flags), it, p, dsq, flags)
CALL(void, scx_bpf_dsq_move_set_slice, (void *it, u64 slice), it, slice)
CALL(void, scx_bpf_dsq_move_set_vtime, (void *it, u64 vtime), it, vtime)
CALL(bool, scx_bpf_dsq_move_to_local, (u64 dsq), dsq)
CALL(u32, scx_bpf_dispatch_nr_slots, (void))
CALL(void, scx_bpf_dispatch_cancel, (void))
CALL(s32, scx_bpf_select_cpu_dfl, (void *p, s32 cpu, u64 flags, bool *idle), p, cpu, flags, idle)
CALL(s32, scx_bpf_select_cpu_and, (void *p, s32 cpu, u64 wake_flags, const void *mask, u64 flags),
     p, cpu, wake_flags, mask, flags)
CALL(s32, scx_bpf_pick_idle_cpu, (const void *mask, u64 flags), mask, flags)
CALL(s32, scx_bpf_pick_any_cpu, (const void *mask, u64 flags), mask, flags)
CALL(bool, scx_bpf_test_and_clear_cpu_idle, (s32 cpu), cpu)
CALL(const void *, scx_bpf_get_idle_cpumask, (void))
CALL(const void *, scx_bpf_get_idle_smtmask, (void))
CALL(const void *, scx_bpf_get_online_cpumask, (void))
CALL(const void *, scx_bpf_get_possible_cpumask, (void))
CALL(void, scx_bpf_kick_cpu, (s32 cpu, u64 flags), cpu, flags)
CALL(u32, scx_bpf_reenqueue_local, (void))
CALL(void, scx_bpf_reenqueue_local___v2, (void))
CALL(s32, scx_bpf_task_cpu, (const void *p), p)
CALL(bool, scx_bpf_task_running, (const void *p), p)
CALL(void *, scx_bpf_cpu_curr, (s32 cpu), cpu)
CALL(u32, scx_bpf_nr_cpu_ids, (void))
CALL(u64, scx_bpf_now, (void))
CALL(bool, scx_bpf_task_set_slice, (void *p, u64 slice), p, slice)
CALL(bool, scx_bpf_task_set_dsq_vtime, (void *p, u64 vtime), p, vtime)
CALL(void, scx_bpf_error_bstr, (const char *format, u64 *values, u32 size), format, values, size)
CALL(void, scx_bpf_exit_bstr, (s64 code, const char *format, u64 *values, u32 size), code, format,
     values, size)
CALL(void, scx_bpf_dump_bstr, (const char *format, u64 *values, u32 size), format, values, size)
CALL(int, bpf_iter_scx_dsq_new, (void *it, u64 dsq, u64 flags), it, dsq, flags)
CALL(void *, bpf_iter_scx_dsq_next, (void *it), it)
CALL(void, bpf_iter_scx_dsq_destroy, (void *it), it)

/* --- Maps, timers, tasks --- */
CALL(void *, bpf_map_lookup_elem, (void *map, const void *key), map, key)
CALL(void *, bpf_map_lookup_percpu_elem, (void *map, const void *key, u32 cpu), map, key, cpu)
CALL(s64, bpf_map_update_elem, (void *map, const void *key, const void *value, u64 flags), map, key,
     value, flags)
CALL(s64, bpf_map_delete_elem, (void *map, const void *key), map, key)
CALL(s64, bpf_map_push_elem, (void *map, const void *value, u64 flags), map, value, flags)
CALL(s64, bpf_map_pop_elem, (void *map, void *value), map, value)
CALL(s64, bpf_map_peek_elem, (void *map, void *value), map, value)
CALL(void *, bpf_task_storage_get, (void *map, void *p, void *value, u64 flags), map, p, value,
     flags)
CALL(s64, bpf_task_storage_delete, (void *map, void *p), map, p)
CALL(s64, bpf_timer_init, (void *timer, void *map, u64 flags), timer, map, flags)
CALL(s64, bpf_timer_set_callback, (void *timer, void *callback), timer, callback)
CALL(s64, bpf_timer_start, (void *timer, u64 ns, u64 flags), timer, ns, flags)
CALL(s64, bpf_timer_cancel, (void *timer), timer)
CALL(void *, bpf_get_current_task_btf, (void))
CALL(void *, bpf_task_from_pid, (s32 pid), pid)
CALL(u32, bpf_get_smp_processor_id, (void))
CALL(u32, bpf_get_prandom_u32, (void))
CALL(s64, bpf_perf_event_read_value, (void *map, u64 flags, void *value, u32 size), map, flags,
     value, size)
CALL(s64, bpf_ringbuf_output, (void *map, const void *record, u64 size, u64 flags), map, record,
     size, flags)
CALL(void *, bpf_ringbuf_reserve, (void *map, u64 size, u64 flags), map, size, flags)
CALL(void, bpf_ringbuf_submit, (void *record, u64 flags), record, flags)
CALL(void, bpf_ringbuf_discard, (void *record, u64 flags), record, flags)

/* --- For native/functions.c, and bpf_printk of headers/bpf --- */
CALL(void *, scx_host_cache_of, (u32 cpu), cpu)
CALL(void *, scx_host_object_new, (u64 bytes), bytes)
CALL(void *, scx_host_object_acquire, (void *object), object)
CALL(void, scx_host_object_release, (void *object), object)
CALL(void, scx_host_print, (const char *format, u64 *values, u32 size), format, values, size)

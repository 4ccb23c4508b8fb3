/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which state of caches, CPUs and tasks is in the kernel's dump after an ejection?
 *
 * The kernel adds the lines of these operations to its own (scx_dump_state in
 * kernel/sched/ext.c, Linux 7.0).
 */
#ifndef EVENKEEL_DUMP_BPF_H
#define EVENKEEL_DUMP_BPF_H

#include "affinity_group.bpf.h"

#define US_NS 1000

/* A format and at most twelve values of 64 bits; the kernel wants both in writable memory. */
#define dump(text, ...) \
	({ \
		static char format[] = text; \
		u64 values[] = {__VA_ARGS__}; \
		scx_bpf_dump_bstr(format, values, sizeof(values)); \
	})

static u64 ago_us(u64 then_ns)
{
	return ek_sub(scx_bpf_now(), then_ns) / US_NS;
}

static void dump_group(u32 cache, u32 number, const struct ek_group *group)
{
	u64 queued = 0;

	if (!group->used_ns)
		return;
	for (u32 task_class = 0; task_class < EK_LEVELS_MAX && task_class < config.classes;
	     task_class++) {
		s32 tasks = scx_bpf_dsq_nr_queued(dsq_of(cache, task_class, number));

		queued += tasks > 0 ? tasks : 0;
	}
	dump("cache %llu, group %llu: %llu queued, minimum %llu us, used %llu us ago\n", cache,
	     number, queued, group->min_vtime_ns / US_NS, ago_us(group->used_ns));
}

SEC("struct_ops/ek_dump")
void BPF_PROG(ek_dump, struct scx_dump_ctx *context)
{
	int i, number;

	bpf_for(i, 0, (int)config.caches) {
		const struct ek_cache *cache = cache_of(i);

		if (!cache)
			return;
		dump("cache %llu: %llu CPUs, %d starved tasks queued, classes %llu\n", (u64)i,
		     cache->cpus, scx_bpf_dsq_nr_queued(DSQ_STARVED | (u32)i), cache->classes);
		bpf_for(number, 0, EK_GROUPS)
			dump_group(i, number, &cache->groups[group_index(number)]);
	}
}

SEC("struct_ops/ek_dump_cpu")
void BPF_PROG(ek_dump_cpu, struct scx_dump_ctx *context, s32 cpu_id, bool is_idle)
{
	const struct ek_cpu *cpu = cpu_of(cpu_id);
	s32 queued = scx_bpf_dsq_nr_queued(DSQ_CPU | (u32)cpu_id);

	/* The kernel leaves an idle CPU out if this operation prints nothing. */
	if (!cpu || (is_true(is_idle) && queued <= 0))
		return;
	dump("cache %llu, clock %llu us, %d queued for this CPU alone, minimum %llu us\n",
	     cpu->cache, cpu->clock_ns / US_NS, queued, cpu->pinned.min_vtime_ns / US_NS);
	dump("runs weight %llu of group %llu since %llu us; released %llu, going offline %llu, "
	     "forced idle %llu\n",
	     cpu->weight, cpu->group, cpu->weight ? ago_us(cpu->slice_start_ns) : 0,
	     cpu->is_released, cpu->going_offline, !!cpu->forced_idle_since_ns);
}

SEC("struct_ops/ek_dump_task")
void BPF_PROG(ek_dump_task, struct scx_dump_ctx *context, struct task_struct *p)
{
	const struct task *task = task_of(p);

	if (!task)
		return;
	dump("group %llu of cache %llu, virtual time %llu us, weight %llu, nice %d\n", task->group,
	     task->cache, p->scx.dsq_vtime / US_NS, weight_of(p),
	     (u64)(s64)(p->static_prio - DEFAULT_PRIO));
	dump("owes %llu us to tasks that it slowed down\n", task->bill_ns / US_NS);
}

#endif

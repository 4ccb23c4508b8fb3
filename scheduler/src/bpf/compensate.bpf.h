/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much time did a slice lose, which task gets a refund and which pays?
 *
 * For a task of level 0 on a core that holds no level, this costs a comparison of two
 * numbers, or two counter reads where the CPU has license counters.
 *
 * Functions are not static where the verifier should check them once, and not again on
 * every path to their calls.
 */
#ifndef EVENKEEL_COMPENSATE_BPF_H
#define EVENKEEL_COMPENSATE_BPF_H

#include <evenkeel/infer.h>
#include <evenkeel/time_lost.h>

#include "forced_idle.bpf.h"

/* --- Cores --- */

/* A level above 0 is in force on a core: its CPUs copy `booked` unless they have a copy. */
static void set_siblings_wide(u32 cpu_id, u64 core_wide_until_ns,
			      const struct ek_level_times *booked)
{
	u32 sibling = cpu_id;

	for (u32 i = 0; i < SIBLINGS_MAX; i++) {
		struct ek_cpu *cpu = cpu_of(sibling);

		if (!cpu)
			return;
		if (!cpu->has_booked) {
			cpu->booked = *booked;
			cpu->has_booked = true;
		}
		cpu->core_wide_until_ns = core_wide_until_ns;
		sibling = cpu->next_sibling;
		if (sibling == cpu_id)
			return;
	}
}

/*
 * From now on the running task of a CPU demands `level`. `believed` becomes the time
 * booked until now, and so does `booked` if the CPU has no copy yet.
 */
__noinline int ek_demand(u32 cpu_id, u32 level, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct core *core = cpu ? core_of(cpu) : NULL;

	if (!core)
		return 0;
	bpf_spin_lock(&core->lock);
	ek_belief_change(&core->belief, configured(hold), cpu->level, level, now_ns);
	cpu->believed = core->belief.booked;
	u64 core_wide_until_ns = ek_belief_wide_until_ns(&core->belief);
	bpf_spin_unlock(&core->lock);
	cpu->level = level;
	set_siblings_wide(cpu_id, core_wide_until_ns, &cpu->believed);
	return 0;
}

/* Counts the cores of a package that run a task. */
__noinline int ek_count_active(u32 package_id, u64 now_ns)
{
	struct ek_package *package = bpf_map_lookup_elem(&packages, &package_id);
	u32 cores = 0;
	int i;

	if (!package)
		return 0;
	package->counted_ns = now_ns;
	bpf_for(i, 0, (int)config.cpus) {
		struct ek_cpu *cpu = cpu_of(i);
		struct core *core = cpu ? core_of(cpu) : NULL;

		if (!core || cpu->package != package_id || cpu->weight == 0 ||
		    core->counted_ns == now_ns)
			continue;
		core->counted_ns = now_ns;
		cores++;
	}
	/* Through memory: the verifier would follow the loop for each number of cores. */
	package->cores = cores;
	EK_FORGET();
	u32 row = ek_active_row(configured(turbo), (u32)package->cores);

	ek_active_note(&package->active, row, now_ns);
	return 0;
}

/* Updates the turbo row that holds, and the first row that held during the slice. */
static void update_turbo_row(struct ek_cpu *cpu, u64 now_ns)
{
	u32 package_id = cpu->package;
	struct ek_package *package = bpf_map_lookup_elem(&packages, &package_id);

	if (!package)
		return;
	if (ek_sub(now_ns, package->counted_ns) >= ACTIVE_NS)
		ek_count_active(package_id, now_ns);
	cpu->turbo_row = package->active.row;
	cpu->decision.slice.first_row = ek_active_since(&package->active, cpu->slice_start_ns);
	EK_FORGET();
}

/* --- The beginning of a slice --- */

/* Whether sensors are read: to compensate, or to know which tasks are wide. */
static bool observes(void)
{
	return config.mode != EK_MODE_NONE || config.specialization;
}

static void begin_slice(struct task_struct *p, u32 cpu_id, struct ek_cpu *cpu)
{
	u64 now_ns = cpu->slice_start_ns;
	u32 level = 0;

	cpu->running_class = 0;
	if (config.sensors & EK_SENSOR_REGISTERS)
		read_saved_registers(p, now_ns);
	if (!class_matters(now_ns))
		return;

	struct task *task = task_of(p);
	struct core *core = core_of(cpu);

	if (task) {
		if ((config.sensors & EK_SENSOR_RULES) && task->rule_level == EK_NAME_ASKED)
			look_up_rule(p, task);
		if (config.sensors & EK_SENSOR_REGISTERS)
			learn_of_process(p, task, now_ns);
		level = level_of(task, now_ns);
		if (config.parts)
			deficit_begins(p, task, cpu_id, cpu, level);
		if (config.specialization)
			kind_begins(p, task, cpu_id, cpu);
	}

	bool is_busy = level > 0 || cpu->core_wide_until_ns > now_ns;

	if (config.events)
		read_counters(cpu, cpu_id, is_busy);
	cpu->has_booked = false;
	if (counts_licenses(cpu))
		cpu->held_ns = ek_sub(cpu->core_wide_until_ns, now_ns);
	else if (is_busy)
		/* Copies `booked` as well. */
		ek_demand(cpu_id, level, now_ns);
	if (task && has_licenses())
		exchange_levels(task, cpu_id, cpu);
	if (core)
		ek_users_note(&core->users, level, p->pid);
}

/* --- The end of a slice --- */

/* Whether only level 0 was in force during the slice, without a read of counters. */
static bool is_surely_level_0(const struct ek_cpu *cpu)
{
	return !(config.sensors & EK_SENSOR_FP_RETIRED) && !counts_licenses(cpu) &&
	       cpu->level == 0 && cpu->core_wide_until_ns <= cpu->slice_start_ns;
}

/* Cycles of the slice: counted, or those of the highest frequency. */
static u64 slice_cycles(const struct ek_cpu *cpu, u32 cpu_id, u64 used_ns)
{
	u64 cycles = gained(cpu, cpu_id, EK_EVENT_CYCLES);

	return cycles ? cycles : ek_mul_div(used_ns, config.turbo.khz[0][0], 1000000);
}

/* Whether only level 0 was in force during the slice; learns from its counters. */
static bool is_level_0(struct task *task, u32 cpu_id, struct ek_cpu *cpu, u64 used_ns, u64 now_ns,
		       u32 *own_level)
{
	*own_level = level_of(task, now_ns);
	if ((config.sensors & EK_SENSOR_FP_RETIRED) && !cpu->no_pmu) {
		struct ek_retired retired = {.wide = {gained(cpu, cpu_id, EK_EVENT_FP_256),
						      gained(cpu, cpu_id, EK_EVENT_FP_512)}};

		u32 shown = 0, before = task->counted_level;

		if (retired.wide[0] | retired.wide[1])
			shown = ek_retired_level(configured(rates), &retired,
						 slice_cycles(cpu, cpu_id, used_ns));
		task->counted_level = shown;
		learn(task, shown < before ? shown : before, EK_SHOWN_NS, now_ns);
		*own_level = *own_level > shown ? *own_level : shown;
	}
	if (counts_licenses(cpu)) {
		u64 level_1 = gained(cpu, cpu_id, EK_EVENT_LICENSE_1);
		u64 level_2 = gained(cpu, cpu_id, EK_EVENT_LICENSE_2);

		cpu->decision.slice.level_cycles[1] = level_1;
		cpu->decision.slice.level_cycles[2] = level_2;
		if (level_1 | level_2) {
			set_siblings_wide(cpu_id, now_ns + config.hold.ns[1], &cpu->booked);
			return false;
		}
		if (ek_possible_level(&task->tests) > 0) {
			struct ek_level_times none = {.ns = {used_ns}};

			cpu->believed = none;
			learn_own_level(task, cpu, now_ns);
		}
		return true;
	}
	return cpu->level == 0 && *own_level == 0 && cpu->core_wide_until_ns <= cpu->slice_start_ns;
}

/* Fills in the counts of the slice, measured or inferred. */
__noinline int ek_gather(u32 cpu_id, u64 used_ns, u64 now_ns)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);

	if (!cpu)
		return 0;

	const struct ek_turbo *turbo = turbo_of(cpu);
	struct ek_slice *slice = &cpu->decision.slice;

	slice->time_ns = used_ns;
	slice->cycles = 0;
	slice->ref_cycles = 0;
	slice->stall_cycles = 0;
	if (cpu->is_counted) {
		slice->cycles = gained(cpu, cpu_id, EK_EVENT_CYCLES);
		slice->ref_cycles = gained(cpu, cpu_id, EK_EVENT_REF_CYCLES);
		slice->stall_cycles = ek_add(gained(cpu, cpu_id, EK_EVENT_STALL_L2_MISS),
					     gained(cpu, cpu_id, EK_EVENT_STALL_STORES));
	}
	update_turbo_row(cpu, now_ns);
	if (counts_licenses(cpu)) {
		ek_counted_times(turbo, cpu->turbo_row, slice, &cpu->believed);
		if (slice->cycles > 0 && slice->ref_cycles > 0)
			return 0;
	} else {
		ek_demand(cpu_id, 0, now_ns);
		ek_belief_since(&cpu->believed, &cpu->booked, ek_sub(now_ns, cpu->slice_start_ns),
				&cpu->believed);
	}
	ek_infer(turbo, cpu->turbo_row, &cpu->believed, slice);
	return 0;
}

/* The time that the slice lost, from the counts of ek_gather. */
__noinline u64 ek_lost_ns(u32 cpu_id, u32 own_level)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);

	if (!cpu)
		return 0;
	ek_time_lost(turbo_of(cpu), &cpu->decision.slice, own_level, &cpu->lost);
	return cpu->lost.lost_ns;
}

/* Bills a task, and returns how much more may be billed: 0 if the task is gone. */
static u64 bill(u32 pid, u64 bill_ns)
{
	struct task_struct *p = pid == EK_NO_TASK ? NULL : bpf_task_from_pid(pid);
	u64 room_ns = 0;

	if (!p)
		return 0;

	struct task *culprit = bpf_task_storage_get(&tasks, p, 0, 0);

	if (culprit) {
		if (bill_ns > 0) {
			__sync_fetch_and_add(&culprit->bill_ns, bill_ns);
			extend_wide_until(ek_add(scx_bpf_now(), BILLS_PENDING_NS));
		}
		room_ns = ek_bill_room_ns(culprit->bill_ns);
	}
	bpf_task_release(p);
	return room_ns;
}

/* Resets a decision to that of a slice without loss. */
static void reset_decision(struct ek_decision *decision)
{
	struct ek_slice none = {};

	decision->slice = none;
	decision->lost_ns = 0;
	decision->bill_ns = 0;
	decision->idle_compensation_ns = 0;
	decision->waited_ns = 0;
	decision->culprit = EK_NO_TASK;
	decision->own_level = 0;
}

/* Refunds a slice that licenses of other tasks slowed, and bills the culprit. */
static u64 compensate(struct task *task, struct core *core, u32 cpu_id, struct ek_cpu *cpu, u32 pid,
		      u32 own_level)
{
	struct ek_decision *decision = &cpu->decision;
	struct ek_compensation back;

	if (config.mode == EK_MODE_NONE)
		return 0;
	decision->own_level = own_level;
	decision->lost_ns = ek_lost_ns(cpu_id, own_level);
	if (decision->lost_ns == 0)
		return 0;
	count(EK_LOST);

	struct ek_loss loss = {
		.time_ns = cpu->decision.slice.time_ns,
		.lost_ns = decision->lost_ns,
		.victim = pid,
		.last_user = ek_users_above(&core->users, &cpu->decision.slice, own_level),
	};

	if (config.mode == EK_MODE_ISOLATION)
		loss.room_ns = bill(loss.last_user, 0);
	ek_compensate(config.mode, &loss, &back);
	if (back.refund_ns == 0) {
		count(EK_NO_CULPRIT);
		return 0;
	}
	if (config.parts) {
		back.refund_ns = bank_refund(task, back.refund_ns, &decision->idle_compensation_ns);
		back.bill_ns = ek_min(back.bill_ns, back.refund_ns);
	}
	count(EK_REFUNDED);
	count_by(EK_REFUNDED_NS, back.refund_ns);
	if (back.bill_ns > 0) {
		bill(back.culprit, back.bill_ns);
		count_by(EK_BILLED_NS, back.bill_ns);
	}
	decision->bill_ns = back.bill_ns;
	decision->culprit = back.culprit;
	return back.refund_ns;
}

/* Takes the pending bills of a task, and its charge for waits for a CPU in forced idle. */
static u64 take_bills(struct task *task, struct ek_decision *decision)
{
	u64 paid_ns = 0;

	if (task->bill_ns)
		paid_ns = __sync_lock_test_and_set(&task->bill_ns, 0);
	if (config.parts && task->waited_ns) {
		decision->waited_ns = __sync_lock_test_and_set(&task->waited_ns, 0);
		paid_ns = ek_add(paid_ns, decision->waited_ns);
	}
	return paid_ns;
}

/* Ends a slice: returns its refund, and sets `decision.paid_ns`, the bills that its task pays. */
__noinline u64 ek_end_slice(struct task *task, u32 cpu_id, u64 used_ns, u32 pid, u32 runnable)
{
	struct ek_cpu *cpu = cpu_of(cpu_id);
	struct core *core = cpu ? core_of(cpu) : NULL;
	struct ek_sibling_levels nothing = {};
	u64 now_ns = scx_bpf_now();
	u32 own_level = 0;

	if (!task || !core)
		return 0;
	/* Until the next task sets its own levels. */
	cpu->own_levels = nothing;
	cpu->decision.paid_ns = take_bills(task, &cpu->decision);

	bool is_without_loss = is_surely_level_0(cpu) ||
			       is_level_0(task, cpu_id, cpu, used_ns, now_ns, &own_level);
	u32 used_level = own_level;

	if (!is_without_loss) {
		ek_gather(cpu_id, used_ns, now_ns);
		used_level = level_of(task, now_ns);
		if (counts_licenses(cpu)) {
			own_level = learn_own_level(task, cpu, now_ns);
			used_level = ek_min(used_level, own_level);
		}
	}
	if (config.parts) {
		deficit_ends(task, core, cpu_id, cpu, used_level, runnable, now_ns);
		/* For the next slices: forced idle of this slice counts at the gain before. */
		if (!is_without_loss)
			learn_gain(task, &cpu->decision.slice);
	}
	if (is_without_loss)
		return 0;

	u64 refund_ns = compensate(task, core, cpu_id, cpu, pid, own_level);

	ek_users_note(&core->users, used_level, pid);
	return refund_ns;
}

/* Writes the decision of a slice to the ring buffer; decisions that do not fit are counted. */
static void emit_decision(struct task_struct *p, u32 cpu_id, struct ek_cpu *cpu, u64 used_ns,
			  u64 refund_ns, bool runnable)
{
	struct ek_decision *decision = &cpu->decision;

	decision->time_ns = scx_bpf_now();
	decision->slice_ns = used_ns;
	decision->refund_ns = refund_ns;
	decision->is_runnable = runnable;
	decision->vtime_ns = p->scx.dsq_vtime;
	decision->from_vtime_ns = cpu->vtime_ns;
	decision->group = cpu->group;
	decision->cpu = cpu_id;
	decision->victim = p->pid;
	decision->weight = cpu->weight;
	if (bpf_ringbuf_output(&decisions, decision, sizeof(*decision), 0))
		count(EK_DECISIONS_LOST);
	reset_decision(decision);
}

/* A slice ends: its task is charged. */
static void charge(struct task_struct *p, u32 cpu_id, struct ek_cpu *cpu, bool runnable)
{
	u64 used_ns = ek_sub(p->se.sum_exec_runtime, cpu->exec_ns), refund_ns = 0;

	cpu->decision.paid_ns = 0;
	if (observes() && class_matters(cpu->slice_start_ns)) {
		struct task *task = task_of(p);

		if (task) {
			refund_ns = ek_end_slice(task, cpu_id, used_ns, p->pid, runnable);
			if (config.specialization)
				kind_ends(p, task, cpu, used_ns, scx_bpf_now());
		}
	}
	set_vtime(p, ek_charge_ns(cpu->vtime_ns, used_ns, refund_ns, cpu->decision.paid_ns,
				  cpu->weight));
	if (config.emits_decisions)
		emit_decision(p, cpu_id, cpu, used_ns, refund_ns, runnable);
}

/* A slice begins. */
static void begin(struct task_struct *p, u32 cpu_id, struct ek_cpu *cpu, u64 now_ns)
{
	cpu->exec_ns = p->se.sum_exec_runtime;
	cpu->vtime_ns = p->scx.dsq_vtime;
	cpu->slice_start_ns = now_ns;
	if (config.parts)
		ek_alone_begins(cpu_id, now_ns);
	cpu->weight = weight_of(p);
	if (observes())
		begin_slice(p, cpu_id, cpu);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which class does a task have, by counters, saved registers and rules?
 *
 * Evidence is precise and rare, so the scheduler learns from each piece and forgets
 * again (evenkeel/learned.h). A rule for a task's name overrides evidence. The class is the
 * level that the task is believed to demand, or with core specialization its kind.
 */
#ifndef EVENKEEL_TASK_CLASS_BPF_H
#define EVENKEEL_TASK_CLASS_BPF_H

#include "state.bpf.h"

/* Bits of XSTATE_BV: upper halves of YMM and of ZMM 0 to 15, and tiles (SDM 13.1). */
#define XFEATURE_YMM (1ULL << 2)
#define XFEATURE_ZMM_HI256 (1ULL << 6)
#define XFEATURE_TILES (3ULL << 17)

/* --- Counters --- */

static bool has_event(u32 event)
{
	return (config.events & ~events_given_up) >> event & 1;
}

/* Whether a counter can be read; `counted` is 0 where not. */
static bool read_counter(u32 cpu_id, u32 event, u64 *counted)
{
	struct bpf_perf_event_value value = {};

	*counted = 0;
	if (!has_event(event) ||
	    bpf_perf_event_read_value(&events, cpu_id * EK_EVENTS + event, &value, sizeof(value)))
		return false;
	*counted = value.counter;
	return true;
}

static u64 counter(u32 cpu_id, u32 event)
{
	u64 counted;

	read_counter(cpu_id, event, &counted);
	return counted;
}

/* The gain of a counter since the slice began; 0 where the counter did not count then. */
static u64 gained(const struct ek_cpu *cpu, u32 cpu_id, u32 event)
{
	u64 before = cpu->counted[event];

	return before ? ek_sub(counter(cpu_id, event), before) : 0;
}

/* Whether the machine has counters of the levels in force; counts_licenses asks one CPU. */
static bool has_licenses(void)
{
	return (config.sensors & EK_SENSOR_LICENSES) && has_event(EK_EVENT_LICENSE_1);
}

/*
 * Whether counters show the levels of a CPU. Perf closes the counters of a CPU that goes
 * offline, and they stay closed when the CPU is back: on such a CPU levels are inferred,
 * as with rules, from evidence on other CPUs.
 */
static bool counts_licenses(const struct ek_cpu *cpu)
{
	return has_licenses() && !cpu->no_pmu;
}

/* At a slice's beginning: the counters of classes, and on a wide core those of its speed. */
static void read_counters(struct ek_cpu *cpu, u32 cpu_id, bool is_busy)
{
	if (has_licenses()) {
		cpu->no_pmu = !read_counter(cpu_id, EK_EVENT_LICENSE_1,
					    &cpu->counted[EK_EVENT_LICENSE_1]);
		cpu->counted[EK_EVENT_LICENSE_2] = counter(cpu_id, EK_EVENT_LICENSE_2);
	}
	if (config.sensors & EK_SENSOR_FP_RETIRED) {
		cpu->no_pmu =
			!read_counter(cpu_id, EK_EVENT_FP_256, &cpu->counted[EK_EVENT_FP_256]);
		cpu->counted[EK_EVENT_FP_512] = counter(cpu_id, EK_EVENT_FP_512);
	}
	/* The rate of wide instructions needs the cycles of every slice. */
	if (is_busy || (config.sensors & EK_SENSOR_FP_RETIRED))
		cpu->counted[EK_EVENT_CYCLES] = counter(cpu_id, EK_EVENT_CYCLES);
	cpu->is_counted = is_busy && has_event(EK_EVENT_CYCLES);
	if (!cpu->is_counted)
		return;
	cpu->counted[EK_EVENT_REF_CYCLES] = counter(cpu_id, EK_EVENT_REF_CYCLES);
	cpu->counted[EK_EVENT_STALL_L2_MISS] = counter(cpu_id, EK_EVENT_STALL_L2_MISS);
	cpu->counted[EK_EVENT_STALL_STORES] = counter(cpu_id, EK_EVENT_STALL_STORES);
}

/* --- Classes --- */

static u32 level_of(const struct task *task, u64 now_ns)
{
	if (task->wide_until_ns <= now_ns)
		return 0;
	if (task->rule_level < EK_LEVELS_MAX)
		return task->rule_level;
	return ek_learned_level(&task->learned, now_ns);
}

/* Races with other CPUs: one value is lost, and both hardly differ. */
static void extend_wide_until(u64 until_ns)
{
	wide_anywhere_until_ns = ek_max(wide_anywhere_until_ns, until_ns);
}

/* The sensors that are read in every slice. */
#define EVERY_SLICE (EK_SENSOR_RULES | EK_SENSOR_LICENSES | EK_SENSOR_FP_RETIRED)

/* Whether any task was ever believed to be wide: a look without the time, which costs a call. */
static bool class_may_matter(void)
{
	return (config.sensors & EVERY_SLICE) || wide_anywhere_until_ns;
}

/*
 * Whether the class of a task can matter. If no task is believed to demand a level above
 * 0, and no sensor is read in every slice, operations skip the look-up of the task's state.
 */
static bool class_matters(u64 now_ns)
{
	return (config.sensors & EVERY_SLICE) || wide_anywhere_until_ns > now_ns;
}

/* Whether a task is in a wide phase, as far as evidence and rules show. */
static bool is_in_wide_phase(const struct task *task, u64 now_ns)
{
	if (level_of(task, now_ns) < config.wide_level)
		return false;
	return !config.ends_by_call || task->rule_level < EK_LEVELS_MAX || task->phase.is_wide;
}

/* The kind of a task (enum ek_task_kind), with core specialization. */
static u32 kind_of(const struct task_struct *p, const struct task *task, u64 now_ns)
{
	if (specialization_off)
		return EK_TASK_NARROW;
	if ((p->flags & PF_KTHREAD) || task->declared == EK_TASK_DEFAULT + 1)
		return EK_TASK_DEFAULT;
	if (task->declared == EK_TASK_WIDE + 1)
		return EK_TASK_WIDE;
	if (config.enrols_declared && !task->declared)
		return EK_TASK_DEFAULT;
	return is_in_wide_phase(task, now_ns) ? EK_TASK_WIDE : EK_TASK_NARROW;
}

static u32 class_of(struct task_struct *p, u64 now_ns)
{
	u32 classes = config.classes;

	if (classes <= 1 || !class_matters(now_ns))
		return 0;

	struct task *task = task_of(p);

	if (!task)
		return 0;
	if (config.specialization)
		return kind_of(p, task, now_ns);
	return ek_min(level_of(task, now_ns), classes - 1);
}

/* A task showed that it demands a level: believed for `for_ns`. */
static void learn(struct task *task, u32 level, u64 for_ns, u64 now_ns)
{
	u64 until_ns = ek_add(now_ns, for_ns);

	if (level == 0)
		return;
	count(EK_EVIDENCE);
	ek_learn_for(&task->learned, level, for_ns, now_ns);
	extend_wide_until(until_ns);
	if (config.specialization && level >= config.wide_level && !task->phase.is_wide) {
		count(EK_WIDE_PHASES);
		ek_wide_phase_begins(&task->phase);
	}
	if (task->rule_level >= EK_LEVELS_MAX)
		task->wide_until_ns = ek_max(task->wide_until_ns, until_ns);
}

/* The level that registers in use are evidence for. */
static u32 shown_level(u64 xfeatures)
{
	if (xfeatures & XFEATURE_TILES)
		return config.level_of_width[EK_WIDTH_TILES];
	if (xfeatures & XFEATURE_ZMM_HI256)
		return config.level_of_width[EK_WIDTH_512];
	if (xfeatures & XFEATURE_YMM)
		return config.level_of_width[EK_WIDTH_256];
	return 0;
}

#ifdef EK_STAND_IN
/*
 * For tests in QEMU's interpreter, whose XSTATE_BV shows AVX in use always and
 * which has no AVX-512: upper halves of YMM that are not 0 stand for ZMM. They
 * are at 576 in the standard format of XSAVE (SDM 13.4).
 */
static u64 saved_xfeatures(const struct fpstate *state)
{
	const char *upper = (const char *)&state->regs + 576;

	for (u32 part = 0; part < 8; part++) {
		u64 halves[4];

		if (bpf_probe_read_kernel(halves, sizeof(halves), upper + part * sizeof(halves)))
			return 0;
		if (halves[0] | halves[1] | halves[2] | halves[3])
			return XFEATURE_ZMM_HI256;
	}
	return 0;
}
#else
static u64 saved_xfeatures(const struct fpstate *state)
{
	return state->regs.xsave.header.xfeatures;
}
#endif

/*
 * A task begins to run. Its registers, as saved at its last switch-out, are evidence,
 * unless they have been read since that switch, or the task has never left a CPU: then
 * they are its parent's.
 */
static void read_saved_registers(struct task_struct *p, u64 now_ns)
{
	u32 level;

	if (p->flags & PF_KTHREAD)
		return;
	level = shown_level(saved_xfeatures(saved_registers(p)->fpstate));
	if (level == 0)
		return;

	struct task *task = task_of(p);
	u64 switches = p->nvcsw + p->nivcsw;

	if (!task || task->switches == switches)
		return;
	task->switches = switches;
	learn(task, level, EK_LEARNED_NS, now_ns);

	struct task *process = task_of(p->group_leader);

	if (process)
		ek_learn(&process->process_learned, level, now_ns);
}

/*
 * A task is believed to demand the level that registers of any thread of its process
 * showed: threads mostly run the same code, and evidence is rare.
 */
static void learn_of_process(struct task_struct *p, struct task *task, u64 now_ns)
{
	struct task *process = task_of(p->group_leader);

	if (!process)
		return;
	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		u64 until_ns = process->process_learned.until_ns[level];

		if (until_ns <= now_ns)
			continue;
		task->learned.until_ns[level] = ek_max(task->learned.until_ns[level], until_ns);
		if (task->rule_level >= EK_LEVELS_MAX)
			task->wide_until_ns = ek_max(task->wide_until_ns, until_ns);
	}
}

/* --- License counters --- */

/* A task begins: its levels are noted for its siblings' slices, and theirs for its slice. */
static void exchange_levels(const struct task *task, u32 cpu_id, struct ek_cpu *cpu)
{
	struct ek_sibling_levels nothing = {},
				 own = {.runs = 1, .believed = level_of(task, cpu->slice_start_ns)};
	u32 sibling = cpu->next_sibling;

	own.possible = task->rule_level < EK_LEVELS_MAX ? task->rule_level :
							  ek_possible_level(&task->tests);
	cpu->own_levels = own;
	cpu->sibling_levels = nothing;
	for (u32 i = 1; i < SIBLINGS_MAX && sibling != cpu_id; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			return;
		ek_sibling_levels_note(&cpu->sibling_levels, &other->own_levels);
		ek_sibling_levels_note(&other->sibling_levels, &own);
		sibling = other->next_sibling;
	}
}

/* The level that a task itself demanded, by the levels in force (`cpu->believed`). */
static u32 learn_own_level(struct task *task, struct ek_cpu *cpu, u64 now_ns)
{
	u32 believed = level_of(task, now_ns);

	if (task->rule_level < EK_LEVELS_MAX)
		return believed;
	ek_demanded(&cpu->believed, configured(hold), cpu->held_ns, &cpu->sibling_levels, believed,
		    &task->tests, &cpu->demanded);
	EK_FORGET();
	/* The evidence of one slice may be wrong, so it counts for a short time. */
	learn(task, cpu->demanded.shown_level, EK_SHOWN_NS, now_ns);
	return cpu->demanded.own_level;
}

/* --- Rules --- */

/* Looks the rule for the task's names up, or asks the loader: no rule until it answers. */
static void look_up_rule(struct task_struct *p, struct task *task)
{
	struct ek_names key = {};
	u32 asks = EK_NAME_ASKED;

	bpf_probe_read_kernel_str(key.task, sizeof(key.task), p->comm);
	bpf_probe_read_kernel_str(key.process, sizeof(key.process), p->group_leader->comm);

	u32 *level = bpf_map_lookup_elem(&names, &key);

	if (!level) {
		if (!bpf_map_update_elem(&names, &key, &asks, BPF_NOEXIST))
			bpf_ringbuf_output(&names_asked, &key, sizeof(key), 0);
		return;
	}
	if (*level == EK_NAME_ASKED)
		return;
	task->rule_level = *level;
	if (task->rule_level < EK_LEVELS_MAX)
		task->wide_until_ns = task->rule_level > 0 ? EK_U64_MAX : 0;
}

/*
 * The name of a task changes, by exec or prctl(2): the rule is looked up again, and what
 * was declared for the task holds from now on.
 */
SEC("tp_btf/task_rename")
int ek_renamed(u64 *ctx)
{
	struct task_struct *p = (struct task_struct *)ctx[0];
	struct task *task = bpf_task_storage_get(&tasks, p, 0, 0);

	if (!task)
		return 0;
	task->rule_level = EK_NAME_ASKED;
	if (config.specialization) {
		const u32 *declared = bpf_task_storage_get(&declarations, p, 0, 0);

		if (declared)
			task->declared = *declared;
		/* Such a task is wide without evidence, and classes matter while it lives. */
		if (task->declared == EK_TASK_WIDE + 1)
			extend_wide_until(EK_U64_MAX);
	}
	return 0;
}

#endif

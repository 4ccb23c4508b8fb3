/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which class does a task have, by counters, saved registers and rules?
 *
 * Evidence is precise and rare, so the scheduler learns from each piece and forgets
 * again (evenkeel/learned.h). A rule for a task's name overrides evidence.
 */
#ifndef EVENKEEL_SENSE_BPF_H
#define EVENKEEL_SENSE_BPF_H

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
static bool read_counter(u32 index, u32 event, u64 *counted)
{
	struct bpf_perf_event_value value = {};

	*counted = 0;
	if (!has_event(event) ||
	    bpf_perf_event_read_value(&events, index * EK_EVENTS + event, &value, sizeof(value)))
		return false;
	*counted = value.counter;
	return true;
}

static u64 counter(u32 index, u32 event)
{
	u64 counted;

	read_counter(index, event, &counted);
	return counted;
}

/* The gain of a counter since the slice began; 0 where the counter did not count then. */
static u64 gained(const struct ek_cpu *cpu, u32 index, u32 event)
{
	u64 before = cpu->counted[event];

	return before ? ek_sub(counter(index, event), before) : 0;
}

/* Whether counters tell the levels in force, unless they cannot be read on a CPU. */
static bool has_licenses(void)
{
	return (config.sensors & EK_SENSOR_LICENSES) && has_event(EK_EVENT_LICENSE_1);
}

/*
 * Whether counters tell the levels of a CPU. Perf gives up the counters of a CPU that
 * goes offline, and they stay closed when the CPU is back: on such a CPU levels are
 * believed, as with rules, from evidence on other CPUs.
 */
static bool counts_licenses(const struct ek_cpu *cpu)
{
	return has_licenses() && !cpu->is_deaf;
}

/* Reads the counters of a sensor, or those that only a busy core needs, at the beginning. */
static void read_counters(struct ek_cpu *cpu, u32 index, bool is_busy)
{
	if (has_licenses()) {
		cpu->is_deaf = !read_counter(index, EK_EVENT_LICENSE_1,
					     &cpu->counted[EK_EVENT_LICENSE_1]);
		cpu->counted[EK_EVENT_LICENSE_2] = counter(index, EK_EVENT_LICENSE_2);
	}
	if (config.sensors & EK_SENSOR_FP_RETIRED) {
		cpu->is_deaf = !read_counter(index, EK_EVENT_FP_256,
					     &cpu->counted[EK_EVENT_FP_256]);
		cpu->counted[EK_EVENT_FP_512] = counter(index, EK_EVENT_FP_512);
	}
	/* The rate of wide instructions wants cycles of every slice. */
	if (is_busy || (config.sensors & EK_SENSOR_FP_RETIRED))
		cpu->counted[EK_EVENT_CYCLES] = counter(index, EK_EVENT_CYCLES);
	cpu->is_counted = is_busy && has_event(EK_EVENT_CYCLES);
	if (!cpu->is_counted)
		return;
	cpu->counted[EK_EVENT_REF_CYCLES] = counter(index, EK_EVENT_REF_CYCLES);
	cpu->counted[EK_EVENT_STALL_L2_MISS] = counter(index, EK_EVENT_STALL_L2_MISS);
	cpu->counted[EK_EVENT_STALL_STORES] = counter(index, EK_EVENT_STALL_STORES);
}

/* --- Classes --- */

static u32 level_of(const struct task *task, u64 now_ns)
{
	if (task->wide_until_ns <= now_ns)
		return 0;
	if (task->ruled < EK_LEVELS_MAX)
		return task->ruled;
	return ek_learned_level(&task->learned, now_ns);
}

/* CPUs may overwrite each other's values, which hardly differ. */
static void is_wide_until(u64 until_ns)
{
	wide_anywhere_until_ns = ek_max(wide_anywhere_until_ns, until_ns);
}

/*
 * Whether the class of a task can matter: while no task is believed wide, and no sensor
 * has to be read to find one, no task is looked up.
 */
static bool matters(u64 now_ns)
{
	const u32 asked = EK_SENSOR_RULES | EK_SENSOR_LICENSES | EK_SENSOR_FP_RETIRED;

	return (config.sensors & asked) || wide_anywhere_until_ns > now_ns;
}

static u32 class_of(struct task_struct *p, u64 now_ns)
{
	u32 classes = config.classes;

	if (classes <= 1 || !matters(now_ns))
		return 0;

	struct task *task = task_of(p);

	return task ? ek_min(level_of(task, now_ns), classes - 1) : 0;
}

/* Evidence that a task demands a level, which is believed for `for_ns`. */
static void learn(struct task *task, u32 level, u64 for_ns, u64 now_ns)
{
	u64 until_ns = ek_add(now_ns, for_ns);

	if (level == 0)
		return;
	count(EK_EVIDENCE);
	ek_learn_for(&task->learned, level, for_ns, now_ns);
	is_wide_until(until_ns);
	if (task->ruled >= EK_LEVELS_MAX)
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
static u64 in_use(const struct fpstate *state)
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
static u64 in_use(const struct fpstate *state)
{
	return state->regs.xsave.header.xfeatures;
}
#endif

/*
 * A task comes to a CPU. Its registers, as saved when the task left its last CPU, are
 * evidence from now on, unless the task has not left a CPU since the last look at them,
 * or never has: then they are its parent's.
 */
static void look_at_registers(struct task_struct *p, u64 now_ns)
{
	u32 level;

	if (p->flags & PF_KTHREAD)
		return;
	level = shown_level(in_use(saved_registers(p)->fpstate));
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
		ek_learn(&process->of_threads, level, now_ns);
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
		u64 until_ns = process->of_threads.until_ns[level];

		if (until_ns <= now_ns)
			continue;
		task->learned.until_ns[level] = ek_max(task->learned.until_ns[level], until_ns);
		if (task->ruled >= EK_LEVELS_MAX)
			task->wide_until_ns = ek_max(task->wide_until_ns, until_ns);
	}
}

/* --- License counters --- */

/* Notes the tasks on the hardware threads of a core for each other's slices. */
static void meet_siblings(const struct task *task, u32 index, struct ek_cpu *cpu)
{
	struct ek_beside nothing = {}, own = {.runs = 1, .believed = level_of(task, cpu->since_ns)};
	u32 sibling = cpu->sibling;

	own.possible = task->ruled < EK_LEVELS_MAX ? task->ruled : ek_possible_level(&task->tests);
	cpu->own = own;
	cpu->beside = nothing;
	for (u32 i = 1; i < SIBLINGS_MAX && sibling != index; i++) {
		struct ek_cpu *other = cpu_of(sibling);

		if (!other)
			return;
		ek_beside_note(&cpu->beside, &other->own);
		ek_beside_note(&other->beside, &own);
		sibling = other->sibling;
	}
}

/* The level that a task itself demanded, of those in force (`cpu->believed`). */
static u32 judge(struct task *task, struct ek_cpu *cpu, u64 now_ns)
{
	u32 believed = level_of(task, now_ns);

	if (task->ruled < EK_LEVELS_MAX)
		return believed;
	ek_demanded(&cpu->believed, configured(hold), cpu->held_ns, &cpu->beside, believed,
		    &task->tests, &cpu->demanded);
	EK_FORGET();
	/* Each of many slices is a guess, and a wrong guess is to be forgotten soon. */
	learn(task, cpu->demanded.shown_level, EK_SHOWN_NS, now_ns);
	return cpu->demanded.own_level;
}

/* --- Rules --- */

/* Looks the task's names up, or asks the loader; no rule holds until the loader answers. */
static void look_up_names(struct task_struct *p, struct task *task)
{
	struct ek_names key = {};
	u32 asks = EK_NAME_ASKED;

	bpf_probe_read_kernel_str(key.task, sizeof(key.task), p->comm);
	bpf_probe_read_kernel_str(key.process, sizeof(key.process), p->group_leader->comm);

	u32 *level = bpf_map_lookup_elem(&names, &key);

	if (!level) {
		if (!bpf_map_update_elem(&names, &key, &asks, BPF_NOEXIST))
			bpf_ringbuf_output(&asked, &key, sizeof(key), 0);
		return;
	}
	if (*level == EK_NAME_ASKED)
		return;
	task->ruled = *level;
	if (task->ruled < EK_LEVELS_MAX)
		task->wide_until_ns = task->ruled > 0 ? EK_U64_MAX : 0;
}

/* The name changes, by exec or by the task itself. */
SEC("tp_btf/task_rename")
int ek_renamed(u64 *ctx)
{
	struct task *task = bpf_task_storage_get(&tasks, (struct task_struct *)ctx[0], 0, 0);

	if (task)
		task->ruled = EK_NAME_ASKED;
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The clock of a core while wide instructions start and stop.
 *
 * One struct ek_license for each license domain (a core, or a package). Its
 * host passes the demand of the running code to ek_license_demand, and calls
 * ek_license_advance when the time of ek_license_next_ns has come. The result
 * at any time is ek_license_effect: the level whose frequency applies and how
 * much of the normal instruction rate gets through.
 *
 * A rise runs through the stages of a table (throttle, halt, throttle, halt:
 * dissertation 3.2.2 and 5.2.1); a fall follows `hold_ns` after the last
 * demand and costs one halt (3.2.3, 5.2.2).
 *
 * Pure: no clock, no globals, no allocation; bounded loops; total.
 */
#ifndef EVENKEEL_LICENSE_H
#define EVENKEEL_LICENSE_H

#include "turbo.h"

#define EK_STAGES_MAX 6
#define EK_PERMILLE 1000

/* One stage of a rise. */
struct ek_stage {
	u32 duration_ns;
	/* Used instead while at most `few_cores` cores are active. */
	u32 duration_few_ns;
	/* Instruction rate during the stage: 0 halted, 250, 500. */
	u16 rate_permille;
	/* Level whose frequency applies during the stage. */
	u8 level;
	u8 pad;
};

struct ek_rise {
	u32 stages;
	struct ek_stage stage[EK_STAGES_MAX];
};

/* Everything the machine needs to know of a CPU besides its frequencies. */
struct ek_license_table {
	u32 levels;
	/* At most this many active cores is "few". */
	u32 few_cores;
	/* Halt when the level falls. */
	u32 fall_halt_ns;
	u32 pad;
	/* From the last demand for a level until the level may fall. */
	u64 hold_ns[EK_LEVELS_MAX];
	/* From the last use of a register width until its power-down (3.2.3). */
	u64 width_hold_ns;
	/* [from][to][heavy]; no stages where from >= to. */
	struct ek_rise rise[EK_LEVELS_MAX][EK_LEVELS_MAX][2];
	/* Throttle when the register file widens without a change of level. */
	struct ek_stage widen;
};

/* Demand of the code running on a domain, all siblings together. */
struct ek_demand {
	u8 level;
	/* Register width in use: 0 = 128 bits, 1 = 256, 2 = 512 and tiles. */
	u8 width;
	/* 1: heavy instructions (multiplication, floating point). */
	u8 heavy;
	u8 pad;
};

struct ek_license {
	/* When the current stage ends; EK_U64_MAX outside a transition. */
	u64 stage_ends_ns;
	/* When each level or width that is no longer demanded may be given up. */
	u64 level_expires_ns[EK_LEVELS_MAX];
	u64 width_expires_ns[3];
	struct ek_demand demand;
	/* Level the domain has been granted; during a rise, the old one. */
	u8 granted;
	/* Level a rise or fall in progress leads to. */
	u8 target;
	/* Width the domain is powered for. */
	u8 width;
	/* Stage in progress, an index into the rise. */
	u8 stage;
	/* enum ek_license_phase */
	u8 phase;
	u8 rise_from;
	u8 rise_heavy;
	u8 few;
};

struct ek_license_effect {
	/* Level whose frequency applies. */
	u8 level;
	u8 pad;
	/* Share of the normal instruction rate that gets through; 0 = halted. */
	u16 rate_permille;
};

enum ek_license_phase {
	EK_LICENSE_STEADY = 0,
	EK_LICENSE_RISING = 1,
	EK_LICENSE_FALLING = 2,
	EK_LICENSE_WIDENING = 3,
};

static inline u8 ek_license_clamp_level(const struct ek_license_table *t, u8 level)
{
	u32 levels = t->levels;

	if (levels == 0 || levels > EK_LEVELS_MAX)
		levels = 1;
	return level < levels ? level : (u8)(levels - 1);
}

static inline u64 ek_license_later(u64 now_ns, u64 delay_ns)
{
	return delay_ns < EK_U64_MAX - now_ns ? now_ns + delay_ns : EK_U64_MAX;
}

static inline u32 ek_license_stage_ns(const struct ek_stage *stage, u8 few)
{
	return few ? stage->duration_few_ns : stage->duration_ns;
}

/* The stages of the rise in progress. */
static inline const struct ek_rise *ek_license_rise(const struct ek_license *s,
						    const struct ek_license_table *t)
{
	u8 from = s->rise_from < EK_LEVELS_MAX ? s->rise_from : 0;
	u8 to = s->target < EK_LEVELS_MAX ? s->target : 0;

	return &t->rise[from][to][s->rise_heavy ? 1 : 0];
}

/* The highest level, of those granted, that demand or an unexpired hold keeps. */
static inline u8 ek_license_floor(const struct ek_license *s, u64 now_ns)
{
	u32 granted = s->granted < EK_LEVELS_MAX ? s->granted : EK_LEVELS_MAX - 1;

	for (u32 level = granted; level > 0; level--) {
		if (level <= s->demand.level || s->level_expires_ns[level] > now_ns)
			return (u8)level;
	}
	return 0;
}

/* Enters the first stage from `first` on that takes time; 0: none is left. */
static inline u8 ek_license_enter_stage(struct ek_license *s, const struct ek_license_table *t,
					u32 first, u64 now_ns)
{
	const struct ek_rise *rise = ek_license_rise(s, t);

	for (u32 i = first; i < EK_STAGES_MAX && i < rise->stages; i++) {
		u32 stage_ns = ek_license_stage_ns(&rise->stage[i], s->few);

		if (stage_ns > 0) {
			s->phase = EK_LICENSE_RISING;
			s->stage = (u8)i;
			s->stage_ends_ns = ek_license_later(now_ns, stage_ns);
			return 1;
		}
	}
	return 0;
}

static inline void ek_license_begin_rise(struct ek_license *s, const struct ek_license_table *t,
					 u32 active_cores, u64 now_ns)
{
	s->rise_from = s->granted;
	s->target = s->demand.level;
	s->rise_heavy = s->demand.heavy ? 1 : 0;
	s->few = active_cores <= t->few_cores;
	if (s->demand.width > s->width)
		s->width = s->demand.width;
	if (!ek_license_enter_stage(s, t, 0, now_ns))
		s->granted = s->target;
}

/* Powers down register widths whose hold is over. */
static inline void ek_license_narrow(struct ek_license *s, u64 now_ns)
{
	u32 width = s->width < 3 ? s->width : 2;

	while (width > 0 && width > s->demand.width && s->width_expires_ns[width] <= now_ns)
		width--;
	s->width = (u8)width;
}

/* Outside a transition: begins the one that demand and expired holds call for. */
static inline void ek_license_settle(struct ek_license *s, const struct ek_license_table *t,
				     u32 active_cores, u64 now_ns)
{
	s->phase = EK_LICENSE_STEADY;
	s->stage_ends_ns = EK_U64_MAX;

	if (s->demand.level > s->granted) {
		ek_license_begin_rise(s, t, active_cores, now_ns);
		return;
	}
	if (s->demand.width > s->width) {
		s->width = s->demand.width;
		s->few = active_cores <= t->few_cores;

		u32 widen_ns = ek_license_stage_ns(&t->widen, s->few);

		if (widen_ns > 0) {
			s->phase = EK_LICENSE_WIDENING;
			s->stage_ends_ns = ek_license_later(now_ns, widen_ns);
			return;
		}
	}

	u8 floor = ek_license_floor(s, now_ns);

	if (floor < s->granted) {
		if (t->fall_halt_ns == 0) {
			s->granted = floor;
			return;
		}
		s->target = floor;
		s->phase = EK_LICENSE_FALLING;
		s->stage_ends_ns = ek_license_later(now_ns, t->fall_halt_ns);
	}
}

/* Nothing has run on the domain yet. */
static inline void ek_license_init(struct ek_license *s)
{
	struct ek_license fresh = {.stage_ends_ns = EK_U64_MAX};

	*s = fresh;
}

/*
 * The code that runs on the domain changed. `active_cores` of the package
 * decides between the two stage durations of the table.
 */
static inline void ek_license_demand(struct ek_license *s, const struct ek_license_table *t,
				     struct ek_demand demand, u32 active_cores, u64 now_ns)
{
	demand.level = ek_license_clamp_level(t, demand.level);
	if (demand.width > 2)
		demand.width = 2;

	ek_license_narrow(s, now_ns);
	/* The hold of levels and widths that are no longer demanded begins now. */
	for (u32 level = 1; level < EK_LEVELS_MAX; level++) {
		if (level <= s->demand.level && level > demand.level)
			s->level_expires_ns[level] = ek_license_later(now_ns, t->hold_ns[level]);
	}
	for (u32 width = 1; width < 3; width++) {
		if (width <= s->demand.width && width > demand.width)
			s->width_expires_ns[width] = ek_license_later(now_ns, t->width_hold_ns);
	}
	s->demand = demand;
	if (s->phase == EK_LICENSE_STEADY)
		ek_license_settle(s, t, active_cores, now_ns);
}

/* All holds last longer by a time that has passed: for hosts that stop their timers meanwhile. */
static inline void ek_license_postpone(struct ek_license *s, u64 passed_ns)
{
	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		s->level_expires_ns[level] =
			ek_license_later(s->level_expires_ns[level], passed_ns);
	for (u32 width = 0; width < 3; width++)
		s->width_expires_ns[width] =
			ek_license_later(s->width_expires_ns[width], passed_ns);
}

/* When ek_license_advance must be called next; EK_U64_MAX: not before a demand. */
static inline u64 ek_license_next_ns(const struct ek_license *s)
{
	if (s->phase != EK_LICENSE_STEADY)
		return s->stage_ends_ns;
	if (s->granted > s->demand.level && s->granted < EK_LEVELS_MAX)
		return s->level_expires_ns[s->granted];
	return EK_U64_MAX;
}

/* Ends the stage, the transition or the hold that is due; earlier calls do nothing. */
static inline void ek_license_advance(struct ek_license *s, const struct ek_license_table *t,
				      u32 active_cores, u64 now_ns)
{
	if (now_ns < ek_license_next_ns(s))
		return;

	if (s->phase == EK_LICENSE_RISING &&
	    ek_license_enter_stage(s, t, (u32)s->stage + 1, now_ns))
		return;
	if (s->phase == EK_LICENSE_RISING || s->phase == EK_LICENSE_FALLING)
		s->granted = s->target;
	ek_license_settle(s, t, active_cores, now_ns);
}

/* The level whose frequency applies now, and the instruction rate. */
static inline struct ek_license_effect ek_license_effect(const struct ek_license *s,
							 const struct ek_license_table *t)
{
	struct ek_license_effect effect = {.level = ek_license_clamp_level(t, s->granted),
					   .rate_permille = EK_PERMILLE};

	if (s->phase == EK_LICENSE_RISING && s->stage < EK_STAGES_MAX) {
		const struct ek_stage *stage = &ek_license_rise(s, t)->stage[s->stage];

		effect.level = ek_license_clamp_level(t, stage->level);
		effect.rate_permille = stage->rate_permille;
	} else if (s->phase == EK_LICENSE_FALLING) {
		effect.rate_permille = 0;
	} else if (s->phase == EK_LICENSE_WIDENING) {
		effect.rate_permille = t->widen.rate_permille;
	}
	if (effect.rate_permille > EK_PERMILLE)
		effect.rate_permille = EK_PERMILLE;
	return effect;
}

_Static_assert(sizeof(struct ek_stage) == 12, "Rust reads this struct");
_Static_assert(sizeof(struct ek_rise) == 4 + 12 * EK_STAGES_MAX, "Rust reads this struct");
_Static_assert(sizeof(struct ek_license_table) ==
		       16 + 8 * EK_LEVELS_MAX + 8 + 72 * sizeof(struct ek_rise) + 16,
	       "Rust reads this struct");
_Static_assert(sizeof(struct ek_license) == 8 + 8 * EK_LEVELS_MAX + 24 + 4 + 8 + 4,
	       "Rust reads this struct");

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Arguments for every decision, and a place for the answers.
 *
 * Compiled as BPF and with the undefined-behaviour sanitizer; same_answers.rs
 * compares both with the library, bit by bit.
 */
#ifndef EVENKEEL_TEST_VECTOR_H
#define EVENKEEL_TEST_VECTOR_H

#include <evenkeel/active.h>
#include <evenkeel/alone.h>
#include <evenkeel/charge.h>
#include <evenkeel/compensate.h>
#include <evenkeel/demanded.h>
#include <evenkeel/infer.h>
#include <evenkeel/lag.h>
#include <evenkeel/learned.h>
#include <evenkeel/meter.h>
#include <evenkeel/mix.h>
#include <evenkeel/move.h>
#include <evenkeel/place.h>
#include <evenkeel/preempt.h>
#include <evenkeel/retired.h>
#include <evenkeel/slice.h>
#include <evenkeel/specialize.h>
#include <evenkeel/time_lost.h>
#include <evenkeel/users.h>
#include <evenkeel/starved.h>
#include <evenkeel/weight.h>
#include <evenkeel/wide_phase.h>

#define ANSWERS 96

struct vector {
	u64 answer[ANSWERS];
	u64 a;
	u64 b;
	u64 c;
	u64 d;
	u32 x;
	u32 y;
	u32 z;
	u32 w;
	struct ek_slice slice;
	struct ek_shares shares;
	struct ek_turbo turbo;
	struct ek_users users;
	u32 pad;
	/* Too much for the stack of a BPF program beside the rest. */
	struct ek_belief belief;
	struct ek_level_times times[2];
};

_Static_assert(sizeof(struct vector) == 8 * ANSWERS + 48 + 88 + 24 + 460 + 24 + 4 + 224,
	       "Rust fills it");

static inline void answer_integers(struct vector *v)
{
	v->answer[0] = ek_mul_div(v->a, v->x, v->y);
	v->answer[1] = ek_mul_q30(v->a, v->x);
	v->answer[2] = ek_share_q30(v->a, v->b);
	v->answer[3] = ek_actual_frequency_hz(v->x, v->a, v->b);
	v->answer[4] = ek_stall_perf_q30(v->x, v->a, v->b);
	v->answer[5] = ek_weight((s32)v->z);
	v->answer[6] = ek_weight_inverse(v->y);
	v->answer[7] = ek_charge_ns(v->a, v->b, v->c, v->d, v->y);
	v->answer[8] = ek_place_new_ns(v->a, v->b, v->c);
	v->answer[9] = ek_place_waking_ns(v->a, v->b, v->c);
	v->answer[10] = ek_slice_ns(v->a, v->x, v->y);
}

static inline void answer_frequencies(struct vector *v)
{
	struct ek_shares measured;
	struct ek_lost lost;
	struct ek_turbo_row at = {.slow = v->y, .factor_q30 = v->z};

	v->answer[11] = ek_mean_frequency_hz(&v->turbo, v->y, &v->shares);
	v->answer[12] = ek_ideal_frequency_hz(&v->turbo, &v->shares, v->w, &at);
	ek_turbo_row(&v->turbo, &v->shares, v->a, v->slice.first_row, &at);
	v->answer[13] = at.slow;
	v->answer[14] = at.factor_q30;

	ek_shares(&v->slice, &measured);
	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		v->answer[15 + level] = measured.q30[level];
	ek_time_lost(&v->turbo, &v->slice, v->w, &lost);
	v->answer[21] = lost.lost_ns;
	v->answer[22] = lost.actual_hz;
	v->answer[23] = lost.ideal_hz;
}

static inline void answer_compensation(struct vector *v)
{
	struct ek_loss loss = {.time_ns = v->a,
			       .lost_ns = v->b,
			       .victim = v->x,
			       .last_user = v->y,
			       .room_ns = ek_bill_room_ns(v->c)};
	struct ek_compensation compensation;

	ek_compensate(v->z, &loss, &compensation);
	v->answer[24] = compensation.refund_ns;
	v->answer[25] = compensation.bill_ns;
	v->answer[26] = compensation.culprit;
}

static inline void answer_queues(struct vector *v)
{
	v->answer[27] = ek_slice_shared_ns(v->a, v->x, v->y, v->z);
	v->answer[28] = ek_move_ns(v->a, v->b, v->c);
	v->answer[29] = ek_preempt_limit_ns(v->a, v->b, v->x);
	v->answer[30] = ek_preempt(v->a, v->b);
	v->answer[31] = ek_starved(v->b, v->a);
	v->answer[32] = ek_starved_period_ns(v->a);
}

/* A core whose hardware thread changes its demand twice, the second time `b` later. */
static inline void answer_belief(struct vector *v)
{
	struct ek_belief *belief = &v->belief;
	struct ek_level_times *hold = &v->times[0], *believed = &v->times[1];
	struct ek_slice slice = {.time_ns = v->b, .cycles = v->c, .ref_cycles = v->x};

	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		hold->ns[level] = v->slice.level_cycles[level];
	belief->since_ns = v->d;
	ek_belief_change(belief, hold, v->z, v->w, v->a);
	v->answer[33] = ek_belief_wide_until_ns(belief);
	ek_belief_change(belief, hold, v->w, 0, ek_add(v->a, v->b));
	ek_belief_since(&belief->booked, believed, v->c, believed);
	for (u32 level = 0; level < EK_LEVELS_MAX; level++)
		v->answer[34 + level] = believed->ns[level];
	ek_infer(&v->turbo, ek_active_row(&v->turbo, v->y), believed, &slice);
	v->answer[40] = slice.cycles;
	v->answer[41] = slice.ref_cycles;
	v->answer[42] = slice.level_cycles[0];
	v->answer[43] = slice.level_cycles[2];
}

static inline void answer_users(struct vector *v)
{
	struct ek_users users = v->users;
	struct ek_learned learned = {};
	struct ek_rates rates;
	struct ek_retired retired = {.wide = {v->a, v->b}};

	ek_users_note(&users, v->w, v->x);
	v->answer[44] = ek_users_above(&users, &v->slice, v->z);
	ek_learn(&learned, v->w, v->a);
	v->answer[45] = ek_learned_level(&learned, v->b);
	for (u32 level = 0; level < EK_LEVELS_MAX; level++) {
		rates.min_permille[0][level] = v->shares.q30[level];
		rates.min_permille[1][level] = v->users.last[level];
	}
	v->answer[46] = ek_retired_level(&rates, &retired, v->c);
	v->answer[47] = ek_bill_room_ns(v->b);
	v->answer[48] = ek_active_row(&v->turbo, v->y);
	ek_counted_times(&v->turbo, v->y, &v->slice, &v->times[0]);
	v->answer[49] = v->times[0].ns[0];
	v->answer[50] = v->times[0].ns[1];
}

/* A slice judged twice, so that the second answer depends on the tests of the first. */
static inline void answer_demanded(struct vector *v)
{
	struct ek_tests tests = {};
	struct ek_sibling_levels siblings = {
		.runs = v->x & 1, .possible = v->y & 7, .believed = v->z & 7};
	struct ek_sibling_levels other = {
		.runs = v->w & 1, .possible = v->z & 7, .believed = v->w & 7};
	struct ek_level_times *at = &v->times[0], *hold = &v->times[1];
	struct ek_demanded demanded;

	for (u32 level = 0; level < EK_LEVELS_MAX; level++) {
		at->ns[level] = v->slice.level_cycles[level];
		hold->ns[level] = v->c;
	}
	ek_sibling_levels_note(&siblings, &other);
	for (u32 i = 0; i < 2; i++)
		ek_demanded(at, hold, v->d, &siblings, v->w & 3, &tests, &demanded);
	v->answer[51] = demanded.own_level;
	v->answer[52] = demanded.shown_level;
	v->answer[53] = ek_possible_level(&tests);
	v->answer[54] = tests.without_ns[1];
	v->answer[55] = tests.hits[2];
	v->answer[56] = ek_preempt_after_ns(v->w);
}

static inline void answer_even(struct vector *v)
{
	struct ek_core_state core = {.is_busy = v->x & 1, .sibling_level = v->y, .held = v->z};
	struct ek_deficit deficit = {.deficit_ns = v->a, .banked_ns = v->b, .asleep_ns = v->c};
	struct ek_deficit before = deficit;
	struct ek_deficit leader = {.lead_ns = v->b};
	struct ek_alone all = {.alone_ns = v->c, .ran_ns = v->d};
	struct ek_learned learned = {};
	u32 gain_permille = ek_deficit_gain_permille(v->x, v->y);

	v->answer[57] = ek_mix_loss_permille(&v->turbo, v->x, v->y, v->z);
	v->answer[58] = ek_mix_price_ns(v->x);
	v->answer[59] = ek_mix_idle_cost_permille(&v->turbo, v->x, v->w, &core, v->w);
	v->answer[60] = ek_mix_swaps(v->x, v->y);
	v->answer[61] = gain_permille;
	v->answer[63] = ek_deficit_forced_idle_ns(&deficit, gain_permille);
	ek_deficit_wakes(&deficit, v->a, v->d);
	v->answer[64] = deficit.deficit_ns;
	ek_deficit_waited(&deficit, v->b);
	v->answer[62] = ek_deficit_bank(&deficit, v->a);
	ek_deficit_sleeps(&deficit, v->a);
	ek_deficit_repay(&deficit, v->c, gain_permille);
	v->answer[65] = deficit.deficit_ns;
	v->answer[66] = deficit.banked_ns;
	ek_learn_shown(&learned, v->w, v->x, v->a);
	v->answer[67] = ek_learned_level(&learned, v->b);
	v->answer[68] = ek_mix_no_swap_until_ns(v->d);
	v->answer[69] = ek_forces_switch_out(v->a);
	ek_alone_add(&all, v->a, v->b);
	ek_alone_ran(&leader, &all, v->a, v->b, gain_permille);
	v->answer[79] = all.alone_ns + all.ran_ns;
	v->answer[80] = leader.lead_ns;
	v->answer[81] = ek_alone_leads(&leader);
	v->answer[95] = ek_deficit_credit_ns(&before, v->b, v->d);
}

static inline void answer_meter(struct vector *v)
{
	struct ek_lost lost;

	v->answer[70] = ek_meter_ns(EK_METER_CYCLES, &v->turbo, &v->slice, v->w, &lost);
	v->answer[71] = ek_meter_ns(EK_METER_ENERGY, &v->turbo, &v->slice, v->w, &lost);
}

static inline void answer_active(struct vector *v)
{
	struct ek_active active = {.row = v->x & 31};

	ek_active_note(&active, v->y & 31, v->a);
	v->answer[72] = ek_active_since(&active, v->b);
	ek_active_note(&active, v->z & 31, v->b);
	v->answer[73] = ek_active_since(&active, v->a);
}

static inline void answer_lag(struct vector *v)
{
	struct ek_anchor anchor = {.vtime_ns = v->a, .clock_ns = v->b};

	v->answer[74] = ek_lag_limit_ns(v->a, v->x);
	v->answer[75] = ek_lag_bound_ns(v->a, v->b, v->c);
	v->answer[76] = ek_anchor_bound_ns(&anchor, v->c, v->d, v->x);
	v->answer[77] = ek_anchor_clock_ns(&anchor, v->d);
	v->answer[78] = ek_rate_above_ns(ek_rate_ns(v->a, v->x));
}

static inline void answer_specialize(struct vector *v)
{
	struct ek_kinds kinds = {v->x, v->y, v->z, v->w};
	struct ek_wide_phase phase = {.ran_ns = v->a, .short_q16 = v->x, .is_wide = v->y & 1};

	struct ek_kind_vtimes vtimes = {v->a, v->b};

	v->answer[82] = ek_specialize_may_change(v->a, v->b, v->c);
	v->answer[83] = ek_specialize_adds(&kinds, v->a & 1);
	v->answer[84] = ek_specialize_removes(&kinds);
	v->answer[85] = ek_specialize_rank(v->x & 1, v->y & 3);
	v->answer[86] = ek_wide_phase_ends_by_call(&phase, v->z & 1);
	ek_wide_phase_ran(&phase, v->b);
	v->answer[87] = ek_wide_phase_left_ns(&phase, v->c);
	ek_wide_phase_begins(&phase);
	v->answer[88] = phase.short_q16;
	ek_wide_phase_times_out(&phase, v->w & 1);
	v->answer[91] = phase.is_wide;
	v->answer[92] = ek_specialize_adds_by_lag(&kinds, &vtimes, v->c);
	v->answer[93] = ek_specialize_removes_by_lag(&kinds, &vtimes);
	v->answer[94] = ek_specialize_narrow_first(&kinds, &vtimes);
	ek_wide_phase_ends(&phase);
	v->answer[89] = phase.ran_ns;
	v->answer[90] = phase.is_wide;
}

static inline void answer(struct vector *v)
{
	answer_integers(v);
	answer_queues(v);
	answer_frequencies(v);
	answer_compensation(v);
	answer_belief(v);
	answer_users(v);
	answer_demanded(v);
	answer_even(v);
	answer_meter(v);
	answer_active(v);
	answer_lag(v);
	answer_specialize(v);
}

#endif

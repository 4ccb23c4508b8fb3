/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Written by `cargo xtask gen`: calls every function with arbitrary arguments.
 *
 * A volatile variable holds any value at each read, so whatever Frama-C shows
 * of these calls holds for all inputs.
 */
#include <evenkeel/active.h>
#include <evenkeel/alone.h>
#include <evenkeel/belief.h>
#include <evenkeel/charge.h>
#include <evenkeel/compensate.h>
#include <evenkeel/deficit.h>
#include <evenkeel/demanded.h>
#include <evenkeel/fixed.h>
#include <evenkeel/ideal_frequency.h>
#include <evenkeel/infer.h>
#include <evenkeel/lag.h>
#include <evenkeel/learned.h>
#include <evenkeel/license.h>
#include <evenkeel/mean_frequency.h>
#include <evenkeel/meter.h>
#include <evenkeel/mix.h>
#include <evenkeel/move.h>
#include <evenkeel/place.h>
#include <evenkeel/preempt.h>
#include <evenkeel/retired.h>
#include <evenkeel/shares.h>
#include <evenkeel/slice.h>
#include <evenkeel/specialize.h>
#include <evenkeel/stall.h>
#include <evenkeel/starved.h>
#include <evenkeel/time_lost.h>
#include <evenkeel/turbo_row.h>
#include <evenkeel/users.h>
#include <evenkeel/weight.h>
#include <evenkeel/wide_phase.h>

static volatile s32 any_s32;
static volatile struct ek_active any_ek_active;
static volatile struct ek_alone any_ek_alone;
static volatile struct ek_anchor any_ek_anchor;
static volatile struct ek_belief any_ek_belief;
static volatile struct ek_compensation any_ek_compensation;
static volatile struct ek_core_state any_ek_core_state;
static volatile struct ek_deficit any_ek_deficit;
static volatile struct ek_demand any_ek_demand;
static volatile struct ek_demanded any_ek_demanded;
static volatile struct ek_kind_vtimes any_ek_kind_vtimes;
static volatile struct ek_kinds any_ek_kinds;
static volatile struct ek_learned any_ek_learned;
static volatile struct ek_level_times any_ek_level_times;
static volatile struct ek_license any_ek_license;
static volatile struct ek_license_table any_ek_license_table;
static volatile struct ek_loss any_ek_loss;
static volatile struct ek_lost any_ek_lost;
static volatile struct ek_rates any_ek_rates;
static volatile struct ek_retired any_ek_retired;
static volatile struct ek_shares any_ek_shares;
static volatile struct ek_sibling_levels any_ek_sibling_levels;
static volatile struct ek_slice any_ek_slice;
static volatile struct ek_stage any_ek_stage;
static volatile struct ek_tests any_ek_tests;
static volatile struct ek_turbo any_ek_turbo;
static volatile struct ek_turbo_row any_ek_turbo_row;
static volatile struct ek_users any_ek_users;
static volatile struct ek_wide_phase any_ek_wide_phase;
static volatile u32 any_u32;
static volatile u64 any_u64;
static volatile u8 any_u8;

static void prove_ek_active_row(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	u32 active_cores = any_u32;

	ek_active_row(&turbo, active_cores);
}

static void prove_ek_active_note(void)
{
	struct ek_active active = any_ek_active;
	u32 row = any_u32;
	u64 now_ns = any_u64;

	ek_active_note(&active, row, now_ns);
}

static void prove_ek_active_since(void)
{
	struct ek_active active = any_ek_active;
	u64 since_ns = any_u64;

	ek_active_since(&active, since_ns);
}

static void prove_ek_alone_add(void)
{
	struct ek_alone all = any_ek_alone;
	u64 alone_ns = any_u64;
	u64 ran_ns = any_u64;

	ek_alone_add(&all, alone_ns, ran_ns);
}

static void prove_ek_alone_expected_ns(void)
{
	struct ek_alone all = any_ek_alone;
	u64 ran_ns = any_u64;
	u32 gain_permille = any_u32;

	ek_alone_expected_ns(&all, ran_ns, gain_permille);
}

static void prove_ek_alone_ran(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	struct ek_alone all = any_ek_alone;
	u64 alone_ns = any_u64;
	u64 ran_ns = any_u64;
	u32 gain_permille = any_u32;

	ek_alone_ran(&deficit, &all, alone_ns, ran_ns, gain_permille);
}

static void prove_ek_alone_leads(void)
{
	struct ek_deficit deficit = any_ek_deficit;

	ek_alone_leads(&deficit);
}

static void prove_ek_belief_demanded(void)
{
	struct ek_belief belief = any_ek_belief;

	ek_belief_demanded(&belief);
}

static void prove_ek_belief_held(void)
{
	struct ek_belief belief = any_ek_belief;
	u32 floor = any_u32;
	u64 now_ns = any_u64;

	ek_belief_held(&belief, floor, now_ns);
}

static void prove_ek_belief_wide_until_ns(void)
{
	struct ek_belief belief = any_ek_belief;

	ek_belief_wide_until_ns(&belief);
}

static void prove_ek_belief_book(void)
{
	struct ek_belief belief = any_ek_belief;
	u64 now_ns = any_u64;

	ek_belief_book(&belief, now_ns);
}

static void prove_ek_belief_change(void)
{
	struct ek_belief belief = any_ek_belief;
	struct ek_level_times hold = any_ek_level_times;
	u32 from = any_u32;
	u32 to = any_u32;
	u64 now_ns = any_u64;

	ek_belief_change(&belief, &hold, from, to, now_ns);
}

static void prove_ek_belief_since(void)
{
	struct ek_level_times booked = any_ek_level_times;
	struct ek_level_times before = any_ek_level_times;
	u64 passed_ns = any_u64;
	struct ek_level_times since = any_ek_level_times;

	ek_belief_since(&booked, &before, passed_ns, &since);
}

static void prove_ek_charge_scale_ns(void)
{
	u64 time_ns = any_u64;
	u32 weight = any_u32;

	ek_charge_scale_ns(time_ns, weight);
}

static void prove_ek_charge_ns(void)
{
	u64 vtime_ns = any_u64;
	u64 time_ns = any_u64;
	u64 refund_ns = any_u64;
	u64 bill_ns = any_u64;
	u32 weight = any_u32;

	ek_charge_ns(vtime_ns, time_ns, refund_ns, bill_ns, weight);
}

static void prove_ek_bill_room_ns(void)
{
	u64 bill_ns = any_u64;

	ek_bill_room_ns(bill_ns);
}

static void prove_ek_compensate(void)
{
	u32 mode = any_u32;
	struct ek_loss loss = any_ek_loss;
	struct ek_compensation compensation = any_ek_compensation;

	ek_compensate(mode, &loss, &compensation);
}

static void prove_ek_deficit_bank(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	u64 refund_ns = any_u64;

	ek_deficit_bank(&deficit, refund_ns);
}

static void prove_ek_deficit_waited(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	u64 waited_ns = any_u64;

	ek_deficit_waited(&deficit, waited_ns);
}

static void prove_ek_deficit_sleeps(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	u64 now_ns = any_u64;

	ek_deficit_sleeps(&deficit, now_ns);
}

static void prove_ek_deficit_after_sleep_ns(void)
{
	u64 ns = any_u64;
	u64 slept_ns = any_u64;

	ek_deficit_after_sleep_ns(ns, slept_ns);
}

static void prove_ek_deficit_credit_ns(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	u64 credit_ns = any_u64;
	u64 now_ns = any_u64;

	ek_deficit_credit_ns(&deficit, credit_ns, now_ns);
}

static void prove_ek_deficit_wakes(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	u64 later_ns = any_u64;
	u64 now_ns = any_u64;

	ek_deficit_wakes(&deficit, later_ns, now_ns);
}

static void prove_ek_deficit_gain_permille(void)
{
	u32 smt_share_permille = any_u32;
	u32 stall_q30 = any_u32;

	ek_deficit_gain_permille(smt_share_permille, stall_q30);
}

static void prove_ek_deficit_repay(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	u64 forced_idle_ns = any_u64;
	u32 gain_permille = any_u32;

	ek_deficit_repay(&deficit, forced_idle_ns, gain_permille);
}

static void prove_ek_deficit_forced_idle_ns(void)
{
	struct ek_deficit deficit = any_ek_deficit;
	u32 gain_permille = any_u32;

	ek_deficit_forced_idle_ns(&deficit, gain_permille);
}

static void prove_ek_possible_level(void)
{
	struct ek_tests tests = any_ek_tests;

	ek_possible_level(&tests);
}

static void prove_ek_sibling_levels_note(void)
{
	struct ek_sibling_levels siblings = any_ek_sibling_levels;
	struct ek_sibling_levels other = any_ek_sibling_levels;

	ek_sibling_levels_note(&siblings, &other);
}

static void prove_ek_evidence_of(void)
{
	u32 level = any_u32;
	struct ek_sibling_levels siblings = any_ek_sibling_levels;
	u32 is_cleared = any_u32;

	ek_evidence_of(level, &siblings, is_cleared);
}

static void prove_ek_demanded(void)
{
	struct ek_level_times at = any_ek_level_times;
	struct ek_level_times hold = any_ek_level_times;
	u64 held_ns = any_u64;
	struct ek_sibling_levels siblings = any_ek_sibling_levels;
	u32 believed = any_u32;
	struct ek_tests tests = any_ek_tests;
	struct ek_demanded demanded = any_ek_demanded;

	ek_demanded(&at, &hold, held_ns, &siblings, believed, &tests, &demanded);
}

static void prove_ek_add(void)
{
	u64 a = any_u64;
	u64 b = any_u64;

	ek_add(a, b);
}

static void prove_ek_sub(void)
{
	u64 a = any_u64;
	u64 b = any_u64;

	ek_sub(a, b);
}

static void prove_ek_min(void)
{
	u64 a = any_u64;
	u64 b = any_u64;

	ek_min(a, b);
}

static void prove_ek_max(void)
{
	u64 a = any_u64;
	u64 b = any_u64;

	ek_max(a, b);
}

static void prove_ek_mul_q30(void)
{
	u64 a = any_u64;
	u32 q30 = any_u32;

	ek_mul_q30(a, q30);
}

static void prove_ek_share_q30(void)
{
	u64 part = any_u64;
	u64 whole = any_u64;

	ek_share_q30(part, whole);
}

static void prove_ek_mul_div(void)
{
	u64 a = any_u64;
	u32 num = any_u32;
	u32 den = any_u32;

	ek_mul_div(a, num, den);
}

static void prove_ek_ideal_shares(void)
{
	struct ek_shares shares = any_ek_shares;
	u32 own_level = any_u32;
	struct ek_shares ideal = any_ek_shares;

	ek_ideal_shares(&shares, own_level, &ideal);
}

static void prove_ek_ideal_frequency_hz(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	struct ek_shares shares = any_ek_shares;
	u32 own_level = any_u32;
	struct ek_turbo_row at = any_ek_turbo_row;

	ek_ideal_frequency_hz(&turbo, &shares, own_level, &at);
}

static void prove_ek_counted_above_ns(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	struct ek_slice slice = any_ek_slice;

	ek_counted_above_ns(&turbo, &slice);
}

static void prove_ek_counted_times(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	u32 row = any_u32;
	struct ek_slice slice = any_ek_slice;
	struct ek_level_times times = any_ek_level_times;

	ek_counted_times(&turbo, row, &slice, &times);
}

static void prove_ek_infer(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	u32 row = any_u32;
	struct ek_level_times believed = any_ek_level_times;
	struct ek_slice slice = any_ek_slice;

	ek_infer(&turbo, row, &believed, &slice);
}

static void prove_ek_lag_limit_ns(void)
{
	u64 slice_ns = any_u64;
	u32 weight = any_u32;

	ek_lag_limit_ns(slice_ns, weight);
}

static void prove_ek_lag_bound_ns(void)
{
	u64 vtime_ns = any_u64;
	u64 min_vtime_ns = any_u64;
	u64 limit_ns = any_u64;

	ek_lag_bound_ns(vtime_ns, min_vtime_ns, limit_ns);
}

static void prove_ek_anchor_clock_ns(void)
{
	struct ek_anchor anchor = any_ek_anchor;
	u64 vtime_ns = any_u64;

	ek_anchor_clock_ns(&anchor, vtime_ns);
}

static void prove_ek_anchor_bound_ns(void)
{
	struct ek_anchor anchor = any_ek_anchor;
	u64 vtime_ns = any_u64;
	u64 now_clock_ns = any_u64;
	u64 limit_ns = any_u64;

	ek_anchor_bound_ns(&anchor, vtime_ns, now_clock_ns, limit_ns);
}

static void prove_ek_rate_ns(void)
{
	u64 passed_ns = any_u64;
	u64 while_ns = any_u64;

	ek_rate_ns(passed_ns, while_ns);
}

static void prove_ek_rate_above_ns(void)
{
	u64 rate_ns = any_u64;

	ek_rate_above_ns(rate_ns);
}

static void prove_ek_learn_for(void)
{
	struct ek_learned learned = any_ek_learned;
	u32 level = any_u32;
	u64 for_ns = any_u64;
	u64 now_ns = any_u64;

	ek_learn_for(&learned, level, for_ns, now_ns);
}

static void prove_ek_learn(void)
{
	struct ek_learned learned = any_ek_learned;
	u32 level = any_u32;
	u64 now_ns = any_u64;

	ek_learn(&learned, level, now_ns);
}

static void prove_ek_learn_shown(void)
{
	struct ek_learned learned = any_ek_learned;
	u32 level = any_u32;
	u32 before = any_u32;
	u64 now_ns = any_u64;

	ek_learn_shown(&learned, level, before, now_ns);
}

static void prove_ek_forces_switch_out(void)
{
	u64 stayed_ns = any_u64;

	ek_forces_switch_out(stayed_ns);
}

static void prove_ek_learned_level(void)
{
	struct ek_learned learned = any_ek_learned;
	u64 now_ns = any_u64;

	ek_learned_level(&learned, now_ns);
}

static void prove_ek_license_clamp_level(void)
{
	struct ek_license_table t = any_ek_license_table;
	u8 level = any_u8;

	ek_license_clamp_level(&t, level);
}

static void prove_ek_license_later(void)
{
	u64 now_ns = any_u64;
	u64 delay_ns = any_u64;

	ek_license_later(now_ns, delay_ns);
}

static void prove_ek_license_stage_ns(void)
{
	struct ek_stage stage = any_ek_stage;
	u8 few = any_u8;

	ek_license_stage_ns(&stage, few);
}

static void prove_ek_license_rise(void)
{
	struct ek_license s = any_ek_license;
	struct ek_license_table t = any_ek_license_table;

	ek_license_rise(&s, &t);
}

static void prove_ek_license_floor(void)
{
	struct ek_license s = any_ek_license;
	u64 now_ns = any_u64;

	ek_license_floor(&s, now_ns);
}

static void prove_ek_license_enter_stage(void)
{
	struct ek_license s = any_ek_license;
	struct ek_license_table t = any_ek_license_table;
	u32 first = any_u32;
	u64 now_ns = any_u64;

	ek_license_enter_stage(&s, &t, first, now_ns);
}

static void prove_ek_license_begin_rise(void)
{
	struct ek_license s = any_ek_license;
	struct ek_license_table t = any_ek_license_table;
	u32 active_cores = any_u32;
	u64 now_ns = any_u64;

	ek_license_begin_rise(&s, &t, active_cores, now_ns);
}

static void prove_ek_license_narrow(void)
{
	struct ek_license s = any_ek_license;
	u64 now_ns = any_u64;

	ek_license_narrow(&s, now_ns);
}

static void prove_ek_license_settle(void)
{
	struct ek_license s = any_ek_license;
	struct ek_license_table t = any_ek_license_table;
	u32 active_cores = any_u32;
	u64 now_ns = any_u64;

	ek_license_settle(&s, &t, active_cores, now_ns);
}

static void prove_ek_license_init(void)
{
	struct ek_license s = any_ek_license;

	ek_license_init(&s);
}

static void prove_ek_license_demand(void)
{
	struct ek_license s = any_ek_license;
	struct ek_license_table t = any_ek_license_table;
	struct ek_demand demand = any_ek_demand;
	u32 active_cores = any_u32;
	u64 now_ns = any_u64;

	ek_license_demand(&s, &t, demand, active_cores, now_ns);
}

static void prove_ek_license_postpone(void)
{
	struct ek_license s = any_ek_license;
	u64 passed_ns = any_u64;

	ek_license_postpone(&s, passed_ns);
}

static void prove_ek_license_next_ns(void)
{
	struct ek_license s = any_ek_license;

	ek_license_next_ns(&s);
}

static void prove_ek_license_advance(void)
{
	struct ek_license s = any_ek_license;
	struct ek_license_table t = any_ek_license_table;
	u32 active_cores = any_u32;
	u64 now_ns = any_u64;

	ek_license_advance(&s, &t, active_cores, now_ns);
}

static void prove_ek_license_effect(void)
{
	struct ek_license s = any_ek_license;
	struct ek_license_table t = any_ek_license_table;

	ek_license_effect(&s, &t);
}

static void prove_ek_frequency_clamp_khz(void)
{
	u32 khz = any_u32;

	ek_frequency_clamp_khz(khz);
}

static void prove_ek_frequency_khz(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	u32 row = any_u32;
	u32 level = any_u32;

	ek_frequency_khz(&turbo, row, level);
}

static void prove_ek_mean_frequency_hz(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	u32 row = any_u32;
	struct ek_shares shares = any_ek_shares;

	ek_mean_frequency_hz(&turbo, row, &shares);
}

static void prove_ek_actual_frequency_hz(void)
{
	u32 ref_khz = any_u32;
	u64 cycles = any_u64;
	u64 ref_cycles = any_u64;

	ek_actual_frequency_hz(ref_khz, cycles, ref_cycles);
}

static void prove_ek_meter_ns(void)
{
	u32 meter = any_u32;
	struct ek_turbo turbo = any_ek_turbo;
	struct ek_slice slice = any_ek_slice;
	u32 own_level = any_u32;
	struct ek_lost lost = any_ek_lost;

	ek_meter_ns(meter, &turbo, &slice, own_level, &lost);
}

static void prove_ek_mix_loss_permille(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	u32 row = any_u32;
	u32 a = any_u32;
	u32 b = any_u32;

	ek_mix_loss_permille(&turbo, row, a, b);
}

static void prove_ek_mix_price_ns(void)
{
	u32 loss_permille = any_u32;

	ek_mix_price_ns(loss_permille);
}

static void prove_ek_mix_idle_cost_permille(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	u32 row = any_u32;
	u32 level = any_u32;
	struct ek_core_state core = any_ek_core_state;
	u32 smt_share_permille = any_u32;

	ek_mix_idle_cost_permille(&turbo, row, level, &core, smt_share_permille);
}

static void prove_ek_mix_swaps(void)
{
	u32 before_permille = any_u32;
	u32 after_permille = any_u32;

	ek_mix_swaps(before_permille, after_permille);
}

static void prove_ek_mix_no_swap_until_ns(void)
{
	u64 now_ns = any_u64;

	ek_mix_no_swap_until_ns(now_ns);
}

static void prove_ek_move_ns(void)
{
	u64 vtime_ns = any_u64;
	u64 min_from_ns = any_u64;
	u64 min_to_ns = any_u64;

	ek_move_ns(vtime_ns, min_from_ns, min_to_ns);
}

static void prove_ek_place_new_ns(void)
{
	u64 vtime_ns = any_u64;
	u64 min_vtime_ns = any_u64;
	u64 vslice_ns = any_u64;

	ek_place_new_ns(vtime_ns, min_vtime_ns, vslice_ns);
}

static void prove_ek_place_waking_ns(void)
{
	u64 vtime_ns = any_u64;
	u64 min_vtime_ns = any_u64;
	u64 credit_ns = any_u64;

	ek_place_waking_ns(vtime_ns, min_vtime_ns, credit_ns);
}

static void prove_ek_preempt_limit_ns(void)
{
	u64 vtime_ns = any_u64;
	u64 granularity_ns = any_u64;
	u32 weight = any_u32;

	ek_preempt_limit_ns(vtime_ns, granularity_ns, weight);
}

static void prove_ek_preempt(void)
{
	u64 limit_ns = any_u64;
	u64 running_vtime_ns = any_u64;

	ek_preempt(limit_ns, running_vtime_ns);
}

static void prove_ek_preempt_after_ns(void)
{
	u32 weight = any_u32;

	ek_preempt_after_ns(weight);
}

static void prove_ek_retired_level(void)
{
	struct ek_rates rates = any_ek_rates;
	struct ek_retired retired = any_ek_retired;
	u64 cycles = any_u64;

	ek_retired_level(&rates, &retired, cycles);
}

static void prove_ek_shares(void)
{
	struct ek_slice slice = any_ek_slice;
	struct ek_shares shares = any_ek_shares;

	ek_shares(&slice, &shares);
}

static void prove_ek_shares_above(void)
{
	struct ek_shares shares = any_ek_shares;
	u32 own_level = any_u32;

	ek_shares_above(&shares, own_level);
}

static void prove_ek_slice_ns(void)
{
	u64 base_ns = any_u64;
	u32 jitter_permille = any_u32;
	u32 draw = any_u32;

	ek_slice_ns(base_ns, jitter_permille, draw);
}

static void prove_ek_slice_shared_ns(void)
{
	u64 base_ns = any_u64;
	u32 weight = any_u32;
	u32 waiting = any_u32;
	u32 cpus = any_u32;

	ek_slice_shared_ns(base_ns, weight, waiting, cpus);
}

static void prove_ek_specialize_may_change(void)
{
	u64 now_ns = any_u64;
	u64 changed_ns = any_u64;
	u64 interval_ns = any_u64;

	ek_specialize_may_change(now_ns, changed_ns, interval_ns);
}

static void prove_ek_specialize_adds(void)
{
	struct ek_kinds kinds = any_ek_kinds;
	u32 narrow_cpu_idles = any_u32;

	ek_specialize_adds(&kinds, narrow_cpu_idles);
}

static void prove_ek_specialize_removes(void)
{
	struct ek_kinds kinds = any_ek_kinds;

	ek_specialize_removes(&kinds);
}

static void prove_ek_specialize_prefers(void)
{
	u32 becomes_wide = any_u32;
	u32 core_is_slow = any_u32;

	ek_specialize_prefers(becomes_wide, core_is_slow);
}

static void prove_ek_specialize_rank(void)
{
	u32 core_is_wide = any_u32;
	u32 task_kind = any_u32;

	ek_specialize_rank(core_is_wide, task_kind);
}

static void prove_ek_specialize_price_ns(void)
{
	u32 rank = any_u32;

	ek_specialize_price_ns(rank);
}

static void prove_ek_specialize_adds_by_lag(void)
{
	struct ek_kinds kinds = any_ek_kinds;
	struct ek_kind_vtimes vtimes = any_ek_kind_vtimes;
	u64 wasted_ns = any_u64;

	ek_specialize_adds_by_lag(&kinds, &vtimes, wasted_ns);
}

static void prove_ek_specialize_removes_by_lag(void)
{
	struct ek_kinds kinds = any_ek_kinds;
	struct ek_kind_vtimes vtimes = any_ek_kind_vtimes;

	ek_specialize_removes_by_lag(&kinds, &vtimes);
}

static void prove_ek_specialize_narrow_first(void)
{
	struct ek_kinds kinds = any_ek_kinds;
	struct ek_kind_vtimes vtimes = any_ek_kind_vtimes;

	ek_specialize_narrow_first(&kinds, &vtimes);
}

static void prove_ek_stall_share_q30(void)
{
	u64 stall_cycles = any_u64;
	u64 cycles = any_u64;

	ek_stall_share_q30(stall_cycles, cycles);
}

static void prove_ek_stall_perf_q30(void)
{
	u32 stall_q30 = any_u32;
	u64 now_hz = any_u64;
	u64 next_hz = any_u64;

	ek_stall_perf_q30(stall_q30, now_hz, next_hz);
}

static void prove_ek_starved(void)
{
	u64 waited_ns = any_u64;
	u64 watchdog_ns = any_u64;

	ek_starved(waited_ns, watchdog_ns);
}

static void prove_ek_starved_period_ns(void)
{
	u64 watchdog_ns = any_u64;

	ek_starved_period_ns(watchdog_ns);
}

static void prove_ek_time_lost_ns(void)
{
	u64 time_ns = any_u64;
	u32 stall_q30 = any_u32;
	u64 actual_hz = any_u64;
	u64 ideal_hz = any_u64;

	ek_time_lost_ns(time_ns, stall_q30, actual_hz, ideal_hz);
}

static void prove_ek_time_lost(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	struct ek_slice slice = any_ek_slice;
	u32 own_level = any_u32;
	struct ek_lost lost = any_ek_lost;

	ek_time_lost(&turbo, &slice, own_level, &lost);
}

static void prove_ek_turbo_row(void)
{
	struct ek_turbo turbo = any_ek_turbo;
	struct ek_shares shares = any_ek_shares;
	u64 actual_hz = any_u64;
	u64 first_row = any_u64;
	struct ek_turbo_row at = any_ek_turbo_row;

	ek_turbo_row(&turbo, &shares, actual_hz, first_row, &at);
}

static void prove_ek_users_none(void)
{
	struct ek_users users = any_ek_users;

	ek_users_none(&users);
}

static void prove_ek_users_note(void)
{
	struct ek_users users = any_ek_users;
	u32 level = any_u32;
	u32 task = any_u32;

	ek_users_note(&users, level, task);
}

static void prove_ek_users_above(void)
{
	struct ek_users users = any_ek_users;
	struct ek_slice slice = any_ek_slice;
	u32 own_level = any_u32;

	ek_users_above(&users, &slice, own_level);
}

static void prove_ek_weight(void)
{
	s32 nice = any_s32;

	ek_weight(nice);
}

static void prove_ek_weight_inverse(void)
{
	u32 weight = any_u32;

	ek_weight_inverse(weight);
}

static void prove_ek_wide_phase_ran(void)
{
	struct ek_wide_phase phase = any_ek_wide_phase;
	u64 time_ns = any_u64;

	ek_wide_phase_ran(&phase, time_ns);
}

static void prove_ek_wide_phase_begins(void)
{
	struct ek_wide_phase phase = any_ek_wide_phase;

	ek_wide_phase_begins(&phase);
}

static void prove_ek_wide_phase_ends(void)
{
	struct ek_wide_phase phase = any_ek_wide_phase;

	ek_wide_phase_ends(&phase);
}

static void prove_ek_wide_phase_ends_by_call(void)
{
	struct ek_wide_phase phase = any_ek_wide_phase;
	u32 keeps_short = any_u32;

	ek_wide_phase_ends_by_call(&phase, keeps_short);
}

static void prove_ek_wide_phase_left_ns(void)
{
	struct ek_wide_phase phase = any_ek_wide_phase;
	u64 timeout_ns = any_u64;

	ek_wide_phase_left_ns(&phase, timeout_ns);
}

static void prove_ek_wide_phase_times_out(void)
{
	struct ek_wide_phase phase = any_ek_wide_phase;
	u32 renews = any_u32;

	ek_wide_phase_times_out(&phase, renews);
}

int main(void)
{
	prove_ek_active_row();
	prove_ek_active_note();
	prove_ek_active_since();
	prove_ek_alone_add();
	prove_ek_alone_expected_ns();
	prove_ek_alone_ran();
	prove_ek_alone_leads();
	prove_ek_belief_demanded();
	prove_ek_belief_held();
	prove_ek_belief_wide_until_ns();
	prove_ek_belief_book();
	prove_ek_belief_change();
	prove_ek_belief_since();
	prove_ek_charge_scale_ns();
	prove_ek_charge_ns();
	prove_ek_bill_room_ns();
	prove_ek_compensate();
	prove_ek_deficit_bank();
	prove_ek_deficit_waited();
	prove_ek_deficit_sleeps();
	prove_ek_deficit_after_sleep_ns();
	prove_ek_deficit_credit_ns();
	prove_ek_deficit_wakes();
	prove_ek_deficit_gain_permille();
	prove_ek_deficit_repay();
	prove_ek_deficit_forced_idle_ns();
	prove_ek_possible_level();
	prove_ek_sibling_levels_note();
	prove_ek_evidence_of();
	prove_ek_demanded();
	prove_ek_add();
	prove_ek_sub();
	prove_ek_min();
	prove_ek_max();
	prove_ek_mul_q30();
	prove_ek_share_q30();
	prove_ek_mul_div();
	prove_ek_ideal_shares();
	prove_ek_ideal_frequency_hz();
	prove_ek_counted_above_ns();
	prove_ek_counted_times();
	prove_ek_infer();
	prove_ek_lag_limit_ns();
	prove_ek_lag_bound_ns();
	prove_ek_anchor_clock_ns();
	prove_ek_anchor_bound_ns();
	prove_ek_rate_ns();
	prove_ek_rate_above_ns();
	prove_ek_learn_for();
	prove_ek_learn();
	prove_ek_learn_shown();
	prove_ek_forces_switch_out();
	prove_ek_learned_level();
	prove_ek_license_clamp_level();
	prove_ek_license_later();
	prove_ek_license_stage_ns();
	prove_ek_license_rise();
	prove_ek_license_floor();
	prove_ek_license_enter_stage();
	prove_ek_license_begin_rise();
	prove_ek_license_narrow();
	prove_ek_license_settle();
	prove_ek_license_init();
	prove_ek_license_demand();
	prove_ek_license_postpone();
	prove_ek_license_next_ns();
	prove_ek_license_advance();
	prove_ek_license_effect();
	prove_ek_frequency_clamp_khz();
	prove_ek_frequency_khz();
	prove_ek_mean_frequency_hz();
	prove_ek_actual_frequency_hz();
	prove_ek_meter_ns();
	prove_ek_mix_loss_permille();
	prove_ek_mix_price_ns();
	prove_ek_mix_idle_cost_permille();
	prove_ek_mix_swaps();
	prove_ek_mix_no_swap_until_ns();
	prove_ek_move_ns();
	prove_ek_place_new_ns();
	prove_ek_place_waking_ns();
	prove_ek_preempt_limit_ns();
	prove_ek_preempt();
	prove_ek_preempt_after_ns();
	prove_ek_retired_level();
	prove_ek_shares();
	prove_ek_shares_above();
	prove_ek_slice_ns();
	prove_ek_slice_shared_ns();
	prove_ek_specialize_may_change();
	prove_ek_specialize_adds();
	prove_ek_specialize_removes();
	prove_ek_specialize_prefers();
	prove_ek_specialize_rank();
	prove_ek_specialize_price_ns();
	prove_ek_specialize_adds_by_lag();
	prove_ek_specialize_removes_by_lag();
	prove_ek_specialize_narrow_first();
	prove_ek_stall_share_q30();
	prove_ek_stall_perf_q30();
	prove_ek_starved();
	prove_ek_starved_period_ns();
	prove_ek_time_lost_ns();
	prove_ek_time_lost();
	prove_ek_turbo_row();
	prove_ek_users_none();
	prove_ek_users_note();
	prove_ek_users_above();
	prove_ek_weight();
	prove_ek_weight_inverse();
	prove_ek_wide_phase_ran();
	prove_ek_wide_phase_begins();
	prove_ek_wide_phase_ends();
	prove_ek_wide_phase_ends_by_call();
	prove_ek_wide_phase_left_ns();
	prove_ek_wide_phase_times_out();
	return 0;
}

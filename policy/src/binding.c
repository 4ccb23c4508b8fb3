/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Gives the header's functions an address, for Rust. */
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
#include <evenkeel/time_lost.h>
#include <evenkeel/users.h>
#include <evenkeel/specialize.h>
#include <evenkeel/starved.h>
#include <evenkeel/weight.h>
#include <evenkeel/wide_phase.h>

u64 ekp_mul_div(u64 a, u32 num, u32 den);
u64 ekp_mul_div(u64 a, u32 num, u32 den)
{
	return ek_mul_div(a, num, den);
}

u64 ekp_mul_q30(u64 a, u32 q30);
u64 ekp_mul_q30(u64 a, u32 q30)
{
	return ek_mul_q30(a, q30);
}

u32 ekp_share_q30(u64 part, u64 whole);
u32 ekp_share_q30(u64 part, u64 whole)
{
	return ek_share_q30(part, whole);
}

void ekp_shares(const struct ek_slice *slice, struct ek_shares *shares);
void ekp_shares(const struct ek_slice *slice, struct ek_shares *shares)
{
	ek_shares(slice, shares);
}

u64 ekp_mean_frequency_hz(const struct ek_turbo *turbo, u32 row, const struct ek_shares *shares);
u64 ekp_mean_frequency_hz(const struct ek_turbo *turbo, u32 row, const struct ek_shares *shares)
{
	return ek_mean_frequency_hz(turbo, row, shares);
}

u64 ekp_actual_frequency_hz(u32 ref_khz, u64 cycles, u64 ref_cycles);
u64 ekp_actual_frequency_hz(u32 ref_khz, u64 cycles, u64 ref_cycles)
{
	return ek_actual_frequency_hz(ref_khz, cycles, ref_cycles);
}

void ekp_turbo_row(const struct ek_turbo *turbo, const struct ek_shares *shares, u64 actual_hz,
		   u64 first_row, struct ek_turbo_row *at);
void ekp_turbo_row(const struct ek_turbo *turbo, const struct ek_shares *shares, u64 actual_hz,
		   u64 first_row, struct ek_turbo_row *at)
{
	ek_turbo_row(turbo, shares, actual_hz, first_row, at);
}

u32 ekp_active_row(const struct ek_turbo *turbo, u32 active_cores);
u32 ekp_active_row(const struct ek_turbo *turbo, u32 active_cores)
{
	return ek_active_row(turbo, active_cores);
}

void ekp_active_note(struct ek_active *active, u32 row, u64 now_ns);
void ekp_active_note(struct ek_active *active, u32 row, u64 now_ns)
{
	ek_active_note(active, row, now_ns);
}

u32 ekp_active_since(const struct ek_active *active, u64 since_ns);
u32 ekp_active_since(const struct ek_active *active, u64 since_ns)
{
	return ek_active_since(active, since_ns);
}

u64 ekp_ideal_frequency_hz(const struct ek_turbo *turbo, const struct ek_shares *shares,
			   u32 own_level, const struct ek_turbo_row *at);
u64 ekp_ideal_frequency_hz(const struct ek_turbo *turbo, const struct ek_shares *shares,
			   u32 own_level, const struct ek_turbo_row *at)
{
	return ek_ideal_frequency_hz(turbo, shares, own_level, at);
}

u64 ekp_stall_perf_q30(u32 stall_q30, u64 now_hz, u64 next_hz);
u64 ekp_stall_perf_q30(u32 stall_q30, u64 now_hz, u64 next_hz)
{
	return ek_stall_perf_q30(stall_q30, now_hz, next_hz);
}

void ekp_time_lost(const struct ek_turbo *turbo, const struct ek_slice *slice, u32 own_level,
		   struct ek_lost *lost);
void ekp_time_lost(const struct ek_turbo *turbo, const struct ek_slice *slice, u32 own_level,
		   struct ek_lost *lost)
{
	ek_time_lost(turbo, slice, own_level, lost);
}

void ekp_compensate(u32 mode, const struct ek_loss *loss, struct ek_compensation *compensation);
void ekp_compensate(u32 mode, const struct ek_loss *loss, struct ek_compensation *compensation)
{
	ek_compensate(mode, loss, compensation);
}

u32 ekp_weight(s32 nice);
u32 ekp_weight(s32 nice)
{
	return ek_weight(nice);
}

u32 ekp_weight_inverse(u32 weight);
u32 ekp_weight_inverse(u32 weight)
{
	return ek_weight_inverse(weight);
}

u64 ekp_charge_ns(u64 vtime_ns, u64 time_ns, u64 refund_ns, u64 bill_ns, u32 weight);
u64 ekp_charge_ns(u64 vtime_ns, u64 time_ns, u64 refund_ns, u64 bill_ns, u32 weight)
{
	return ek_charge_ns(vtime_ns, time_ns, refund_ns, bill_ns, weight);
}

u64 ekp_place_new_ns(u64 vtime_ns, u64 min_vtime_ns, u64 vslice_ns);
u64 ekp_place_new_ns(u64 vtime_ns, u64 min_vtime_ns, u64 vslice_ns)
{
	return ek_place_new_ns(vtime_ns, min_vtime_ns, vslice_ns);
}

u64 ekp_place_waking_ns(u64 vtime_ns, u64 min_vtime_ns, u64 credit_ns);
u64 ekp_place_waking_ns(u64 vtime_ns, u64 min_vtime_ns, u64 credit_ns)
{
	return ek_place_waking_ns(vtime_ns, min_vtime_ns, credit_ns);
}

u64 ekp_slice_ns(u64 base_ns, u32 jitter_permille, u32 draw);
u64 ekp_slice_ns(u64 base_ns, u32 jitter_permille, u32 draw)
{
	return ek_slice_ns(base_ns, jitter_permille, draw);
}

u64 ekp_slice_shared_ns(u64 base_ns, u32 weight, u32 waiting, u32 cpus);
u64 ekp_slice_shared_ns(u64 base_ns, u32 weight, u32 waiting, u32 cpus)
{
	return ek_slice_shared_ns(base_ns, weight, waiting, cpus);
}

u64 ekp_move_ns(u64 vtime_ns, u64 min_from_ns, u64 min_to_ns);
u64 ekp_move_ns(u64 vtime_ns, u64 min_from_ns, u64 min_to_ns)
{
	return ek_move_ns(vtime_ns, min_from_ns, min_to_ns);
}

u64 ekp_preempt_limit_ns(u64 vtime_ns, u64 granularity_ns, u32 weight);
u64 ekp_preempt_limit_ns(u64 vtime_ns, u64 granularity_ns, u32 weight)
{
	return ek_preempt_limit_ns(vtime_ns, granularity_ns, weight);
}

u32 ekp_preempt(u64 limit_ns, u64 running_vtime_ns);
u32 ekp_preempt(u64 limit_ns, u64 running_vtime_ns)
{
	return ek_preempt(limit_ns, running_vtime_ns);
}

u64 ekp_preempt_after_ns(u32 weight);
u64 ekp_preempt_after_ns(u32 weight)
{
	return ek_preempt_after_ns(weight);
}

u64 ekp_lag_limit_ns(u64 slice_ns, u32 weight);
u64 ekp_lag_limit_ns(u64 slice_ns, u32 weight)
{
	return ek_lag_limit_ns(slice_ns, weight);
}

u64 ekp_lag_bound_ns(u64 vtime_ns, u64 min_vtime_ns, u64 limit_ns);
u64 ekp_lag_bound_ns(u64 vtime_ns, u64 min_vtime_ns, u64 limit_ns)
{
	return ek_lag_bound_ns(vtime_ns, min_vtime_ns, limit_ns);
}

u64 ekp_anchor_clock_ns(const struct ek_anchor *anchor, u64 vtime_ns);
u64 ekp_anchor_clock_ns(const struct ek_anchor *anchor, u64 vtime_ns)
{
	return ek_anchor_clock_ns(anchor, vtime_ns);
}

u64 ekp_anchor_bound_ns(struct ek_anchor *anchor, u64 vtime_ns, u64 now_clock_ns, u64 limit_ns);
u64 ekp_anchor_bound_ns(struct ek_anchor *anchor, u64 vtime_ns, u64 now_clock_ns, u64 limit_ns)
{
	return ek_anchor_bound_ns(anchor, vtime_ns, now_clock_ns, limit_ns);
}

u64 ekp_rate_ns(u64 passed_ns, u64 while_ns);
u64 ekp_rate_ns(u64 passed_ns, u64 while_ns)
{
	return ek_rate_ns(passed_ns, while_ns);
}

u64 ekp_rate_above_ns(u64 rate_ns);
u64 ekp_rate_above_ns(u64 rate_ns)
{
	return ek_rate_above_ns(rate_ns);
}

u32 ekp_starved(u64 waited_ns, u64 watchdog_ns);
u32 ekp_starved(u64 waited_ns, u64 watchdog_ns)
{
	return ek_starved(waited_ns, watchdog_ns);
}

u64 ekp_starved_period_ns(u64 watchdog_ns);
u64 ekp_starved_period_ns(u64 watchdog_ns)
{
	return ek_starved_period_ns(watchdog_ns);
}

u64 ekp_bill_room_ns(u64 bill_ns);
u64 ekp_bill_room_ns(u64 bill_ns)
{
	return ek_bill_room_ns(bill_ns);
}

void ekp_learn(struct ek_learned *learned, u32 level, u64 now_ns);
void ekp_learn(struct ek_learned *learned, u32 level, u64 now_ns)
{
	ek_learn(learned, level, now_ns);
}

u32 ekp_forces_switch_out(u64 stayed_ns);
u32 ekp_forces_switch_out(u64 stayed_ns)
{
	return ek_forces_switch_out(stayed_ns);
}

u32 ekp_learned_level(const struct ek_learned *learned, u64 now_ns);
u32 ekp_learned_level(const struct ek_learned *learned, u64 now_ns)
{
	return ek_learned_level(learned, now_ns);
}

void ekp_belief_change(struct ek_belief *belief, const struct ek_level_times *hold, u32 from,
		       u32 to, u64 now_ns);
void ekp_belief_change(struct ek_belief *belief, const struct ek_level_times *hold, u32 from,
		       u32 to, u64 now_ns)
{
	ek_belief_change(belief, hold, from, to, now_ns);
}

u64 ekp_belief_wide_until_ns(const struct ek_belief *belief);
u64 ekp_belief_wide_until_ns(const struct ek_belief *belief)
{
	return ek_belief_wide_until_ns(belief);
}

void ekp_belief_since(const struct ek_level_times *booked, const struct ek_level_times *before,
		      u64 passed_ns, struct ek_level_times *since);
void ekp_belief_since(const struct ek_level_times *booked, const struct ek_level_times *before,
		      u64 passed_ns, struct ek_level_times *since)
{
	ek_belief_since(booked, before, passed_ns, since);
}

void ekp_counted_times(const struct ek_turbo *turbo, u32 row, const struct ek_slice *slice,
		       struct ek_level_times *times);
void ekp_counted_times(const struct ek_turbo *turbo, u32 row, const struct ek_slice *slice,
		       struct ek_level_times *times)
{
	ek_counted_times(turbo, row, slice, times);
}

void ekp_infer(const struct ek_turbo *turbo, u32 row, const struct ek_level_times *believed,
	       struct ek_slice *slice);
void ekp_infer(const struct ek_turbo *turbo, u32 row, const struct ek_level_times *believed,
	       struct ek_slice *slice)
{
	ek_infer(turbo, row, believed, slice);
}

void ekp_users_note(struct ek_users *users, u32 level, u32 task);
void ekp_users_note(struct ek_users *users, u32 level, u32 task)
{
	ek_users_note(users, level, task);
}

u32 ekp_users_above(const struct ek_users *users, const struct ek_slice *slice, u32 own_level);
u32 ekp_users_above(const struct ek_users *users, const struct ek_slice *slice, u32 own_level)
{
	return ek_users_above(users, slice, own_level);
}

u32 ekp_retired_level(const struct ek_rates *rates, const struct ek_retired *retired, u64 cycles);
u32 ekp_retired_level(const struct ek_rates *rates, const struct ek_retired *retired, u64 cycles)
{
	return ek_retired_level(rates, retired, cycles);
}

u32 ekp_possible_level(const struct ek_tests *tests);
u32 ekp_possible_level(const struct ek_tests *tests)
{
	return ek_possible_level(tests);
}

void ekp_sibling_levels_note(struct ek_sibling_levels *siblings,
			     const struct ek_sibling_levels *other);
void ekp_sibling_levels_note(struct ek_sibling_levels *siblings,
			     const struct ek_sibling_levels *other)
{
	ek_sibling_levels_note(siblings, other);
}

void ekp_demanded(const struct ek_level_times *at, const struct ek_level_times *hold, u64 held_ns,
		  const struct ek_sibling_levels *siblings, u32 believed, struct ek_tests *tests,
		  struct ek_demanded *demanded);
void ekp_demanded(const struct ek_level_times *at, const struct ek_level_times *hold, u64 held_ns,
		  const struct ek_sibling_levels *siblings, u32 believed, struct ek_tests *tests,
		  struct ek_demanded *demanded)
{
	ek_demanded(at, hold, held_ns, siblings, believed, tests, demanded);
}

void ekp_learn_shown(struct ek_learned *learned, u32 level, u32 before, u64 now_ns);
void ekp_learn_shown(struct ek_learned *learned, u32 level, u32 before, u64 now_ns)
{
	ek_learn_shown(learned, level, before, now_ns);
}

u32 ekp_mix_loss_permille(const struct ek_turbo *turbo, u32 row, u32 a, u32 b);
u32 ekp_mix_loss_permille(const struct ek_turbo *turbo, u32 row, u32 a, u32 b)
{
	return ek_mix_loss_permille(turbo, row, a, b);
}

u64 ekp_mix_price_ns(u32 loss_permille);
u64 ekp_mix_price_ns(u32 loss_permille)
{
	return ek_mix_price_ns(loss_permille);
}

u32 ekp_mix_idle_cost_permille(const struct ek_turbo *turbo, u32 row, u32 level,
			       const struct ek_core_state *core, u32 smt_share_permille);
u32 ekp_mix_idle_cost_permille(const struct ek_turbo *turbo, u32 row, u32 level,
			       const struct ek_core_state *core, u32 smt_share_permille)
{
	return ek_mix_idle_cost_permille(turbo, row, level, core, smt_share_permille);
}

u32 ekp_mix_swaps(u32 before_permille, u32 after_permille);
u32 ekp_mix_swaps(u32 before_permille, u32 after_permille)
{
	return ek_mix_swaps(before_permille, after_permille);
}

u64 ekp_mix_no_swap_until_ns(u64 now_ns);
u64 ekp_mix_no_swap_until_ns(u64 now_ns)
{
	return ek_mix_no_swap_until_ns(now_ns);
}

u64 ekp_deficit_bank(struct ek_deficit *deficit, u64 refund_ns);
u64 ekp_deficit_bank(struct ek_deficit *deficit, u64 refund_ns)
{
	return ek_deficit_bank(deficit, refund_ns);
}

void ekp_deficit_waited(struct ek_deficit *deficit, u64 waited_ns);
void ekp_deficit_waited(struct ek_deficit *deficit, u64 waited_ns)
{
	ek_deficit_waited(deficit, waited_ns);
}

void ekp_deficit_sleeps(struct ek_deficit *deficit, u64 now_ns);
void ekp_deficit_sleeps(struct ek_deficit *deficit, u64 now_ns)
{
	ek_deficit_sleeps(deficit, now_ns);
}

u64 ekp_deficit_credit_ns(const struct ek_deficit *deficit, u64 credit_ns, u64 now_ns);
u64 ekp_deficit_credit_ns(const struct ek_deficit *deficit, u64 credit_ns, u64 now_ns)
{
	return ek_deficit_credit_ns(deficit, credit_ns, now_ns);
}

void ekp_deficit_wakes(struct ek_deficit *deficit, u64 later_ns, u64 now_ns);
void ekp_deficit_wakes(struct ek_deficit *deficit, u64 later_ns, u64 now_ns)
{
	ek_deficit_wakes(deficit, later_ns, now_ns);
}

void ekp_alone_add(struct ek_alone *all, u64 alone_ns, u64 ran_ns);
void ekp_alone_add(struct ek_alone *all, u64 alone_ns, u64 ran_ns)
{
	ek_alone_add(all, alone_ns, ran_ns);
}

void ekp_alone_ran(struct ek_deficit *deficit, const struct ek_alone *all, u64 alone_ns, u64 ran_ns,
		   u32 gain_permille);
void ekp_alone_ran(struct ek_deficit *deficit, const struct ek_alone *all, u64 alone_ns, u64 ran_ns,
		   u32 gain_permille)
{
	ek_alone_ran(deficit, all, alone_ns, ran_ns, gain_permille);
}

u32 ekp_alone_leads(const struct ek_deficit *deficit);
u32 ekp_alone_leads(const struct ek_deficit *deficit)
{
	return ek_alone_leads(deficit);
}

u32 ekp_deficit_gain_permille(u32 smt_share_permille, u32 stall_q30);
u32 ekp_deficit_gain_permille(u32 smt_share_permille, u32 stall_q30)
{
	return ek_deficit_gain_permille(smt_share_permille, stall_q30);
}

void ekp_deficit_repay(struct ek_deficit *deficit, u64 forced_idle_ns, u32 gain_permille);
void ekp_deficit_repay(struct ek_deficit *deficit, u64 forced_idle_ns, u32 gain_permille)
{
	ek_deficit_repay(deficit, forced_idle_ns, gain_permille);
}

u64 ekp_deficit_forced_idle_ns(const struct ek_deficit *deficit, u32 gain_permille);
u64 ekp_deficit_forced_idle_ns(const struct ek_deficit *deficit, u32 gain_permille)
{
	return ek_deficit_forced_idle_ns(deficit, gain_permille);
}

u64 ekp_meter_ns(u32 meter, const struct ek_turbo *turbo, const struct ek_slice *slice,
		 u32 own_level, struct ek_lost *lost);
u64 ekp_meter_ns(u32 meter, const struct ek_turbo *turbo, const struct ek_slice *slice,
		 u32 own_level, struct ek_lost *lost)
{
	return ek_meter_ns(meter, turbo, slice, own_level, lost);
}

u32 ekp_specialize_may_change(u64 now_ns, u64 changed_ns, u64 interval_ns);
u32 ekp_specialize_may_change(u64 now_ns, u64 changed_ns, u64 interval_ns)
{
	return ek_specialize_may_change(now_ns, changed_ns, interval_ns);
}

u32 ekp_specialize_adds(const struct ek_kinds *kinds, u32 narrow_cpu_idles);
u32 ekp_specialize_adds(const struct ek_kinds *kinds, u32 narrow_cpu_idles)
{
	return ek_specialize_adds(kinds, narrow_cpu_idles);
}

u32 ekp_specialize_removes(const struct ek_kinds *kinds);
u32 ekp_specialize_removes(const struct ek_kinds *kinds)
{
	return ek_specialize_removes(kinds);
}

u32 ekp_specialize_prefers(u32 becomes_wide, u32 core_is_slow);
u32 ekp_specialize_prefers(u32 becomes_wide, u32 core_is_slow)
{
	return ek_specialize_prefers(becomes_wide, core_is_slow);
}

u32 ekp_specialize_rank(u32 core_is_wide, u32 task_kind);
u32 ekp_specialize_rank(u32 core_is_wide, u32 task_kind)
{
	return ek_specialize_rank(core_is_wide, task_kind);
}

void ekp_wide_phase_ran(struct ek_wide_phase *phase, u64 time_ns);
void ekp_wide_phase_ran(struct ek_wide_phase *phase, u64 time_ns)
{
	ek_wide_phase_ran(phase, time_ns);
}

void ekp_wide_phase_begins(struct ek_wide_phase *phase);
void ekp_wide_phase_begins(struct ek_wide_phase *phase)
{
	ek_wide_phase_begins(phase);
}

void ekp_wide_phase_ends(struct ek_wide_phase *phase);
void ekp_wide_phase_ends(struct ek_wide_phase *phase)
{
	ek_wide_phase_ends(phase);
}

u32 ekp_wide_phase_ends_by_call(const struct ek_wide_phase *phase, u32 keeps_short);
u32 ekp_wide_phase_ends_by_call(const struct ek_wide_phase *phase, u32 keeps_short)
{
	return ek_wide_phase_ends_by_call(phase, keeps_short);
}

u64 ekp_wide_phase_left_ns(const struct ek_wide_phase *phase, u64 timeout_ns);
u64 ekp_wide_phase_left_ns(const struct ek_wide_phase *phase, u64 timeout_ns)
{
	return ek_wide_phase_left_ns(phase, timeout_ns);
}

void ekp_wide_phase_times_out(struct ek_wide_phase *phase, u32 renews);
void ekp_wide_phase_times_out(struct ek_wide_phase *phase, u32 renews)
{
	ek_wide_phase_times_out(phase, renews);
}

u32 ekp_specialize_adds_by_lag(const struct ek_kinds *kinds, const struct ek_kind_vtimes *vtimes,
			       u64 wasted_ns);
u32 ekp_specialize_adds_by_lag(const struct ek_kinds *kinds, const struct ek_kind_vtimes *vtimes,
			       u64 wasted_ns)
{
	return ek_specialize_adds_by_lag(kinds, vtimes, wasted_ns);
}

u32 ekp_specialize_removes_by_lag(const struct ek_kinds *kinds,
				  const struct ek_kind_vtimes *vtimes);
u32 ekp_specialize_removes_by_lag(const struct ek_kinds *kinds, const struct ek_kind_vtimes *vtimes)
{
	return ek_specialize_removes_by_lag(kinds, vtimes);
}

u32 ekp_specialize_narrow_first(const struct ek_kinds *kinds, const struct ek_kind_vtimes *vtimes);
u32 ekp_specialize_narrow_first(const struct ek_kinds *kinds, const struct ek_kind_vtimes *vtimes)
{
	return ek_specialize_narrow_first(kinds, vtimes);
}

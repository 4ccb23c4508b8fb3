//! The C functions of `binding.c`, and the structs that Rust does not show.

use cpu_model::Turbo;

use crate::lag::Anchor;
use crate::{
    Active, Belief, Beside, CoreState, Deficit, Demanded, Learned, LevelTimes, Loss, Lost, Rates,
    Shares, Slice, Tests, TurboRow, Users, WIDTHS,
};

/// `struct ek_compensation`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct RawCompensation {
    pub refund_ns: u64,
    pub bill_ns: u64,
    pub culprit: u32,
    pad: u32,
}

/// `struct ek_retired`.
#[repr(C)]
pub(crate) struct Retired {
    pub wide: [u64; WIDTHS],
}

const _: () = assert!(size_of::<Loss>() == 32 && size_of::<RawCompensation>() == 24);

// Functions of plain integers have no precondition at all: the headers are total.
unsafe extern "C" {
    pub(crate) safe fn ekp_mul_div(a: u64, num: u32, den: u32) -> u64;
    pub(crate) safe fn ekp_mul_q30(a: u64, q30: u32) -> u64;
    pub(crate) safe fn ekp_share_q30(part: u64, whole: u64) -> u32;
    pub(crate) safe fn ekp_actual_frequency_hz(ref_khz: u32, cycles: u64, ref_cycles: u64) -> u64;
    pub(crate) safe fn ekp_stall_perf_q30(stall_q30: u32, now_hz: u64, next_hz: u64) -> u64;
    pub(crate) safe fn ekp_weight(nice: i32) -> u32;
    pub(crate) safe fn ekp_weight_inverse(weight: u32) -> u32;
    pub(crate) safe fn ekp_charge_ns(
        vtime_ns: u64,
        time_ns: u64,
        refund_ns: u64,
        bill_ns: u64,
        weight: u32,
    ) -> u64;
    pub(crate) safe fn ekp_place_new_ns(vtime_ns: u64, min_vtime_ns: u64, vslice_ns: u64) -> u64;
    pub(crate) safe fn ekp_place_waking_ns(vtime_ns: u64, min_vtime_ns: u64, credit_ns: u64)
    -> u64;
    pub(crate) safe fn ekp_slice_ns(base_ns: u64, jitter_permille: u32, draw: u32) -> u64;
    pub(crate) safe fn ekp_slice_shared_ns(
        base_ns: u64,
        weight: u32,
        waiting: u32,
        cpus: u32,
    ) -> u64;
    pub(crate) safe fn ekp_move_ns(vtime_ns: u64, min_from_ns: u64, min_to_ns: u64) -> u64;
    pub(crate) safe fn ekp_preempt_limit_ns(vtime_ns: u64, granularity_ns: u64, weight: u32)
    -> u64;
    pub(crate) safe fn ekp_preempt(limit_ns: u64, running_vtime_ns: u64) -> u32;
    pub(crate) safe fn ekp_preempt_at_once(ran_ns: u64) -> u32;
    pub(crate) safe fn ekp_wait_is_long(waited_ns: u64, watchdog_ns: u64) -> u32;
    pub(crate) safe fn ekp_wait_look_ns(watchdog_ns: u64) -> u64;

    // References are valid for the call, and C keeps none; every bit pattern is allowed.
    pub(crate) safe fn ekp_shares(slice: &Slice, shares: &mut Shares);
    pub(crate) safe fn ekp_mean_frequency_hz(turbo: &Turbo, row: u32, shares: &Shares) -> u64;
    pub(crate) safe fn ekp_turbo_row(
        turbo: &Turbo,
        shares: &Shares,
        actual_hz: u64,
        first_row: u64,
        at: &mut TurboRow,
    );
    pub(crate) safe fn ekp_active_row(turbo: &Turbo, active_cores: u32) -> u32;
    pub(crate) safe fn ekp_active_note(active: &mut Active, row: u32, now_ns: u64);
    pub(crate) safe fn ekp_active_since(active: &Active, since_ns: u64) -> u32;
    pub(crate) safe fn ekp_ideal_frequency_hz(
        turbo: &Turbo,
        shares: &Shares,
        own_level: u32,
        at: &TurboRow,
    ) -> u64;
    pub(crate) safe fn ekp_time_lost(turbo: &Turbo, slice: &Slice, own_level: u32, lost: &mut Lost);
    pub(crate) safe fn ekp_compensate(mode: u32, loss: &Loss, compensation: &mut RawCompensation);

    pub(crate) safe fn ekp_lag_limit_ns(slice_ns: u64, weight: u32) -> u64;
    pub(crate) safe fn ekp_lag_bound_ns(vtime_ns: u64, floor_ns: u64, limit_ns: u64) -> u64;
    pub(crate) safe fn ekp_anchor_clock_ns(anchor: &Anchor, vtime_ns: u64) -> u64;
    pub(crate) safe fn ekp_anchor_bound_ns(
        anchor: &mut Anchor,
        vtime_ns: u64,
        now_clock_ns: u64,
        limit_ns: u64,
    ) -> u64;
    pub(crate) safe fn ekp_rate_ns(passed_ns: u64, while_ns: u64) -> u64;
    pub(crate) safe fn ekp_rate_of_more_ns(rate_ns: u64) -> u64;
    pub(crate) safe fn ekp_bill_room_ns(owed_ns: u64) -> u64;
    pub(crate) safe fn ekp_learn(learned: &mut Learned, level: u32, now_ns: u64);
    pub(crate) safe fn ekp_airs(stayed_ns: u64) -> u32;
    pub(crate) safe fn ekp_learned_level(learned: &Learned, now_ns: u64) -> u32;
    pub(crate) safe fn ekp_belief_change(
        belief: &mut Belief,
        hold: &LevelTimes,
        from: u32,
        to: u32,
        now_ns: u64,
    );
    pub(crate) safe fn ekp_belief_busy_until_ns(belief: &Belief) -> u64;
    pub(crate) safe fn ekp_belief_since(
        booked: &LevelTimes,
        before: &LevelTimes,
        passed_ns: u64,
        since: &mut LevelTimes,
    );
    pub(crate) safe fn ekp_counted_times(
        turbo: &Turbo,
        row: u32,
        slice: &Slice,
        times: &mut LevelTimes,
    );
    pub(crate) safe fn ekp_infer(turbo: &Turbo, row: u32, believed: &LevelTimes, slice: &mut Slice);
    pub(crate) safe fn ekp_users_note(users: &mut Users, level: u32, task: u32);
    pub(crate) safe fn ekp_users_above(users: &Users, slice: &Slice, own_level: u32) -> u32;
    pub(crate) safe fn ekp_possible_level(tests: &Tests) -> u32;
    pub(crate) safe fn ekp_beside_note(beside: &mut Beside, other: &Beside);
    pub(crate) safe fn ekp_demanded(
        at: &LevelTimes,
        hold: &LevelTimes,
        held_ns: u64,
        beside: &Beside,
        believed: u32,
        tests: &mut Tests,
        demanded: &mut Demanded,
    );
    pub(crate) safe fn ekp_retired_level(rates: &Rates, retired: &Retired, cycles: u64) -> u32;
    pub(crate) safe fn ekp_learn_shown(learned: &mut Learned, level: u32, before: u32, now_ns: u64);
    pub(crate) safe fn ekp_mix_loss_permille(turbo: &Turbo, row: u32, a: u32, b: u32) -> u32;
    pub(crate) safe fn ekp_mix_price_ns(loss_permille: u32) -> u64;
    pub(crate) safe fn ekp_mix_idle_cost_permille(
        turbo: &Turbo,
        row: u32,
        level: u32,
        core: &CoreState,
        smt_share_permille: u32,
    ) -> u32;
    pub(crate) safe fn ekp_mix_swaps(before_permille: u32, after_permille: u32) -> u32;
    pub(crate) safe fn ekp_mix_settled_ns(now_ns: u64) -> u64;
    pub(crate) safe fn ekp_deficit_bank(deficit: &mut Deficit, refund_ns: u64) -> u64;
    pub(crate) safe fn ekp_deficit_waited(deficit: &mut Deficit, waited_ns: u64);
    pub(crate) safe fn ekp_deficit_sleeps(deficit: &mut Deficit, now_ns: u64);
    pub(crate) safe fn ekp_deficit_wakes(deficit: &mut Deficit, later_ns: u64, now_ns: u64);
    pub(crate) safe fn ekp_deficit_gain_permille(smt_share_permille: u32, stall_q30: u32) -> u32;
    pub(crate) safe fn ekp_deficit_repay(deficit: &mut Deficit, quiet_ns: u64, gain_permille: u32);
    pub(crate) safe fn ekp_deficit_quiet_ns(deficit: &Deficit, gain_permille: u32) -> u64;
    pub(crate) safe fn ekp_meter_ns(
        meter: u32,
        turbo: &Turbo,
        slice: &Slice,
        own_level: u32,
        lost: &mut Lost,
    ) -> u64;
}

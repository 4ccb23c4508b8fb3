//! The decisions: a thin binding of `policy/include/evenkeel/*.h`.
//!
//! Every formula lives in those headers, which the kernel scheduler compiles
//! too; nothing here calculates. A decision takes plain values and returns plain
//! values; the host adds, swaps and inserts.

mod alone;
mod belief;
mod compensate;
mod deficit;
mod demanded;
mod fixed;
mod frequency;
mod lag;
mod lost;
mod mix;
mod slice;
mod specialize;
mod vtime;

pub use alone::Alone;
pub use belief::{
    Belief, Learned, LevelTimes, Rates, Users, WIDTHS, counted_times, forces_switch_out, infer,
    retired_level,
};
pub use compensate::{BILL_MAX_NS, Compensation, Loss, Mode, NO_TASK, bill_room_ns, compensate};
pub use deficit::{Deficit, alone_gain_permille};
pub use demanded::{CLEARED_NS, Demanded, SiblingLevels, Tests};
pub use fixed::{ONE, mul_div, mul_q30, share_q30};
pub use frequency::{
    Active, Shares, TurboRow, active_row, actual_frequency_hz, ideal_frequency_hz,
    mean_frequency_hz, turbo_row,
};
pub use lag::{Anchor, lag_bound_ns, lag_limit_ns, rate_above_ns, rate_ns};
pub use lost::{Lost, Meter, metered_ns, stall_perf_q30, time_lost};
pub use mix::{
    CoreState, mix_idle_cost_permille, mix_loss_permille, mix_no_swap_until_ns, mix_price_ns,
    mix_swaps,
};
pub use slice::Slice;
pub use specialize::{
    CORE_CHANGE_INTERVAL_NS, CORE_CHANGE_LAG_INTERVAL_NS, KindVtimes, Kinds, Rank, TaskKind,
    WIDE_CORE_IDLE_NS, WIDE_PHASE_TIMEOUT_NS, WidePhase, may_change_cores, prefers_core, rank,
};
pub use vtime::{
    charge, is_starved, move_between, place_new, place_waking, preempt_after_ns, preempt_limit,
    preempts, slice_ns, slice_shared_ns, starvation_timer_ns, weight, weight_inverse,
};

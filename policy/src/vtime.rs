//! Virtual time: `evenkeel/weight.h`, `charge.h`, `place.h`, `slice.h`, `move.h`, `preempt.h`,
//! `starved.h`.

/// Weight of a nice value, 1024 at 0; values outside -20..=19 are read as the nearest inside.
#[must_use]
pub fn weight(nice: i8) -> u32 {
    ekp_weight(nice.into())
}

/// 2^32 / weight rounded down, at most `u32::MAX`; a weight of 0 is read as 1024.
#[must_use]
pub fn weight_inverse(weight: u32) -> u32 {
    ekp_weight_inverse(weight)
}

/// Virtual time after a slice: time less refund plus bill, scaled by 1024 / weight, rounded down.
///
/// A refund beyond the time used is cut; a weight of 0 is read as 1024.
#[must_use]
pub fn charge(vtime_ns: u64, time_ns: u64, refund_ns: u64, bill_ns: u64, weight: u32) -> u64 {
    ekp_charge_ns(vtime_ns, time_ns, refund_ns, bill_ns, weight)
}

/// Where a new task starts: one virtual slice after the minimum, or later.
#[must_use]
pub fn place_new(vtime_ns: u64, min_vtime_ns: u64, vslice_ns: u64) -> u64 {
    ekp_place_new_ns(vtime_ns, min_vtime_ns, vslice_ns)
}

/// Where a waking task continues: at most a credit before the minimum.
#[must_use]
pub fn place_waking(vtime_ns: u64, min_vtime_ns: u64, credit_ns: u64) -> u64 {
    ekp_place_waking_ns(vtime_ns, min_vtime_ns, credit_ns)
}

/// Length of a slice: `base_ns * (1 ± jitter)`, uniform in a uniform `draw`; at least 1 ns.
#[must_use]
pub fn slice_ns(base_ns: u64, jitter_permille: u32, draw: u32) -> u64 {
    ekp_slice_ns(base_ns, jitter_permille, draw)
}

/// Length of a slice in a queue of `waiting` tasks that `cpus` serve: `base_ns` scaled by
/// weight / 1024 and by cpus / waiting, from 0.2 ms to `base_ns`.
#[must_use]
pub fn slice_shared_ns(base_ns: u64, weight: u32, waiting: u32, cpus: u32) -> u64 {
    ekp_slice_shared_ns(base_ns, weight, waiting, cpus)
}

/// Virtual time in another queue: as far after its minimum as after the old one's.
#[must_use]
pub fn move_between(vtime_ns: u64, min_from_ns: u64, min_to_ns: u64) -> u64 {
    ekp_move_ns(vtime_ns, min_from_ns, min_to_ns)
}

/// The virtual time beyond which a waking task preempts a running one.
#[must_use]
pub fn preempt_limit(vtime_ns: u64, granularity_ns: u64, weight: u32) -> u64 {
    ekp_preempt_limit_ns(vtime_ns, granularity_ns, weight)
}

/// Whether a running task is preempted.
#[must_use]
pub fn preempts(limit_ns: u64, running_vtime_ns: u64) -> bool {
    ekp_preempt(limit_ns, running_vtime_ns) != 0
}

/// How long a task runs before a waking task of a weight preempts it immediately, and not at the
/// next tick.
#[must_use]
pub fn preempt_after_ns(weight: u32) -> u64 {
    ekp_preempt_after_ns(weight)
}

/// Whether a task is starved: runnable for more than a quarter of the watchdog's time.
#[must_use]
pub fn is_starved(waited_ns: u64, watchdog_ns: u64) -> bool {
    ekp_starved(waited_ns, watchdog_ns) != 0
}

/// Period of the starvation timer: an eighth of the watchdog's time, at least 1 ms.
#[must_use]
pub fn starvation_timer_ns(watchdog_ns: u64) -> u64 {
    ekp_starved_period_ns(watchdog_ns)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_weight(nice: i32) -> u32;
    safe fn ekp_weight_inverse(weight: u32) -> u32;
    safe fn ekp_charge_ns(
        vtime_ns: u64,
        time_ns: u64,
        refund_ns: u64,
        bill_ns: u64,
        weight: u32,
    ) -> u64;
    safe fn ekp_place_new_ns(vtime_ns: u64, min_vtime_ns: u64, vslice_ns: u64) -> u64;
    safe fn ekp_place_waking_ns(vtime_ns: u64, min_vtime_ns: u64, credit_ns: u64) -> u64;
    safe fn ekp_slice_ns(base_ns: u64, jitter_permille: u32, draw: u32) -> u64;
    safe fn ekp_slice_shared_ns(base_ns: u64, weight: u32, waiting: u32, cpus: u32) -> u64;
    safe fn ekp_move_ns(vtime_ns: u64, min_from_ns: u64, min_to_ns: u64) -> u64;
    safe fn ekp_preempt_limit_ns(vtime_ns: u64, granularity_ns: u64, weight: u32) -> u64;
    safe fn ekp_preempt(limit_ns: u64, running_vtime_ns: u64) -> u32;
    safe fn ekp_preempt_after_ns(weight: u32) -> u64;
    safe fn ekp_starved(waited_ns: u64, watchdog_ns: u64) -> u32;
    safe fn ekp_starved_period_ns(watchdog_ns: u64) -> u64;
}

//! How much CPU time had each group at each level? Counters at switches know, without samples.

use cpu_model::LEVELS_MAX;

use crate::profile::{Profile, Slice};

/// Sums over the slices of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub cpu_time_ns: u64,
    pub waited_ns: u64,
    pub at_level_ns: [f64; LEVELS_MAX],
    /// Time that transitions cost, if tasks of other groups demanded them.
    pub transition_ns: f64,
}

/// The times of each group.
pub(crate) fn times(profile: &Profile) -> Vec<Times> {
    let mut times = vec![Times::default(); profile.groups.len()];
    let throttle = throttle_rates(profile);
    for slice in &profile.slices {
        let Some(group) = profile.group(slice.task) else { continue };
        let sum = &mut times[group];
        sum.cpu_time_ns += slice.counts.time_ns;
        sum.waited_ns += slice.waited_ns;
        let turbo = &profile.cpu.turbo;
        let lost = policy::time_lost(turbo, &slice.counts, 0);
        let counted = policy::counted_times(turbo, lost.at.slow as usize, &slice.counts);
        for (sum_ns, ns) in sum.at_level_ns.iter_mut().zip(counted.ns) {
            *sum_ns += ns as f64;
        }
        let highest = (1..LEVELS_MAX).rev().find(|&level| slice.counts.level_cycles[level] > 0);
        let rate = throttle[highest.unwrap_or(0).max(1)];
        sum.transition_ns += transition_ns(slice, &lost, turbo.ref_khz, rate);
    }
    times
}

/// By level: mean rate of instructions while a rise to it throttles the core; 1 where none does.
fn throttle_rates(profile: &Profile) -> [f64; LEVELS_MAX] {
    let rate = |level: usize| {
        let mut sums = (0.0, 0.0);
        for heavy in 0..2 {
            for stage in profile.cpu.license.rise[0][level][heavy].stages() {
                if stage.rate_permille > 0 {
                    let duration_ns = f64::from(stage.duration_ns);
                    sums.0 += duration_ns * f64::from(stage.rate_permille) / 1000.0;
                    sums.1 += duration_ns;
                }
            }
        }
        if sums.1 > 0.0 { sums.0 / sums.1 } else { 1.0 }
    };
    std::array::from_fn(rate)
}

/// Time that throttles and halts of a slice cost beside the lower frequency.
fn transition_ns(slice: &Slice, lost: &policy::Lost, ref_khz: u32, rate: f64) -> f64 {
    let counts = &slice.counts;
    let counted_ns = counts.ref_cycles as f64 * 1e6 / f64::from(ref_khz);
    let halted_ns = (counts.time_ns as f64 - counted_ns).max(0.0);
    if counts.cycles == 0 || lost.actual_hz == 0 {
        return halted_ns;
    }
    let stall_q30 = policy::share_q30(counts.stall_cycles, counts.cycles) as u32;
    let speed = |hz: u64| {
        policy::stall_perf_q30(stall_q30, lost.actual_hz, hz) as f64 / f64::from(policy::ONE)
    };
    let throttled_hz = (lost.actual_hz as f64 * rate) as u64;
    let throttled_ns = counted_ns * slice.throttled_cycles as f64 / counts.cycles as f64;
    halted_ns + throttled_ns * (1.0 - speed(throttled_hz)) / speed(lost.ideal_hz)
}

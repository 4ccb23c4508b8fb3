//! How much CPU time had each task at each level? Counters at switches know, without samples.

use cpu_model::{CpuModel, LEVELS_MAX};

use crate::profile::{Slice, Times};

/// Adds slices to sums.
#[derive(Clone, Debug)]
pub(crate) struct Adder {
    cpu: CpuModel,
    /// By level.
    throttle_rates: [f64; LEVELS_MAX],
}

impl Adder {
    pub(crate) fn new(cpu: &CpuModel) -> Self {
        Self { cpu: cpu.clone(), throttle_rates: throttle_rates(cpu) }
    }

    pub(crate) fn add(&self, sum: &mut Times, slice: &Slice) {
        sum.cpu_time_ns += slice.counts.time_ns;
        sum.waited_ns += slice.waited_ns;
        let turbo = &self.cpu.turbo;
        let lost = policy::time_lost(turbo, &slice.counts, 0);
        let counted = policy::counted_times(turbo, lost.at.slow as usize, &slice.counts);
        for (sum_ns, ns) in sum.at_level_ns.iter_mut().zip(counted.ns) {
            *sum_ns += ns as f64;
        }
        let highest = (1..LEVELS_MAX).rev().find(|&level| slice.counts.level_cycles[level] > 0);
        let rate = self.throttle_rates[highest.unwrap_or(0).max(1)];
        sum.transition_ns += transition_ns(slice, &lost, turbo.ref_khz, rate);
    }
}

/// The sums of groups of tasks.
pub(crate) fn by_group(times: &[Times], group_of: &[u32], groups: usize) -> Vec<Times> {
    let mut sums = vec![Times::default(); groups];
    for (times, &group) in times.iter().zip(group_of) {
        let Some(sum) = sums.get_mut(group as usize) else { continue };
        sum.cpu_time_ns += times.cpu_time_ns;
        sum.waited_ns += times.waited_ns;
        for (sum_ns, ns) in sum.at_level_ns.iter_mut().zip(times.at_level_ns) {
            *sum_ns += ns;
        }
        sum.transition_ns += times.transition_ns;
    }
    sums
}

/// By level: mean rate of instructions while a rise to that level throttles the core; 1 without
/// throttles.
fn throttle_rates(cpu: &CpuModel) -> [f64; LEVELS_MAX] {
    let rate = |level: usize| {
        let mut sums = (0.0, 0.0);
        for heavy in 0..2 {
            for stage in cpu.license.rise[0][level][heavy].stages() {
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

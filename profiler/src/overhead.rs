//! From samples to the remote AVX overhead of tasks (Eq. D 4.2).

use cpu_model::Turbo;

use crate::sample::Sample;

/// When the stalls of the model of D 4.3 are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stalls {
    /// While the siblings run, before the pause: ours. Memory takes a smaller share of the time of a
    /// task that shares its core, so its frequency matters more.
    Before,
    /// While the task runs alone after the pause (D 4.3.2).
    Alone,
}

/// What a sample says about its moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Frequency before the pause.
    pub actual_hz: u64,
    /// Frequency at which the task would have run without the level of others.
    pub ideal_hz: u64,
    /// Speed at the ideal frequency over speed at the actual one.
    pub faster: f64,
    /// The same with the siblings (step 5), where measured: what is left is lost to holds.
    pub faster_beside: Option<f64>,
}

impl Moment {
    /// The moment of a sample. The ideal frequency is that of the turbo row which the actual
    /// frequency names, never one after the pause: the number of active cores may have changed.
    #[must_use]
    pub fn of(sample: &Sample, turbo: &Turbo, stalls: Stalls) -> Self {
        let counts = policy::Slice {
            cycles: sample.cycles,
            ref_cycles: sample.ref_cycles,
            level_cycles: sample.level_cycles,
            ..policy::Slice::default()
        };
        let ideal_at = |own_level: u8| policy::time_lost(turbo, &counts, own_level);
        let alone = ideal_at(sample.level_alone);
        let (stalled, cycles) = match stalls {
            Stalls::Before => (sample.stall_cycles, sample.cycles),
            Stalls::Alone => (sample.alone_stall_cycles, sample.alone_cycles),
        };
        let stall_q30 = policy::share_q30(stalled, cycles) as u32;
        let faster = |ideal_hz: u64| {
            policy::stall_perf_q30(stall_q30, alone.actual_hz, ideal_hz) as f64
                / f64::from(policy::ONE)
        };
        Self {
            actual_hz: alone.actual_hz,
            ideal_hz: alone.ideal_hz,
            faster: faster(alone.ideal_hz),
            faster_beside: sample.level_beside.map(|level| {
                // No faster than alone, whatever a sibling did meanwhile.
                faster(ideal_at(level.max(sample.level_alone)).ideal_hz)
            }),
        }
    }

    /// Share of the moment that was lost.
    #[must_use]
    pub fn lost(&self) -> f64 {
        1.0 - 1.0 / self.faster
    }
}

/// Remote AVX overhead over moments: by how much longer their work took, 0.1 for 10 %
/// (Eq. D 4.2); 0 for none.
#[must_use]
pub fn overhead(moments: &[Moment]) -> f64 {
    let actual: f64 = moments.iter().map(|moment| moment.actual_hz as f64).sum();
    let ideal: f64 = moments.iter().map(|moment| moment.actual_hz as f64 * moment.faster).sum();
    if actual > 0.0 { ideal / actual - 1.0 } else { 0.0 }
}

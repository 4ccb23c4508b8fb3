//! Frequencies and loss at the moment of a sample (D 4.2.1, Eq. D 4.3).

use cpu_model::Turbo;

use crate::sample::Sample;

/// How samples are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Stalls are counted before the pause: memory takes a smaller share of the time of a task that
    /// shares its core, so its frequency matters more. The task demands the level of its window
    /// only if the core is throttled as soon as the task goes on.
    Ours,
    /// Stalls are counted while the task runs alone (D 4.3.2), and a demand within the window
    /// counts as a demand before the pause (D 4.2.1).
    Published,
}

impl Method {
    /// The level that the task of a sample demanded.
    #[must_use]
    pub fn own_level(self, sample: &Sample) -> u8 {
        match self {
            Self::Ours if !sample.demands_immediately => 0,
            _ => sample.level_alone,
        }
    }
}

/// The frequencies and the loss of a sample's moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Frequency before the pause.
    pub actual_hz: u64,
    /// Frequency without the levels that other tasks demand.
    pub ideal_hz: u64,
    /// Speed at the ideal frequency over speed at the actual one.
    pub faster: f64,
}

impl Moment {
    /// The moment of a sample. The ideal frequency is that of the turbo row which the actual
    /// frequency names, never one after the pause: the number of active cores may have changed.
    #[must_use]
    pub fn of(sample: &Sample, turbo: &Turbo, method: Method) -> Self {
        Self::if_demanding(sample, turbo, method, method.own_level(sample))
    }

    /// The same for another demanded level than the measured one.
    pub(crate) fn if_demanding(
        sample: &Sample,
        turbo: &Turbo,
        method: Method,
        own_level: u8,
    ) -> Self {
        let counts = policy::Slice {
            cycles: sample.cycles,
            ref_cycles: sample.ref_cycles,
            level_cycles: sample.level_cycles,
            ..policy::Slice::default()
        };
        let lost = policy::time_lost(turbo, &counts, own_level);
        let (stalled, cycles) = match method {
            Method::Ours => (sample.stall_cycles, sample.cycles),
            Method::Published => (sample.alone_stall_cycles, sample.alone_cycles),
        };
        let stall_q30 = policy::share_q30(stalled, cycles) as u32;
        let faster_q30 = policy::stall_perf_q30(stall_q30, lost.actual_hz, lost.ideal_hz);
        Self {
            actual_hz: lost.actual_hz,
            ideal_hz: lost.ideal_hz,
            faster: faster_q30 as f64 / f64::from(policy::ONE),
        }
    }

    /// Share of the moment that was lost.
    #[must_use]
    pub fn lost(&self) -> f64 {
        1.0 - 1.0 / self.faster
    }
}

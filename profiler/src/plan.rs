//! How samples are taken.

use cpu_model::CpuModel;

use crate::profile::hold_ns;

/// When samples are taken, and how long their steps last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// From the end of a sample to the next: uniform from the first to the second.
    pub interval_ns: (u64, u64),
    /// Over how long frequency, levels and stalls are measured before the pause.
    pub before_ns: u64,
    /// Over how long a level is measured in and after the pause.
    pub probe_ns: u64,
    /// Shortest pause: the core's level must have had the time to fall.
    pub pause_ns: u64,
    /// Time between two looks at a level that has not fallen yet.
    pub look_ns: u64,
    /// Longest pause; a sample whose level has not fallen by then is discarded.
    pub pause_max_ns: u64,
    /// A demand that begins within this time after the pause counts as a demand before the pause.
    pub immediate_ns: u64,
    /// How long the task runs alone before its own level is measured.
    pub window_ns: u64,
    /// Whether a further window with the siblings tells losses to them from losses to holds.
    pub splits_causes: bool,
    /// Whether a pause ends as soon as the level is back: shorter, and biased (D 4.6.1).
    pub ends_early: bool,
    /// Decides the times of all samples.
    pub seed: u64,
}

impl Plan {
    /// Samples every 10 to 30 ms, windows of 70 us (D 4.2.1).
    const INTERVAL_NS: (u64, u64) = (10_000_000, 30_000_000);
    const WINDOW_NS: u64 = 70_000;
    /// D measures the time of 1000 `nop`: four in a cycle at 2 GHz are 0.1 us. Ours is longer, as
    /// counters are read through system calls.
    const PROBE_NS: u64 = 1_000;
    /// Long enough for the way back from the profiler to the task; our choice.
    const IMMEDIATE_NS: u64 = 4_000;
    /// Above the hold of the CPU table; D: 700 us for 670 us.
    const MARGIN_NS: u64 = 30_000;
    /// Holds of up to 1.33 ms were measured on one Xeon in 30 % of cases with a single active core
    /// (Khalil's samples); the limit of 2 ms is our choice.
    const PAUSE_MAX_NS: u64 = 2_000_000;

    /// The published plan for a CPU (D 4.2.1), with pauses that wait for the level.
    #[must_use]
    pub fn published(cpu: &CpuModel, seed: u64) -> Self {
        Self {
            interval_ns: Self::INTERVAL_NS,
            before_ns: Self::PROBE_NS,
            probe_ns: Self::PROBE_NS,
            pause_ns: (hold_ns(cpu) + Self::MARGIN_NS).min(Self::PAUSE_MAX_NS),
            look_ns: 50_000,
            pause_max_ns: Self::PAUSE_MAX_NS,
            immediate_ns: Self::IMMEDIATE_NS,
            window_ns: Self::WINDOW_NS,
            splits_causes: false,
            ends_early: false,
            seed,
        }
    }

    /// Ours: stalls are those beside the siblings, so a window before the pause measures them.
    #[must_use]
    pub fn ours(cpu: &CpuModel, seed: u64) -> Self {
        Self { before_ns: Self::WINDOW_NS, ..Self::published(cpu, seed) }
    }

    /// This plan with another mean rate of samples; intervals are uniform between half and one and
    /// a half times the mean.
    #[must_use]
    pub fn with_rate(mut self, samples_a_second: f64) -> Self {
        let mean_ns = (1e9 / samples_a_second.max(1e-3)) as u64;
        self.interval_ns = (mean_ns / 2, mean_ns + mean_ns / 2);
        self
    }
}

//! How core specialization worked in a run.

use serde::Serialize;
use simulator::SpecializationCounts;

use crate::format;

const NS_PER_S: f64 = 1e9;

/// Cores and tasks that changed their kind, over all programs and replicates of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Specialization {
    /// Mean number of wide cores, over time.
    pub wide_cores: f64,
    /// Faults of tasks that used 512-bit registers on a narrow core, a second.
    pub faults_per_s: f64,
    /// Wide phases that a system call ended, a second.
    pub ended_by_call_per_s: f64,
    /// Wide phases that the timeout ended, a second.
    pub ended_by_timeout_per_s: f64,
    /// Cores that changed their kind, a second.
    pub core_changes_per_s: f64,
    /// Slices of wide tasks on narrow cores: their affinity has no wide core.
    pub misplaced_slices: u64,
}

impl Specialization {
    /// Means of runs that took so long together; `None` under a scheduler without specialization.
    pub(crate) fn of(
        runs: impl Iterator<Item = Option<SpecializationCounts>>,
        simulated_ns: u64,
    ) -> Option<Self> {
        let all = runs.collect::<Option<Vec<_>>>()?;
        let sum = |of: fn(&SpecializationCounts) -> u64| all.iter().map(of).sum::<u64>();
        let seconds = simulated_ns as f64 / NS_PER_S;
        let per_second = |of| if seconds > 0.0 { sum(of) as f64 / seconds } else { 0.0 };
        Some(Self {
            wide_cores: per_second(|counts| counts.wide_core_ns) / NS_PER_S,
            faults_per_s: per_second(|counts| counts.faults),
            ended_by_call_per_s: per_second(|counts| counts.ended_by_call),
            ended_by_timeout_per_s: per_second(|counts| counts.ended_by_timeout),
            core_changes_per_s: per_second(|counts| counts.core_changes),
            misplaced_slices: sum(|counts| counts.misplaced_slices),
        })
    }

    /// One sentence for the table.
    pub(crate) fn sentence(&self, scheduler: &str) -> String {
        let misplaced = if self.misplaced_slices == 0 {
            String::new()
        } else {
            format!(
                ", and {} slices of wide tasks on narrow cores",
                format::short_count(self.misplaced_slices as f64)
            )
        };
        format!(
            "{}: {:.1} wide cores in the mean, {} faults and {} changes of cores a \
             second{misplaced}",
            format::clean(scheduler),
            self.wide_cores,
            format::short_count(self.faults_per_s),
            format::short_count(self.core_changes_per_s),
        )
    }
}

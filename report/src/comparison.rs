//! The result of `compare`: the keys of its JSON form.

use hdrhistogram::Histogram;
use scenarios::{Figure, Role};
use serde::Serialize;
use simulator::Costs;

use crate::attribution::{Attribution, LossEntry};
use crate::claims::{Claimed, Published};
use crate::format::{clean, counted, tenths};
use crate::sample::{Replicates, ReportError};
use crate::specialization::Specialization;

/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// Several schedulers on the same work: the losses of each application to each other one.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of this form.
    pub schema: u32,
    /// Version of Evenkeel that computed this comparison.
    pub evenkeel: String,
    /// Name of the CPU table.
    pub cpu: String,
    /// Name of the scenario.
    pub scenario: String,
    /// The scenario in a sentence.
    pub description: String,
    /// Seed of the first replicate.
    pub seed: u64,
    /// Sensor set, or several separated by commas.
    pub sensors: String,
    /// Ids of the published figures that parameters were fitted to.
    pub calibrated_on: Vec<String>,
    /// The input in which replicates differ.
    pub replicates: Replicates,
    /// Names of the license levels, level 0 first.
    pub level_names: Vec<String>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Kernel costs.
    pub costs: CostTable,
    /// The command that reproduces this result.
    pub command: String,
    /// Remarks that a reader of the figures needs, a sentence each.
    pub notes: Vec<String>,
    /// Claims of the scenario, with verdicts.
    pub claims: Vec<Claimed>,
    /// One entry a scheduler, background and sensor set, in the order of the samples.
    pub runs: Vec<Run>,
    /// The answer for a busy package; `None` where the work has all cores of its package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_package: Option<BusyPackage>,
}

/// What the same work gives on a package whose other cores are active, too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BusyPackage {
    /// Cores of the package.
    pub cores: u32,
    /// Scheduler, the first that the answer names.
    pub scheduler: String,
    /// Mean of absolute slowdowns, in percent.
    pub isolation_slowdown_pct: f64,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Value with its unit.
    pub value: String,
}

impl Parameter {
    pub(crate) fn all(named: Vec<(String, String)>) -> Vec<Self> {
        named.into_iter().map(|(name, value)| Self { name, value }).collect()
    }
}

/// Kernel costs, in reference time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostTable {
    /// Each context switch.
    pub switch_ns: u64,
    /// Each trap on a first wide instruction.
    pub trap_ns: u64,
    /// Each migration.
    pub migration_ns: u64,
    /// Each KiB of working set of a migration.
    pub migration_ns_per_kib: u64,
    /// Factor for a migration from another package.
    pub remote_package_factor: u64,
}

impl From<Costs> for CostTable {
    fn from(costs: Costs) -> Self {
        Self {
            switch_ns: costs.switch_ns,
            trap_ns: costs.trap_ns,
            migration_ns: costs.migration_ns,
            migration_ns_per_kib: costs.migration_ns_per_kib,
            remote_package_factor: costs.remote_package_factor,
        }
    }
}

/// A scheduler with a background, over all programs and replicates.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Scheduler.
    pub scheduler: String,
    /// Background.
    pub background: String,
    /// Sensor set.
    pub sensors: String,
    /// Whether this background is the control: its slowdown is 1 by definition.
    pub control: bool,
    /// Programs that ran one by one.
    pub programs: usize,
    /// Replicates of each.
    pub replicates: usize,
    /// Simulated runs that the time limit ended; slowdown in them is that of the rate of work.
    pub unfinished: usize,
    /// Applications by program; means over replicates.
    pub tasks: Vec<Task>,
    /// By victim and culprit: means over replicates, summed over programs.
    pub losses: Vec<LossEntry>,
    /// How much of the losses the policy attributed to their culprits.
    pub attribution: Attribution,
    /// Mean over programs of |slowdown - 1|, the mean over replicates being taken first.
    pub isolation_slowdown_pct: f64,
    /// Half the 95 % confidence interval of that mean; `None` for one replicate.
    pub ci95_half_width_pct: Option<f64>,
    /// Lowest and highest value of a parameter set; the figure is the mean of all sets.
    pub range_pct: Option<[f64; 2]>,
    /// Mean over programs of slowdown - 1.
    pub signed_slowdown_pct: f64,
    /// Half the 95 % confidence interval of that mean.
    pub signed_ci95_half_width_pct: Option<f64>,
    /// Mean over programs of slowdown - 1, speed-ups as 0.
    pub slowdown_only_pct: f64,
    /// Mean over programs of the foreground's CPU time over that at its ideal frequency - 1.
    pub remote_avx_overhead_pct: f64,
    /// Mean over programs of the foreground's CPU time over that with the control - 1.
    pub cpu_time_vs_sse_pct: f64,
    /// Largest over smallest slowdown of the applications of a run; mean over runs.
    pub unfairness: f64,
    /// Jain's index of their normalised progress; mean over runs.
    pub jain: f64,
    /// The first published figure that concerns this whole run.
    pub published: Option<Published>,
    /// Context switches, all programs and replicates together.
    pub switches: u64,
    /// Migrations, likewise.
    pub migrations: u64,
    /// Simulated time, likewise.
    pub simulated_s: f64,
    /// Timers that fired, likewise.
    pub events: u64,
    /// How core specialization worked, under a scheduler that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specialization: Option<Specialization>,
    /// Share of all CPU time for which core scheduling forced a CPU idle, under that scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_forced_idle_pct: Option<f64>,
    /// Share of busy core time at each license level.
    pub level_share_pct: Vec<f64>,
    /// From wake-up to the first instruction, foreground.
    pub wake_latency: WakeLatency,
    /// The histogram behind `wake_latency`, for the chart.
    #[serde(skip)]
    pub wake_histogram_ns: Histogram<u64>,
}

/// An application of a program; means over replicates.
#[derive(Clone, Debug, Serialize)]
pub struct Task {
    /// Application.
    pub name: String,
    /// Program of the application, if the scenario runs several one by one.
    pub program: Option<String>,
    /// `foreground` is judged, `background` is not.
    #[serde(serialize_with = "role_name")]
    pub role: Role,
    /// Its most demanding instruction class.
    pub class: String,
    /// Threads.
    pub threads: usize,
    /// CPU time of its threads together.
    pub cpu_time_s: f64,
    /// CPU time lost to licenses above the application's own level, its own threads' included.
    pub lost_s: f64,
    /// Time until its last thread ended; `None` if the time limit came first.
    pub completion_s: Option<f64>,
    /// Reference cycles done.
    pub progress: f64,
    /// The same by time of the run, in millions a second.
    pub rate_mcycles_per_s: f64,
    /// Completion over completion with the control, or, where a side did not end, the
    /// control's rate of work over its own; mean of the pairs. `None`: no work, no rate.
    pub slowdown: Option<f64>,
    /// Half the 95 % confidence interval of that mean.
    pub slowdown_ci95_half_width: Option<f64>,
    /// CPU time over CPU time at the ideal frequency - 1.
    pub remote_avx_overhead_pct: f64,
    /// Times a thread came to a CPU.
    pub slices: u64,
    /// Times a thread came to another CPU.
    pub migrations: u64,
    /// Time its threads waited for a CPU.
    pub waited_s: f64,
    /// CPU time refunded to this application.
    pub refunded_s: f64,
    /// CPU time billed to this application.
    pub billed_s: f64,
}

impl Task {
    /// Slowdown - 1 in percent.
    #[must_use]
    pub fn slowdown_pct(&self) -> Option<f64> {
        self.slowdown.map(|slowdown| 100.0 * (slowdown - 1.0))
    }
}

/// Quantiles of the time from wake-up to the first instruction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WakeLatency {
    /// Wake-ups.
    pub count: u64,
    /// Median.
    pub p50_us: f64,
    /// 90 %.
    pub p90_us: f64,
    /// 99 %.
    pub p99_us: f64,
    /// 99.9 %.
    pub p999_us: f64,
    /// Longest.
    pub max_us: f64,
}

impl Run {
    /// Whether a claimed figure is one of this run; `rq_sharing` says which CPUs shared a run
    /// queue of `MuQSS` in the runs.
    pub(crate) fn has(&self, figure: &Figure, rq_sharing: &str) -> bool {
        self.scheduler == figure.scheduler
            && self.background == figure.background
            && (self.sensors == figure.sensors || !figure.has_policy())
            && (figure.scheduler != "muqss" || figure.rq_sharing == rq_sharing)
    }

    /// A claimed figure; `None` for a metric that is none of [`scenarios::METRICS`]. What cannot
    /// be told, such as the completion of work that did not end, is not a number.
    pub(crate) fn figure(&self, figure: &Figure) -> Option<f64> {
        if let Some(application) = &figure.application {
            return self.of_tasks(&figure.metric, |task| task.name == *application);
        }
        Some(match figure.metric.as_str() {
            "isolation_slowdown_pct" => self.isolation_slowdown_pct,
            "signed_slowdown_pct" => self.signed_slowdown_pct,
            "slowdown_only_pct" => self.slowdown_only_pct,
            "remote_avx_overhead_pct" => self.remote_avx_overhead_pct,
            "cpu_time_vs_sse_pct" => self.cpu_time_vs_sse_pct,
            "unfairness" => self.unfairness,
            "jain" => self.jain,
            other => return self.of_tasks(other, |_| true),
        })
    }

    /// A metric of some of the judged applications: the mean where each of them has its own.
    fn of_tasks(&self, metric: &str, wanted: impl Fn(&Task) -> bool) -> Option<f64> {
        let tasks: Vec<&Task> = self.judged().filter(|task| wanted(task)).collect();
        let sum = |of: fn(&Task) -> f64| tasks.iter().map(|task| of(task)).sum::<f64>();
        let mean = |of: fn(&Task) -> f64| sum(of) / tasks.len() as f64;
        Some(match metric {
            "isolation_slowdown_pct" => mean(|task| task.slowdown_pct().map_or(f64::NAN, f64::abs)),
            "signed_slowdown_pct" => mean(|task| task.slowdown_pct().unwrap_or(f64::NAN)),
            "slowdown_only_pct" => {
                mean(|task| task.slowdown_pct().map_or(f64::NAN, |pct| pct.max(0.0)))
            }
            "remote_avx_overhead_pct" => mean(|task| task.remote_avx_overhead_pct),
            "completion_s" => mean(|task| task.completion_s.unwrap_or(f64::NAN)),
            "slice_mcycles" => sum(|task| task.progress) / sum(|task| task.slices as f64) / 1e6,
            "repaid_pct" => {
                let victim = |loss: &&LossEntry| tasks.iter().any(|task| task.name == loss.victim);
                let all = || self.losses.iter().filter(victim);
                let lost: f64 = all().map(|loss| loss.lost_s).sum();
                100.0 * all().map(|loss| loss.repaid_s).sum::<f64>() / lost
            }
            _ => return None,
        })
    }

    /// The mean slowdown with its interval, and its range over parameter sets.
    pub(crate) fn slowdown_text(&self) -> String {
        let value = tenths(self.isolation_slowdown_pct);
        let mean = match self.ci95_half_width_pct {
            // Below a tenth the width would read as exactly none.
            Some(half) if half < 0.05 && half > 0.0 => format!("{value} ±<0.1 %"),
            Some(half) => format!("{value} ±{} %", tenths(half)),
            None => format!("{value} %"),
        };
        match self.range_pct {
            Some([low, high]) => format!("{mean} ({} to {})", tenths(low), tenths(high)),
            None => mean,
        }
    }

    /// Whether the signed slowdown is further from 0 than twice its interval, which about one in
    /// ten thousand runs is by chance; an interval needs three replicates.
    #[must_use]
    pub fn is_more_than_chance(&self) -> bool {
        const INTERVALS: f64 = 2.0;
        /// Ends of bursts fall on whole nanoseconds.
        const ROUNDING_PCT: f64 = 0.01;
        let half = self.signed_ci95_half_width_pct.filter(|_| self.replicates > 2);
        half.is_some_and(|half| self.signed_slowdown_pct.abs() > INTERVALS * half + ROUNDING_PCT)
    }

    /// The judged applications: those of the foreground.
    pub fn judged(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.role == Role::Foreground)
    }

    /// The judged application that is slowed most.
    #[must_use]
    pub fn worst(&self) -> Option<&Task> {
        self.judged()
            .filter(|task| task.slowdown.is_some())
            .max_by(|a, b| a.slowdown.unwrap_or(0.0).total_cmp(&b.slowdown.unwrap_or(0.0)))
    }
}

impl Comparison {
    /// The JSON form: the same bytes for the same comparison.
    ///
    /// # Errors
    /// When a number has no JSON form, which would be a mistake of ours.
    pub fn to_json(&self) -> Result<String, ReportError> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|error| ReportError::Write { format: "JSON", reason: error.to_string() })?;
        text.push('\n');
        Ok(text)
    }

    /// CPU, sensors, seed and number of runs in a line.
    pub(crate) fn settings_text(&self) -> String {
        let first = self.runs.first();
        let simulated_s: f64 = self.runs.iter().map(|run| run.simulated_s).sum();
        let fits = match self.replicates {
            Replicates::Seeds => "seed",
            Replicates::ParameterSets => "fitted parameter set",
        };
        format!(
            "{} on {}, sensors {}, seed {}, {} x {}, {simulated_s:.0} s simulated; \
             ± is half a 95 % interval.",
            clean(&self.scenario),
            clean(&self.cpu),
            clean(&self.sensors),
            self.seed,
            counted(first.map_or(0, |run| run.programs), "program"),
            counted(first.map_or(0, |run| run.replicates), fits),
        )
    }

    /// Runs that are compared with the control.
    pub fn compared(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| !run.control)
    }
}

fn role_name<S: serde::Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match role {
        Role::Foreground => "foreground",
        Role::Background => "background",
    })
}

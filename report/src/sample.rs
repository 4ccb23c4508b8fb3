//! The input of a comparison.

use scenarios::{Application, Claim};
use serde::Serialize;
use simulator::{Costs, Outcome};

/// One simulated run with its scheduler, background, program and replicate.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Scheduler, such as `fair-isolation`.
    pub scheduler: String,
    /// Variant of the background, such as `avx512`.
    pub background: String,
    /// Whether this is the control, with which all other backgrounds are compared.
    pub control: bool,
    /// Which of several foreground programs ran, where the scenario runs them one by one.
    pub program: Option<String>,
    /// Seed or parameter set; equal numbers of different backgrounds are paired.
    pub replicate: u32,
    /// Sensor set, such as `d7`.
    pub sensors: String,
    /// The applications of the workload.
    pub applications: Vec<Application>,
    /// Application of each thread; an index into `applications`.
    pub thread_application: Vec<u32>,
    /// The outcome of the run.
    pub outcome: Outcome,
}

/// The input in which the replicates of a comparison differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replicates {
    /// Only the seed: their spread is chance, and a confidence interval says how much.
    #[default]
    Seeds,
    /// The fitted parameters: each is a prediction, and their range is what is predicted.
    ParameterSets,
}

/// Properties of a comparison that all its runs share.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Version of Evenkeel that computed the runs.
    pub evenkeel_version: String,
    /// Name of the CPU table.
    pub cpu: String,
    /// Names of the CPU's license levels, level 0 first.
    pub level_names: Vec<String>,
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
    /// Parameters, name and value with its unit, in the order to show.
    pub parameters: Vec<(String, String)>,
    /// Kernel costs.
    pub costs: Costs,
    /// The command that reproduces the comparison.
    pub command: String,
    /// Remarks that a reader of the figures needs, a sentence each.
    pub notes: Vec<String>,
    /// CPUs that share a run queue of `MuQSS`.
    pub rq_sharing: String,
    /// What the scenario claims; empty where something differs from how the published figures
    /// were got: programs left out, another CPU, parameters set by hand.
    pub claims: Vec<Claim>,
}

/// Why samples do not make a comparison.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// No samples.
    #[error("there is no run to compare")]
    Empty,
    /// A run has nothing to be compared with.
    #[error(
        "scheduler {scheduler}, background {background}, program {program}, replicate \
         {replicate}: there is no run with the control background"
    )]
    NoControl {
        /// Scheduler of the run.
        scheduler: String,
        /// Its background.
        background: String,
        /// Its program, `-` if the scenario has only one.
        program: String,
        /// Its replicate.
        replicate: u32,
    },
    /// The programs of a run have different replicates, so that no mean is fair to all.
    #[error(
        "scheduler {scheduler}, background {background}: program {program} has {found} \
         replicates where others have {expected}"
    )]
    Uneven {
        /// Scheduler of the run.
        scheduler: String,
        /// Its background.
        background: String,
        /// The program.
        program: String,
        /// Replicates of it.
        found: usize,
        /// Replicates of the first program.
        expected: usize,
    },
    /// A sample contradicts itself.
    #[error("scheduler {scheduler}, background {background}: {what}")]
    Inconsistent {
        /// Scheduler of the run.
        scheduler: String,
        /// Its background.
        background: String,
        /// The contradiction, as a sentence.
        what: &'static str,
    },
    /// A judged application did no work, so that it has no slowdown.
    #[error("scheduler {scheduler}, background {background}: {application} made no progress")]
    NoProgress {
        /// Scheduler of the run.
        scheduler: String,
        /// Its background.
        background: String,
        /// The application.
        application: String,
    },
    /// The comparison could not be written in a format.
    #[error("cannot write {format}: {reason}")]
    Write {
        /// The format.
        format: &'static str,
        /// Why not.
        reason: String,
    },
}

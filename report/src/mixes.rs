//! Schedulers over many random program mixes: the figures of each mix, then means over mixes.
//!
//! A mean over mixes says how a scheduler does on work that was not chosen for it, and its interval
//! how much of that is chance of the draw. Schedulers are compared mix by mix, because mixes differ
//! far more than schedulers do.

mod figures;
mod summary;
mod table;
#[cfg(test)]
pub(crate) mod testing;

use serde::Serialize;

use crate::comparison::{CostTable, Parameter};
use crate::sample::Setup;

pub use figures::{Mix, MixRun, mix};
pub(crate) use summary::{LessFirst, Mean, Summary, first_scheduler, summaries};
pub use table::mixes_table;

/// Version of the JSON form.
const SCHEMA: u32 = 1;

/// Schedulers over many mixes.
#[derive(Clone, Debug, Serialize)]
pub struct Mixes {
    /// Version of this form.
    schema: u32,
    /// Version of Evenkeel that computed these figures.
    evenkeel: String,
    /// Which mixes: `development`, or `held-out` and of which release.
    half: String,
    /// Name of the CPU table.
    cpu: String,
    /// Names of the license levels, level 0 first.
    level_names: Vec<String>,
    /// Sensor set, or several separated by commas.
    sensors: String,
    /// Seed of the first replicate of each mix.
    seed: u64,
    /// Parameters.
    parameters: Vec<Parameter>,
    /// Kernel costs.
    costs: CostTable,
    /// The command that reproduces these figures.
    command: String,
    /// A scheduler, sensor set and background each; the first scheduler is what others are compared
    /// with.
    summaries: Vec<Summary>,
    /// Figures of each mix.
    mixes: Vec<Mix>,
}

/// Takes the means over mixes; `half` says which mixes these are.
#[must_use]
pub fn mixes(setup: Setup, half: &str, mixes: Vec<Mix>) -> Mixes {
    Mixes {
        schema: SCHEMA,
        evenkeel: setup.evenkeel_version,
        half: half.to_owned(),
        cpu: setup.cpu,
        level_names: setup.level_names,
        sensors: setup.sensors,
        seed: setup.seed,
        parameters: Parameter::all(setup.parameters),
        costs: setup.costs.into(),
        command: setup.command,
        summaries: summaries(&mixes, first_scheduler(&mixes)),
        mixes,
    }
}

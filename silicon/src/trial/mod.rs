//! What does a real victim lose to a real culprit on this machine, and does the model say the same?
//!
//! The culprit changes between its wide form and its control in short blocks of drawn order; a
//! pair of neighbouring blocks gives one change of the victim's progress a CPU second. Every third
//! pair is a *placebo*, control against control: what the instrument finds where there is nothing.

pub mod hide;

mod culprit;
mod estimate;
mod group;
mod place;
mod prediction;
mod run;
mod verdict;
mod victim;

pub use culprit::{Cpuid, Culprit, CulpritCommands};
pub use group::Command;
pub use place::Place;
pub use prediction::{Prediction, Setting, predict};
pub use run::{Pair, Plan, Trial, run};
pub use verdict::{AGREEMENT_POINTS, HALF_WIDTH_POINTS_MAX, Verdict, judge};
pub use victim::{Progress, Victim};

use crate::PinError;

/// What the culprit runs during a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With wide instructions.
    Wide,
    /// The same without.
    Control,
}

/// Why a trial ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A program could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("`{command}` ended with {status}; try it by hand first")]
    Failed {
        /// The command.
        command: String,
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// A culprit that keeps ending at once does no work to suffer from.
    #[error("`{command}` ended within {within_ms} ms of its start; a culprit must run for longer")]
    TooShort {
        /// The command.
        command: String,
        /// How soon it ended.
        within_ms: u128,
    },
    /// The victim did nothing in most blocks.
    #[error(
        "the victim made no progress in most blocks of {block_ms} ms; a longer --block may help"
    )]
    NoProgress {
        /// Length of the block.
        block_ms: u128,
    },
    /// The CPU cannot be used.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// The kernel refused something.
    #[error("{what}: {source}")]
    Kernel {
        /// What was asked for.
        what: &'static str,
        /// What it said.
        source: nix::Error,
    },
}

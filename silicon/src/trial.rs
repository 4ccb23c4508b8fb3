//! What does a real victim lose to a real culprit on this machine, and does the model say the same?
//!
//! The culprit changes between its wide form and its control in short blocks of drawn order; a
//! pair of neighbouring blocks gives one change of the victim's progress a CPU second. Every third
//! pair is a *placebo*, control against control: what the instrument finds where there is nothing.

pub mod hide;

mod command;
mod culprit;
mod error;
mod group;
mod place;
mod prediction;
mod run;
mod verdict;
mod victim;

pub use command::Command;
pub use culprit::{Cpuid, Culprit, CulpritCommands, Form};
pub use error::TrialError;
pub use place::Place;
pub use prediction::{Prediction, Setting, predict};
pub use run::{Pair, Plan, Trial, run};
pub use verdict::{AGREEMENT_POINTS, HALF_WIDTH_POINTS_MAX, Verdict, judge};
pub use victim::{Progress, Victim};

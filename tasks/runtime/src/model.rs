//! A deterministic model of many workers: the runtime's own code on virtual ones.
//!
//! Built with `--cfg evenkeel_model`. Each worker is a coroutine of one thread; each step of
//! `sync.rs` costs virtual time ([`Costs`]), and the worker that is furthest behind always goes on.
//! The results are predicted, not measured: docs/decisions/0024.

mod arena;
mod cost;
mod ledger;
mod lines;
mod machine;
mod program;
mod run;
#[cfg(test)]
mod tests;

pub use cost::Costs;
pub use ledger::{KINDS, Ledger, NAMES, Site, Spent};
pub use program::{PROGRAMS, Program};
pub use run::{Outcome, Setting, run};

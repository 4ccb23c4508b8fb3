//! A deterministic model of many workers: the runtime's own code on virtual ones.
//!
//! Empty without `--cfg evenkeel_model`, with which the runtime charges each step of its `sync.rs`
//! to a virtual machine. Each worker is a coroutine of one thread; each step costs virtual time
//! (`Costs`), and the worker that is furthest behind always goes on. The results are predicted,
//! not measured: docs/decisions/0024.
#![cfg(evenkeel_model)]

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
pub use ledger::{Ledger, NAMES, Site, Spent, USES};
pub use program::{PROGRAMS, Program};
pub use run::{Outcome, Setting, run};

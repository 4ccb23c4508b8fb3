//! Loops, sections, and what is ordered in them.

mod doacross;
mod gomp;
mod gomp_parallel;
mod gomp_whole;
mod kmp;
mod kmp_static;
mod ordered;
mod sections;

use crate::data_environment;
use crate::environment::{Kind, Schedule};
use crate::region::work::{LoopOptions, LoopSchedule};

/// What `schedule(runtime)` is here.
fn runtime() -> LoopOptions {
    let Schedule { kind, chunk, .. } = data_environment::icvs().schedule;
    let how = match kind {
        Kind::Static | Kind::Auto => LoopSchedule::Static,
        Kind::Dynamic => LoopSchedule::Dynamic,
        Kind::Guided => LoopSchedule::Guided,
    };
    let chunk = if kind == Kind::Auto { 0 } else { u64::try_from(chunk).unwrap_or_default() };
    LoopOptions { how, chunk, ..LoopOptions::default() }
}

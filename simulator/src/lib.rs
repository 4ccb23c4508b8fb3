//! Deterministic simulation of schedulers on power-limited CPUs.
//!
//! One discrete-event engine in whole nanoseconds; no float, hash order, clock or
//! thread inside a run: the same workload, CPU, configuration and seed give the
//! same outcome to the last bit.

mod config;
mod outcome;

pub use config::{
    Compensation, Config, Costs, EevdfKernel, Queues, RqSharing, Scheduler, SensorSet,
};
pub use outcome::{Loss, Outcome, TaskOutcome};

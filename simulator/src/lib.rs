//! Deterministic simulation of schedulers on power-limited CPUs.
//!
//! One discrete-event engine in whole nanoseconds; no float, hash order, clock or
//! thread inside a run: the same workload, CPU, configuration and seed give the
//! same outcome to the last bit.

mod config;
mod domain;
mod engine;
mod error;
mod outcome;
mod random;
mod rate;
mod recorder;
mod sched;
mod sensors;
mod task;
#[cfg(test)]
mod testing;
mod timers;
mod topology;
mod world;

pub use config::{
    Compensation, Config, Costs, EevdfKernel, Queues, RqSharing, Scheduler, SensorSet,
};
pub use error::SimError;
pub use outcome::{Loss, Outcome, TaskOutcome};

use cpu_model::CpuModel;
use scenarios::Workload;

use crate::sched::fair::Fair;

/// Runs a workload on a CPU.
///
/// # Errors
/// When the workload deadlocks, never lets time pass, or does not fit the machine.
pub fn run(cpu: &CpuModel, workload: &Workload, config: &Config) -> Result<Outcome, SimError> {
    match config.scheduler {
        Scheduler::Fair { compensation, queues } => {
            engine::run(cpu, workload, config, |world| Fair::new(world, compensation, queues))
        }
        Scheduler::Cfs | Scheduler::Eevdf(_) | Scheduler::Muqss { .. } => {
            Err(SimError::Machine(format!("no model of {}", config.scheduler.name())))
        }
    }
}

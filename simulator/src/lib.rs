//! Deterministic simulation of schedulers on power-limited CPUs.
//!
//! One discrete-event engine in whole nanoseconds; no float, hash order, clock or
//! thread inside a run: the same workload, CPU, configuration and seed give the
//! same outcome to the last bit.

mod arrivals;
mod clocks;
mod config;
mod cpu;
pub mod custom;
mod domain;
mod engine;
mod error;
mod holds;
mod operator;
mod outcome;
mod random;
mod rate;
mod recorder;
mod refuse;
mod sched;
mod scx_source;
mod sensors;
mod task;
#[cfg(test)]
mod testing;
mod timers;
mod topology;
mod world;

pub use config::{
    CfsKernel, Compensation, Config, Costs, EevdfKernel, EvenParts, KernelMode, Newcomers,
    PhaseEnd, Queues, RqSharing, Scheduler, SensorFaults, SensorSet, Specialization,
};
pub use custom::{Custom, CustomScheduler};
pub use error::SimError;
pub use operator::{Operated, Operator, Reading, SliceCounts};
pub use outcome::{
    Loss, Outcome, PolicyEvent, PolicyRecord, Renewal, SpecializationCounts, TaskOutcome, WarmUp,
};
pub use scx_source::ScxSource;
pub use sensors::believed as believed_turbo;

use cpu_model::CpuModel;
use scenarios::Workload;

use crate::sched::cfs::{self, Cfs};
use crate::sched::custom::Checked;
use crate::sched::eevdf::{self, Eevdf};
use crate::sched::fair::Fair;
use crate::sched::fifo::Fifo;
use crate::sched::muqss::Muqss;
use crate::sched::percpu::PerCpu;
use crate::sched::percpu::cookies::CoreScheduling;
use crate::sched::percpu::machauer::Machauer;
#[cfg(feature = "scx")]
use crate::sched::scx::Scx;

/// Runs a workload on a CPU.
///
/// # Errors
/// When the workload deadlocks, never lets time pass, or does not fit the machine.
pub fn run(cpu: &CpuModel, workload: &Workload, config: &Config) -> Result<Outcome, SimError> {
    run_beside(cpu, workload, config, None)
}

/// The same beside an operator, who reads counters, pauses CPUs or switches core specialization.
///
/// # Errors
/// As [`run`]; [`SimError::NotSpecialized`]; [`SimError::PausedHistory`].
pub fn run_operated<'a>(
    cpu: &'a CpuModel,
    workload: &'a Workload,
    config: &'a Config,
    operator: &'a mut dyn Operator,
) -> Result<Outcome, SimError> {
    run_beside(cpu, workload, config, Some(operator))
}

fn run_beside<'a>(
    cpu: &'a CpuModel,
    workload: &'a Workload,
    config: &'a Config,
    operator: Option<&'a mut dyn Operator>,
) -> Result<Outcome, SimError> {
    match &config.scheduler {
        &Scheduler::Fair { compensation, queues, newcomers } => {
            engine::run(cpu, workload, config, operator, |world| {
                Ok(Fair::new(world, compensation, queues, newcomers))
            })
        }
        &Scheduler::Cfs(kernel) => engine::run(cpu, workload, config, operator, |world| {
            Ok(PerCpu::new(world, cfs::era(kernel), Cfs::new(world, kernel)))
        }),
        &Scheduler::CoreScheduling(kernel) => {
            engine::run(cpu, workload, config, operator, |world| {
                let kernel = PerCpu::new(world, cfs::era(kernel), Cfs::new(world, kernel));
                Ok(CoreScheduling::new(world, kernel))
            })
        }
        &Scheduler::Machauer { kernel, applies } => {
            engine::run(cpu, workload, config, operator, |world| {
                let kernel = PerCpu::new(world, cfs::era(kernel), Cfs::new(world, kernel));
                Ok(Machauer::new(world, kernel, applies))
            })
        }
        &Scheduler::Eevdf(kernel) => engine::run(cpu, workload, config, operator, |world| {
            Ok(PerCpu::new(world, eevdf::era(kernel), Eevdf::new(world, kernel)))
        }),
        &Scheduler::Fifo => {
            engine::run(cpu, workload, config, operator, |world| Ok(Fifo::new(world)))
        }
        &Scheduler::Muqss { rq_sharing, interactive } => {
            engine::run(cpu, workload, config, operator, |world| {
                Ok(Muqss::new(world, rq_sharing, interactive))
            })
        }
        &Scheduler::Specialize(settings) => engine::run(cpu, workload, config, operator, |world| {
            Muqss::specialized(world, settings)
        }),
        &Scheduler::FairSpecialize(settings) => {
            engine::run(cpu, workload, config, operator, |world| Fair::specialized(world, settings))
        }
        Scheduler::Custom(custom) => engine::run(cpu, workload, config, operator, |world| {
            Ok(Checked::new(world, workload, custom))
        }),
        #[cfg(feature = "scx")]
        Scheduler::ScxSource(source) => engine::run(cpu, workload, config, operator, |world| {
            Scx::foreign(world, workload, source.object())
        }),
        #[cfg(feature = "scx")]
        &Scheduler::Scx(mode) => {
            engine::run(cpu, workload, config, operator, |world| Scx::new(world, workload, mode))
        }
        #[cfg(not(feature = "scx"))]
        Scheduler::Scx(_) | Scheduler::ScxSource(_) => Err(SimError::Machine(
            "this build has no schedulers of the kernel (feature scx)".into(),
        )),
    }
}

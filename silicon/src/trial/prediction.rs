//! The simulator's prediction for the same pair.

use cpu_model::{Class, CpuModel};
use scenarios::{Application, CpuSet, Draw, Role, Spread, Step, Thread, Work, Workload};
use serde::Serialize;
use simulator::{Config, SimError};

use super::Place;

/// Classes and places of a pair.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where.
    pub place: Place,
    /// The victim's class, executed without pause.
    pub victim: Class,
    /// The culprit's class, executed without pause.
    pub culprit: Class,
    /// The class of the culprit's control.
    pub control: Class,
}

/// The model's prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Change of the victim's progress a CPU second, in percent.
    pub change_pct: f64,
}

/// A stream at full rate has at least one instruction of its class a cycle.
const FULL_RATE_PERMILLE: u32 = 1000;

/// Runs both forms under a scheduler and compares; `config` says under which, and for how long.
///
/// # Errors
/// When the simulator refuses the setting.
pub fn predict(setting: &Setting, cpu: &CpuModel, config: &Config) -> Result<Prediction, SimError> {
    let rate = |culprit| -> Result<f64, SimError> {
        let outcome = simulator::run(cpu, &workload(setting, culprit), config)?;
        let victim = &outcome.tasks[0];
        Ok(victim.ref_cycles as f64 / victim.cpu_time_ns as f64)
    };
    Ok(Prediction { change_pct: (rate(setting.culprit)? / rate(setting.control)? - 1.0) * 100.0 })
}

fn workload(setting: &Setting, culprit: Class) -> Workload {
    let application =
        |name: &str, class| Application { name: name.to_owned(), role: Role::Foreground, class };
    Workload {
        machine: setting.place.machine(),
        applications: vec![application("victim", setting.victim), application("culprit", culprit)],
        threads: vec![
            spinner(0, "victim", setting.victim, 0),
            spinner(1, "culprit", culprit, setting.place.culprit_cpu()),
        ],
        barriers: Vec::new(),
        locks: 0,
        semaphores: 0,
        channels: 0,
    }
}

fn spinner(application: u32, name: &str, class: Class, cpu: u32) -> Thread {
    let work = Work {
        ref_cycles: Draw { mean: 1_000_000_000, spread: Spread::Fixed },
        class,
        rate_permille: if class == Class::Scalar { 0 } else { FULL_RATE_PERMILLE },
        stall_permille: 0,
        integer: false,
        working_set_kib: 0,
    };
    Thread {
        application,
        name: name.to_owned(),
        nice: 0,
        affinity: CpuSet { cpus: vec![cpu] },
        arrival_ns: 0,
        was_on: None,
        stream: u64::from(application),
        enrolled: true,
        ruled_class: None,
        program: vec![Step::Compute(work), Step::Loop { to: 0, times: None }],
    }
}

//! Workloads as data: the programs of tasks, from a scenario file or a recording.

mod claim;
mod compile;
mod deadlock;
mod embedded;
mod error;
mod fields;
mod mix;
mod number;
mod parse;
mod phase;
mod program;
mod random;
mod read;
mod replay;
mod rt_app;
mod scenario;
mod workload;

pub use claim::{Claim, Figure, METRICS, within};
pub use embedded::{by_name, names};
pub use error::{SCHEMA, ScenarioError};
pub use mix::{development_seed, held_out_seed, mix};
pub use replay::{Repetition, ReplayError, ReplayOptions, ReplayReport, from_recording, repeat};
pub use scenario::{
    CPUS_MAX, Case, ForegroundMode, MachineDefaults, Run, Scenario, Start, THREADS_MAX,
};
pub use workload::{
    Application, Barrier, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload,
};

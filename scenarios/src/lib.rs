//! Workloads as data: what the tasks of a machine do, from a scenario file or a recording.

mod workload;

pub use workload::{
    Application, Barrier, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload,
};

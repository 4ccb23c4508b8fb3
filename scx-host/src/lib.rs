//! sched_ext without a kernel: runs the BPF source of a scheduler natively and deterministically.
//!
//! An [`Object`] is a scheduler that was compiled twice: for this machine, and for BPF, whose BTF
//! describes the maps and structures. A [`Host`] is a loaded copy with tasks and CPUs of its own.
//! The caller passes each event (a task wakes, a CPU chooses, time goes on), and the host calls the
//! scheduler's operations in the order in which a kernel does. The work of tasks is the caller's.

mod abi;
mod bpf;
mod btf;
mod change;
mod compile;
mod cpus;
mod dsq;
mod evenkeel;
mod exit;
mod faults;
mod guard;
mod host;
mod idle;
mod image;
mod kfuncs;
mod layout;
mod maps;
mod memory;
mod object;
mod objects;
mod ops;
mod queries;
mod schedule;
mod state;
mod timers;
mod topology;
mod watchdog;

pub use compile::{CompileError, compile};
pub use evenkeel::{evenkeel, load_evenkeel};
pub use exit::{Exit, ExitKind};
pub use faults::Faults;
pub use host::{Host, LoadError, TaskSpec};
pub use maps::{Counted, MapError};
pub use object::{Object, ObjectError};
pub use schedule::{Choice, Waker};
pub use scheduler::counters::Counter;
pub use scheduler::interface::{
    Compensation, Config, CoreRule, EVENTS, HardwareEvent, Part, Sensor, Specialization, is_wide,
};
pub use state::Counts;
pub use topology::Topology;

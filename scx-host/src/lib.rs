//! sched_ext without a kernel: runs the BPF source of a scheduler natively and deterministically.
//!
//! An [`Object`] is a scheduler as it was compiled, once for this machine and once for BPF, whose
//! types tell what its maps and structures are. A [`Host`] is a loaded copy with tasks and CPUs of
//! its own. Whoever drives it says what happens (a task wakes, a CPU chooses, time goes on); the
//! host calls the scheduler in the order in which a kernel does. It knows nothing of what tasks do.

mod abi;
mod bpf;
mod btf;
mod change;
mod cpus;
mod dsq;
mod evenkeel;
mod exit;
mod faults;
mod host;
mod idle;
mod image;
mod kfuncs;
mod layout;
mod maps;
mod memory;
mod object;
mod ops;
mod schedule;
mod seen;
mod state;
mod timers;
mod topology;

pub use evenkeel::{evenkeel, load_evenkeel};
pub use exit::{Exit, ExitKind};
pub use faults::Faults;
pub use host::{Host, LoadError, TaskSpec};
pub use maps::{Counted, MapError};
pub use object::{Object, ObjectError};
pub use schedule::{Choice, Waker};
pub use scheduler::interface::{Compensation, Config, EVENTS, HardwareEvent, Part, Sensor};
pub use state::Counts;
pub use topology::Topology;

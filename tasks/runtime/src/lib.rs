//! A task runtime for very small tasks.
//!
//! ```
//! use evenkeel_runtime::scope;
//!
//! let mut halves = [0_u64; 2];
//! let (low, high) = halves.split_at_mut(1);
//! scope(|s| {
//!     s.spawn(|_| low[0] = (0..1000).sum());
//!     s.spawn(|_| high[0] = (1000..2000).sum());
//! });
//! assert_eq!(halves.iter().sum::<u64>(), (0..2000).sum());
//! ```
//!
//! Tasks share [`Data`]. Each task declares the data that its code reads and writes, and runs after
//! all earlier tasks that conflict with these declarations. The declarations alone give the task
//! graph.
//!
//! ```
//! use evenkeel_runtime::{Data, scope};
//!
//! let (low, high, all) = (Data::new(0_u64), Data::new(0_u64), Data::new(0_u64));
//! scope(|s| {
//!     s.task().output(&low).spawn(|low| *low = (0..1000).sum());
//!     s.task().output(&high).spawn(|high| *high = (1000..2000).sum()); // beside it
//!     let sum = s.task().input(&low).input(&high).output(&all); // after both
//!     sum.spawn(|low, high, all| *all = low + high);
//! });
//! assert_eq!(all.into_inner(), (0..2000).sum());
//! ```
//!
//! The body of a task gets its data as arguments, in the order of the declarations, and reaches
//! them in no other way: the compiler refuses a body that captures `low`, and names the declaration
//! to write.
//!
//! ```compile_fail,E0277
//! # use evenkeel_runtime::{Data, scope};
//! let low = Data::new(0_u64);
//! scope(|s| s.spawn(|_| drop(&low))); // a task uses `Data<u64>`, and does not say so
//! ```
//!
//! A task declares at most six (a seventh is `no method named inout found`). Values that tasks use
//! together are one `Data`: a struct, a tuple or an array. Of a slice, each task declares the range
//! that its code uses ([`Data::from_slice`]).
//!
//! ```compile_fail,E0599
//! # use evenkeel_runtime::{Data, scope};
//! let all: [Data<u64>; 7] = std::array::from_fn(|_| Data::new(0));
//! let [a, b, c, d, e, f, g] = &all;
//! scope(|s| drop(s.task().inout(a).inout(b).inout(c).inout(d).inout(e).inout(f).inout(g)));
//! ```
//!
//! Values that tasks borrow live longer than the scope; so do those that tasks of a
//! [`Scope::group`] borrow, although the group waits for its tasks. Tasks cannot borrow a variable
//! of the group's own body, or of the scope's. Create such a variable before the scope, or open
//! another `scope` for its tasks, which waits for them and shares no data with the scope around.
//!
//! ```compile_fail,E0373
//! # use evenkeel_runtime::scope;
//! scope(|s| s.group(|s| {
//!     let own = 1;
//!     s.spawn(|_| println!("{}", &own)); // closure may outlive, but borrows `own`
//! }));
//! ```
//!
//! ```
//! # use evenkeel_runtime::{Data, scope};
//! let sum = Data::new(0);
//! scope(|s| {
//!     s.group(|s| s.task().inout(&sum).spawn(|sum| *sum += 1)); // lives longer than `s`
//!     let own = Data::new(0);
//!     scope(|s| s.task().inout(&own).spawn(|own| *own += 1));
//!     assert_eq!(own.into_inner(), 1);
//! });
//! assert_eq!(sum.into_inner(), 1);
//! ```
//!
//! The scheduler is the tree of queues of M. Marí's thesis (*Improving the scheduler of the OmpSs-2
//! runtime*, UPC 2018; "N"), with changes of ours. [`Config`] chooses between the two, and has the
//! central queue that the thesis began with.
//!
//! # Layers
//!
//! A module uses modules of its own line and of earlier lines, never of later ones. No cycle
//! of more than two files is allowed.
//!
//! 1. `sync`, `notice`, `fork`, `hash`, `limits`, `symbols`, `topology`, `variables`: the machine,
//!    the system and the program's environment.
//! 2. `memory`, `inbox`, `parker`, `queued`: blocks, lists and sleep, and the head of queued work,
//!    which knows neither task nor worker.
//! 3. `scheduler`: the scheduler, which keeps queued work, and runs none.
//! 4. `class`, `grain`: what the runtime learns of a task by its function.
//! 5. `instrument`: instrumentation.
//! 6. `children`, `access`, `task`: counts of children, dependences, and the task with both.
//! 7. `wait`, `panics`, `deadlock`: the waiting tasks, their stacks, and whether they wait for
//!    ever.
//! 8. `config`, `slots`, `shared`: state that all workers of a runtime share.
//! 9. `worker`: creates, takes, runs and finishes tasks on one thread.
//! 10. `pool`, `external`: a runtime of workers, and how external threads enter one.
//! 11. `event`, `join`, `over`, `scope`, `data`, `parts`: the interface of programs.
//! 12. `internal`, `debug`: the interface of the sister crates.

#![warn(missing_debug_implementations)]

mod access;
mod children;
mod class;
mod config;
mod data;
mod deadlock;
mod debug;
mod event;
mod external;
mod fork;
mod grain;
mod hash;
mod inbox;
mod instrument;
#[doc(hidden)]
pub mod internal;
mod join;
mod limits;
mod memory;
mod notice;
mod over;
mod panics;
mod parker;
mod parts;
mod pool;
mod queued;
/// Which task runs next, and where.
pub mod scheduler;
mod scope;
mod shared;
mod slots;
mod symbols;
mod sync;
mod task;
mod topology;
mod variables;
mod wait;
mod worker;

pub use access::Kind;
pub use class::{Placement, WideCpus};
pub use config::{Config, ConfigError};
pub use data::{
    Argument, Commutative, Concurrent, Data, InOut, Input, Lends, TaskBuilder, WeakInOut, WeakInput,
};
pub use event::{Event, Resume};
pub use instrument::Watch;
pub use join::join;
pub use memory::Memory;
pub use over::{Chunks, Divide, Over, over};
pub use parts::{ConcurrentOf, InOutOf, InputOf};
pub use pool::{Builder, Runtime};
pub use scope::{Scope, scope};
pub use topology::{CpuList, CpuListError, Topology, TopologyError};

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

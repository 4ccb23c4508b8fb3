//! Which tasks are wide, and which workers prefer them.
//!
//! A task that runs 512-bit instructions lowers the clock of its core for the next thread on that
//! core. Wide tasks, declared or learned, wait in a queue of their own. Workers on some CPUs take
//! them before all else; other workers take none, unless no worker prefers them, or a task has
//! waited so long that an idle core is the greater loss.

mod environment;
mod learned;
#[cfg(all(test, loom))]
mod loom_tests;
mod placement;
mod queue;
mod registers;
mod set_file;
mod sleepers;
#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests;
mod wide_tasks;

pub use placement::{Placement, WideCpus};
pub(crate) use registers::Registers;
pub use wide_tasks::Why;
pub(crate) use wide_tasks::WideTasks;

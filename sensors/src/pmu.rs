//! The PMU of this machine: which events answer which question, and their counters.
//!
//! | Question | Where |
//! |---|---|
//! | What can be asked, and which event of a CPU answers? | `events.rs`, `table.rs` (generated) |
//! | Which microarchitecture is a CPU? | `cpu.rs` |
//! | How does perf name an event? | `code.rs`, `device.rs` |
//! | How is an event opened and read? | `counter.rs` |
//! | What happened on a CPU? | `reader.rs` |
//! | What does a CPU answer at which cost, and what stays unknown? | `offer.rs` |
//! | Why can an event not be counted, and what is to be done? | `refusal.rs` |

mod code;
mod counter;
mod cpu;
mod device;
mod events;
mod offer;
mod reader;
mod refusal;
#[rustfmt::skip]
mod table;

pub use code::Code;
pub use counter::{Counts, EVENTS_MAX, Group, ReadError};
pub use cpu::{CpuId, microarchitectures};
pub use device::{DeviceEvent, FOLDER, aperf_mperf, device_event};
pub use events::{Event, Microarchitecture, Model, Question, Scope, code};
pub use offer::Offer;
pub use reader::{Clock, ClockReading, CpuCounters, Energy, Reading};
pub use refusal::{Circumstances, Refusal};

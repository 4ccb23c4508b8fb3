//! Records schedules: a BPF program writes fixed records, which become a history as they come.
//!
//! | Question | Where |
//! |---|---|
//! | Which events, and which fields of the kernel? | `recorder.bpf.c` |
//! | Which messages? | `messages.bpf.h` |
//! | Which counters are read at a switch? | `counted.rs`, `counters.rs` |
//! | How is it loaded and read? | `bpf.rs` |
//! | What is a record? | `record.rs` |
//! | Which stacks are the same? | `stacks.rs` |
//! | How do records become a history? | `follow.rs`, `tasks.rs` |

mod counted;
mod follow;
mod record;
mod stacks;
mod tasks;

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(feature = "bpf")]
mod counters;

pub use counted::{COUNTED, counted};
pub use follow::{COOKIE_END, COOKIE_NESTS, Follower, Met, Pause};
pub use record::{COUNTERS_MAX, Description, Kind, Raw, addresses};
pub use stacks::{Stack, Stacks};

#[cfg(feature = "bpf")]
pub use bpf::{Mark, RecordError, Recorder, Wanted};
#[cfg(feature = "bpf")]
pub use counters::Counters;

//! OMPT: a tool in the process hears what the program does.
//!
//! A program that has no tool pays for one look at [`is_on`] where something could be told. What is
//! told, and how the caller is found, is behind that look, out of line.
//!
//! Events have the numbers of OpenMP 5.1. Barriers without a directive are of one kind,
//! `ompt_sync_region_barrier_implicit`, as with libomp 14.

pub(crate) mod abi;
pub(crate) mod callbacks;
pub(crate) mod caller;
mod dependences;
pub(crate) mod find;
mod log;
pub(crate) mod records;
mod regions;
mod tasks;
mod threads;
mod waits;
mod work;

use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use abi::Work;
pub(crate) use records::RegionRecord;
pub(crate) use regions::{
    Part, asks_for, call, exit_frame, implicit_begins, implicit_ends, league_begins, league_ends,
    region_barrier, region_begins, region_ends, serial_exit, team_begins, team_ends,
};
pub(crate) use tasks::{
    CodeEnd, RECORD_BYTES, begins, creates, ends, fulfils, if0_begins, if0_ends, is_untied,
    taskwait_depends, write_record,
};
pub(crate) use threads::{becomes_worker, thread_begins, thread_ends};
pub(crate) use waits::{Wait, group_begins, waits};
pub(crate) use work::{
    At, cancelled, doacross_posts, doacross_waits, flushed, masked, reduces, works,
};

/// Whether there is a tool. Written before the first region begins, and when the tool ends.
/// Nothing else that is written lies beside it.
static ON: Apart = Apart(AtomicBool::new(false));

#[repr(align(128))]
struct Apart(AtomicBool);

/// Whether a tool wants to hear.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    ON.0.load(Ordering::Relaxed)
}

//! Constructs that divide work, and small ones: `masked`, reductions, `flush`, `cancel`, and
//! `ordered` with dependences.

use super::abi::{Depends, Endpoint, Work, state, sync};
use super::callbacks::{CANCEL, DEPENDENCES, FLUSH, MASKED, REDUCTION, WORK};
use super::caller::Caller;
use super::records::{TaskRecord, ThreadRecord};

/// A part of a construct begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Begin,
    End,
}

impl From<At> for Endpoint {
    fn from(at: At) -> Self {
        match at {
            At::Begin => Self::Begin,
            At::End => Self::End,
        }
    }
}

/// The thread comes to a construct with `count` parts, or leaves it.
#[cold]
#[inline(never)]
fn works_with_ompt(work: Work, at: At, count: u64) {
    let Some((_, task)) = ThreadRecord::running() else { return };
    let caller = Caller::find();
    let is_loop = matches!(work, Work::Loop | Work::Sections | Work::Distribute);
    let begun = if is_loop { task.work.take() } else { None };
    match (at, begun) {
        (At::Begin, left) => {
            if let Some(left) = left {
                tell(task, left, At::End, 0, Caller::NONE);
            }
            task.work.set(if is_loop { Some(work) } else { task.work.get() });
            tell(task, work, at, count, caller);
        }
        // A loop ends as the construct that it began as. A loop that was left in another way has
        // ended before.
        (At::End, Some(begun)) => tell(task, begun, at, count, caller),
        (At::End, None) if is_loop => {}
        (At::End, None) => tell(task, work, at, count, caller),
    }
}

fn tell(task: &TaskRecord, work: Work, at: At, count: u64, caller: Caller) {
    WORK.tell(|function| {
        let (region, data) = (task.region_data(), task.data.get());
        // SAFETY: the tool's function takes this.
        unsafe { function(work as i32, at.into(), region, data, count, caller.code) };
    });
}

/// Ends the loop that the task is in, if the thread left the loop without a call: cancelled, or
/// with its region.
pub(crate) fn leaves(task: &TaskRecord) {
    if let Some(left) = task.work.take() {
        tell(task, left, At::End, 0, Caller::NONE);
    }
}

/// The thread comes to a work-sharing construct or leaves it. `what` returns the construct and the
/// number of its parts, and is called if a tool hears of them.
#[inline(always)]
pub(crate) fn works(at: At, what: impl FnOnce() -> (Work, u64)) {
    if super::is_on() {
        let (work, count) = what();
        works_with_ompt(work, at, count);
    }
}

/// `ompt_dependence_type_source`.
const SOURCE: i32 = 5;
/// `ompt_dependence_type_sink`.
const SINK: i32 = 6;

/// clang's flag of `sections`.
const SECTIONS: i32 = 0x400;
/// clang's flag of `distribute`.
const DISTRIBUTE: i32 = 0x800;

impl Work {
    /// The construct that has these flags in its place.
    pub(crate) fn of_kmp(flags: i32) -> Self {
        match flags {
            flags if flags & SECTIONS != 0 => Self::Sections,
            flags if flags & DISTRIBUTE != 0 => Self::Distribute,
            _ => Self::Loop,
        }
    }
}

/// The thread begins or ends a `masked` part, if `is_it` is the thread that runs the part.
#[inline(always)]
pub(crate) fn masked(at: At, is_it: bool) -> bool {
    if is_it && super::is_on() {
        masked_with_ompt(at);
    }
    is_it
}

#[cold]
#[inline(never)]
fn masked_with_ompt(at: At) {
    let Some((_, task)) = ThreadRecord::running() else { return };
    MASKED.tell(|function| {
        let (region, data) = (task.region_data(), task.data.get());
        // SAFETY: the tool's function takes this.
        unsafe { function(at.into(), region, data, Caller::find().code) };
    });
}

/// The thread brings its part of a reduction in.
#[cold]
#[inline(never)]
pub(crate) fn reduces(at: At) {
    let Some((thread, task)) = ThreadRecord::running() else { return };
    thread.waits((at == At::Begin).then_some(state::REDUCTION), 0);
    REDUCTION.tell(|function| {
        let (region, data) = (task.region_data(), task.data.get());
        let code = Caller::find().code;
        // SAFETY: the tool's function takes this.
        unsafe { function(sync::REDUCTION, at.into(), region, data, code) };
    });
}

/// Memory is the same for all threads here.
#[cold]
#[inline(never)]
pub(crate) fn flushed() {
    let Some(thread) = ThreadRecord::known() else { return };
    // SAFETY: the tool's function takes this.
    FLUSH.tell(|function| unsafe { function(thread.data.get(), Caller::find().code) });
}

/// A construct was cancelled by the running task, or the task finds that out.
#[cold]
#[inline(never)]
pub(crate) fn cancelled(flags: i32) {
    let Some((_, task)) = ThreadRecord::running() else { return };
    let code = Caller::find().code;
    // SAFETY: the tool's function takes this.
    CANCEL.tell(|function| unsafe { function(task.data.get(), flags, code) });
}

/// An iteration of loops that wait for each other is done.
#[cold]
pub(crate) fn doacross_posts(at: impl Iterator<Item = u64>) {
    doacross(at, SOURCE);
}

/// An iteration waits for another one.
#[cold]
pub(crate) fn doacross_waits(at: impl Iterator<Item = u64>) {
    doacross(at, SINK);
}

fn doacross(at: impl Iterator<Item = u64>, kind: i32) {
    let Some((_, task)) = ThreadRecord::running() else { return };
    DEPENDENCES.tell(|function| {
        let all: Vec<Depends> = at.map(|variable| Depends { variable, kind }).collect();
        // SAFETY: the tool's function takes this.
        unsafe { function(task.data.get(), all.as_ptr(), all.len() as i32) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_says_which_construct_it_is() {
        let kinds = [0x202, 0x402, 0x802, 0x2].map(Work::of_kmp);
        assert_eq!(kinds, [Work::Loop, Work::Sections, Work::Distribute, Work::Loop]);
    }
}

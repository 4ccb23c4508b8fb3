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

/// The thread comes to a construct with so many parts, or leaves it.
#[cold]
#[inline(never)]
fn told(work: Work, at: At, count: u64) {
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
        // It ends as what it began as. What was left otherwise has ended before.
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

/// The loop ends that the task is in, if it was left without a word: cancelled, or with its
/// region.
pub(crate) fn leaves(task: &TaskRecord) {
    if let Some(left) = task.work.take() {
        tell(task, left, At::End, 0, Caller::NONE);
    }
}

/// As above; `what` says which construct it is, and how many parts.
#[inline(always)]
pub(crate) fn works(at: At, what: impl FnOnce() -> (Work, u64)) {
    if super::is_on() {
        let (work, count) = what();
        told(work, at, count);
    }
}

/// `ompt_dependence_type_source` and `ompt_dependence_type_sink`.
const SOURCE: i32 = 5;
/// As above.
const SINK: i32 = 6;

/// What clang says of a place: it is of sections.
const SECTIONS: i32 = 0x400;
/// It is of `distribute`.
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

/// The thread runs the part that one thread of the region runs, if it does.
#[inline(always)]
pub(crate) fn masked(at: At, is_it: bool) -> bool {
    if is_it && super::is_on() {
        told_masked(at);
    }
    is_it
}

#[cold]
#[inline(never)]
fn told_masked(at: At) {
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

/// A construct was cancelled by the running task, or it sees that it was.
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

/// It waits for another.
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

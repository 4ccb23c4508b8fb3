//! Barriers, `taskwait` and `taskgroup`.

use super::abi::{Endpoint, state, sync};
use super::callbacks::{SYNC_REGION, SYNC_REGION_WAIT};
use super::caller::Caller;
use super::records::{TaskRecord, ThreadRecord};
use super::work;

/// The kinds of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A barrier without a directive.
    Implicit,
    /// `barrier`.
    Explicit,
    /// A barrier that a construct needs here.
    Implementation,
    Taskwait,
    Taskgroup,
}

/// clang's flag of a `barrier` directive.
const EXPLICIT: i32 = 0x20;
/// clang's flag of a barrier at the end of a construct.
const IMPLICIT: i32 = 0x40;

impl Wait {
    /// The barrier that has these flags in its place.
    pub(crate) fn of_kmp(flags: i32) -> Self {
        match flags {
            flags if flags & EXPLICIT != 0 => Self::Explicit,
            flags if flags & IMPLICIT != 0 => Self::Implicit,
            _ => Self::Implementation,
        }
    }

    fn kind(self) -> i32 {
        match self {
            Self::Implicit => sync::IMPLICIT,
            Self::Explicit => sync::EXPLICIT,
            Self::Implementation => sync::IMPLEMENTATION,
            Self::Taskwait => sync::TASKWAIT,
            Self::Taskgroup => sync::TASKGROUP,
        }
    }

    fn state(self) -> i32 {
        match self {
            Self::Implicit => state::BARRIER_IMPLICIT,
            Self::Explicit => state::BARRIER_EXPLICIT,
            Self::Implementation => state::BARRIER_IMPLEMENTATION,
            Self::Taskwait => state::TASKWAIT,
            Self::Taskgroup => state::TASKGROUP,
        }
    }
}

/// Calls `run`, which waits so.
#[inline(always)]
pub(crate) fn waits<R>(wait: impl FnOnce() -> Wait, run: impl FnOnce() -> R) -> R {
    if super::is_on() { waits_with_ompt(wait(), run) } else { run() }
}

#[cold]
#[inline(never)]
fn waits_with_ompt<R>(wait: Wait, run: impl FnOnce() -> R) -> R {
    let Some((thread, task)) = ThreadRecord::running() else { return run() };
    let caller = Caller::find();
    if !matches!(wait, Wait::Taskwait | Wait::Taskgroup) {
        // No barrier is in a loop.
        work::leaves(task);
    }
    task.enters(caller);
    if wait != Wait::Taskgroup {
        tell(&SYNC_REGION, wait, Endpoint::Begin, task, caller);
    }
    tell(&SYNC_REGION_WAIT, wait, Endpoint::Begin, task, caller);
    let before = thread.waits(Some(wait.state()), 0);
    let result = run();
    thread.waits(before, 0);
    tell(&SYNC_REGION_WAIT, wait, Endpoint::End, task, caller);
    tell(&SYNC_REGION, wait, Endpoint::End, task, caller);
    task.returns();
    result
}

/// The running task begins a taskgroup, at whose end it [waits].
#[cold]
pub(crate) fn group_begins() {
    if let Some((_, task)) = ThreadRecord::running() {
        tell(&SYNC_REGION, Wait::Taskgroup, Endpoint::Begin, task, Caller::find());
    }
}

fn tell(
    event: &super::callbacks::SyncEvent,
    wait: Wait,
    endpoint: Endpoint,
    task: &TaskRecord,
    caller: Caller,
) {
    event.tell(|function| {
        let (region, data) = (task.region_data(), task.data.get());
        // SAFETY: the tool's function takes this.
        unsafe { function(wait.kind(), endpoint, region, data, caller.code) };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_says_which_barrier_it_is() {
        // At the end of sections and of `single` other bits are set, too.
        let kinds = [0x20, 0x40, 0xc2, 0x142, 0x2].map(Wait::of_kmp);
        let implicit = Wait::Implicit;
        assert_eq!(kinds, [Wait::Explicit, implicit, implicit, implicit, Wait::Implementation]);
    }
}

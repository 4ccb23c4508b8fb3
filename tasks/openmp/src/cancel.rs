//! Cancellation, if `OMP_CANCELLATION` allows.
//!
//! The program's code leaves a cancelled construct by itself: the calls here return whether to
//! leave, and wake waiting threads.

pub(crate) mod used;

use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering;

use crate::flag::Flag;
use crate::ident::{Ident, flags};
use crate::ompt::{self, Wait};
use crate::region::Member;
use crate::registration::member;
use crate::settings::settings;
use crate::task::header::Group;

/// The constructs that can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Construct {
    Region,
    Loop,
    Sections,
    Group,
}

/// `ompt_cancel_activated`: a construct is cancelled here.
const ACTIVATED: i32 = 0x10;
/// `ompt_cancel_detected`: a thread finds a construct cancelled.
const DETECTED: i32 = 0x20;

impl Construct {
    fn of_kmp(kind: i32) -> Option<Self> {
        match kind {
            1 => Some(Self::Region),
            2 => Some(Self::Loop),
            3 => Some(Self::Sections),
            4 => Some(Self::Group),
            _ => None,
        }
    }

    fn of_gomp(kind: c_int) -> Option<Self> {
        match kind {
            1 => Some(Self::Region),
            2 => Some(Self::Loop),
            4 => Some(Self::Sections),
            8 => Some(Self::Group),
            _ => None,
        }
    }

    /// `ompt_cancel_flag_t`.
    fn number(self) -> i32 {
        match self {
            Self::Region => 1,
            Self::Sections => 2,
            Self::Loop => 4,
            Self::Group => 8,
        }
    }

    /// Cancels the innermost such construct. Returns whether the thread is to leave.
    fn cancel(self, member: &Member) -> bool {
        let is_cancelled = self.cancel_without_ompt(member);
        if is_cancelled && ompt::is_on() {
            ompt::cancelled(self.number() | ACTIVATED);
        }
        is_cancelled
    }

    /// Whether the innermost such construct was cancelled, and the thread is to leave.
    fn is_met_cancelled(self, member: &Member) -> bool {
        let is_cancelled = self.is_cancelled(member);
        if is_cancelled && ompt::is_on() {
            ompt::cancelled(self.number() | DETECTED);
        }
        is_cancelled
    }

    fn cancel_without_ompt(self, member: &Member) -> bool {
        if !settings().cancellation {
            return false;
        }
        let region = member.region();
        used::uses();
        match self {
            Self::Region => {
                region.is_cancelled.store(true, Ordering::Release);
                if let Some(team) = member.team() {
                    team.tasks().wake();
                }
            }
            Self::Loop | Self::Sections => {
                region.is_work_cancelled.store(true, Ordering::Release);
                member.work.give_out_all();
            }
            Self::Group => {
                return member.group().is_some_and(Group::cancel);
            }
        }
        true
    }

    /// Whether the innermost one was cancelled.
    fn is_cancelled(self, member: &Member) -> bool {
        if !settings().cancellation {
            return false;
        }
        let region = member.region();
        match self {
            Self::Region => region.is_cancelled.load(Ordering::Acquire),
            Self::Loop | Self::Sections => region.is_work_cancelled.load(Ordering::Acquire),
            Self::Group => member.task().is_cancelled(),
        }
    }
}

/// gcc: cancels a construct if `is_so`. Returns whether the thread is to leave.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_cancel(kind: c_int, is_so: Flag) -> bool {
    if !is_so.is_set() {
        return GOMP_cancellation_point(kind);
    }
    Construct::of_gomp(kind).is_some_and(|construct| construct.cancel(member()))
}

/// gcc: whether the thread is to leave a construct.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_cancellation_point(kind: c_int) -> bool {
    Construct::of_gomp(kind).is_some_and(|construct| construct.is_met_cancelled(member()))
}

/// gcc: waits for all threads of the region. Returns whether the region was cancelled.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_barrier_cancel() -> bool {
    let member = member();
    ompt::waits(|| Wait::Explicit, || member.barrier())
}

/// clang: cancels a construct. Returns whether the thread is to leave.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_cancel(_where: *mut Ident, _thread: i32, kind: i32) -> i32 {
    Construct::of_kmp(kind).is_some_and(|construct| construct.cancel(member())).into()
}

/// clang: whether the thread is to leave a construct.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_cancellationpoint(_where: *mut Ident, _thread: i32, kind: i32) -> i32 {
    Construct::of_kmp(kind).is_some_and(|construct| construct.is_met_cancelled(member())).into()
}

/// clang: waits for all threads of the region. Returns whether the region was cancelled.
///
/// # Safety
/// `place` is null, or points to clang's constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_cancel_barrier(place: *mut Ident, _thread: i32) -> i32 {
    let member = member();
    // SAFETY: the place is null, or clang's.
    ompt::waits(|| Wait::of_kmp(unsafe { flags(place) }), || member.barrier()).into()
}

/// clang: whether a construct was cancelled.
#[unsafe(no_mangle)]
pub extern "C" fn kmp_get_cancellation_status(kind: c_uint) -> c_int {
    let construct = Construct::of_kmp(kind as i32);
    construct.is_some_and(|construct| construct.is_cancelled(member())).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_variable_nothing_is_cancelled() {
        assert!(!Construct::Region.cancel(member()) && !GOMP_cancellation_point(1));
        assert_eq!(__kmpc_cancel(std::ptr::null_mut(), 0, 4), 0);
    }

    #[test]
    fn both_compilers_name_the_same_constructs() {
        let gomp = [1, 2, 4, 8].map(Construct::of_gomp);
        assert_eq!([1, 2, 3, 4].map(Construct::of_kmp), gomp);
    }
}

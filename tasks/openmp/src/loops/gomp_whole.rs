//! gcc's calls that begin a loop with the data that its threads share.

use std::ffi::{c_long, c_ulonglong, c_void};

use super::gomp;
use crate::flag::Flag;
use crate::iterations::{Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::Member;
use crate::region::work::LoopOptions;
use crate::registration::member;
use crate::task::reduction_gomp;

/// The data that a loop's threads share besides iterations.
#[derive(Clone, Copy)]
pub(super) struct Besides {
    /// gcc's lists of task reductions; null without any.
    pub reductions: *mut usize,
    /// How many bytes of zeros are wanted, and then where they are; null if none are.
    pub zeros: *mut *mut c_void,
}

impl Besides {
    /// The loop's clauses, with these data.
    pub(super) fn asked(&self, asked: LoopOptions) -> LoopOptions {
        let shares = !self.reductions.is_null() || !self.zeros.is_null();
        LoopOptions { shares, ..asked }
    }

    /// The thread has come to the loop.
    ///
    /// # Safety
    /// Both pointers are those that the compiler passes for the loop.
    pub(super) unsafe fn share(&self, member: &Member) {
        // SAFETY: both pointers are those that the compiler passes for the loop.
        unsafe {
            if !self.reductions.is_null() {
                reduction_gomp::share(member, member.work.share(), self.reductions);
            }
            if let Some(zeros) = self.zeros.as_mut() {
                *zeros = member.zeros(zeros.addr());
            }
        }
    }
}

/// # Safety
/// The arguments are those that the compiler passes; `from` is null where the program asks for the
/// first chunk later.
unsafe fn start<T: Index>(
    span: Span,
    asked: LoopOptions,
    (from, to): (*mut T, *mut T),
    besides: Besides,
) -> bool {
    let member = member();
    member.enter_loop(span, besides.asked(asked));
    ompt::works(At::Begin, || (Work::Loop, span.trips));
    // SAFETY: the arguments are those that the compiler passes.
    unsafe {
        besides.share(member);
        from.is_null() || gomp::give(member, from, to)
    }
}

/// Functions that begin a loop of which a number says how.
macro_rules! starts {
    ($($name:ident $ull:ident $is_ordered:expr;)*) => {$(
        /// A loop begins.
        ///
        /// # Safety
        /// The arguments are those that the compiler passes for this construct.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            start: c_long,
            end: c_long,
            step: c_long,
            schedule: c_long,
            chunk: c_long,
            from: *mut c_long,
            to: *mut c_long,
            reductions: *mut usize,
            zeros: *mut *mut c_void,
        ) -> bool {
            let span = Span::before(start, end, step as u64, step > 0);
            let asked = gomp::asked(schedule, u64::try_from(chunk).unwrap_or_default());
            let asked = LoopOptions { is_ordered: $is_ordered, ..asked };
            // SAFETY: the arguments are those that the compiler passes.
            unsafe { self::start(span, asked, (from, to), Besides { reductions, zeros }) }
        }

        /// The thread comes to such a loop that counts with `unsigned long long`.
        ///
        /// # Safety
        /// The arguments are those that the compiler passes for this construct.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $ull(
            is_up: Flag,
            start: c_ulonglong,
            end: c_ulonglong,
            step: c_ulonglong,
            schedule: c_long,
            chunk: c_ulonglong,
            from: *mut c_ulonglong,
            to: *mut c_ulonglong,
            reductions: *mut usize,
            zeros: *mut *mut c_void,
        ) -> bool {
            let span = Span::before(start, end, step, is_up.is_set());
            let asked = LoopOptions { is_ordered: $is_ordered, ..gomp::asked(schedule, chunk) };
            // SAFETY: the arguments are those that the compiler passes.
            unsafe { self::start(span, asked, (from, to), Besides { reductions, zeros }) }
        }
    )*};
}

starts! {
    GOMP_loop_start GOMP_loop_ull_start false;
    GOMP_loop_ordered_start GOMP_loop_ull_ordered_start true;
}

//! gcc's calls for loops.
//!
//! The `start` functions begin a loop and return the first chunk, the `next` functions each further
//! one; the names have the schedule. Functions with `ull` count with `unsigned long long`.

use std::ffi::{c_long, c_ulonglong};

use super::runtime;
use crate::flag::Flag;
use crate::iterations::{Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::Member;
use crate::region::work::{LoopOptions, LoopSchedule};
use crate::registration::member;

/// The flag `monotonic`, beside the number of a schedule.
const MONOTONIC: u32 = 1 << 31;

/// The schedule of gcc's number.
pub(super) fn asked(schedule: c_long, chunk: u64) -> LoopOptions {
    match schedule as u32 & !MONOTONIC {
        0 => runtime(),
        2 => of(LoopSchedule::Dynamic, chunk),
        3 => of(LoopSchedule::Guided, chunk),
        4 => of(LoopSchedule::Static, 0),
        _ => of(LoopSchedule::Static, chunk),
    }
}

/// The clauses of a loop whose schedule is in the function's name.
fn of(how: LoopSchedule, chunk: u64) -> LoopOptions {
    LoopOptions { how, chunk, ..LoopOptions::default() }
}

/// Writes the next chunk to `from` and `to`. Returns whether the loop had one left.
///
/// # Safety
/// Both pointers lead to variables that may be written.
pub(super) unsafe fn give<T: Index>(member: &Member, from: *mut T, to: *mut T) -> bool {
    let Some(chunk) = member.next_chunk() else { return false };
    let span = member.work.span();
    // The last chunk ends at the loop's own bound: one more step could overflow.
    let end = if chunk.end == span.trips { span.end } else { span.at(chunk.end) };
    // SAFETY: both pointers lead to variables that may be written.
    unsafe {
        *from = T::of(span.at(chunk.start));
        *to = T::of(end);
    }
    true
}

/// The thread comes to a loop and gets its first chunk. Returns whether the loop had one left.
///
/// # Safety
/// Both pointers lead to variables that may be written.
unsafe fn start<T: Index>(span: Span, asked: LoopOptions, from: *mut T, to: *mut T) -> bool {
    let member = member();
    member.enter_loop(span, asked);
    ompt::works(At::Begin, || (Work::Loop, span.trips));
    // SAFETY: both pointers lead to variables that may be written.
    unsafe { give(member, from, to) }
}

/// The next chunk of the loop that the thread is in.
///
/// # Safety
/// Both pointers lead to variables that may be written.
unsafe fn next<T: Index>(from: *mut T, to: *mut T) -> bool {
    // SAFETY: both pointers lead to variables that may be written.
    unsafe { give(member(), from, to) }
}

fn span(start: c_long, end: c_long, step: c_long) -> Span {
    Span::before(start, end, step as u64, step > 0)
}

/// Functions that begin a loop whose chunk the program says.
macro_rules! starts {
    ($($name:ident $ull:ident = $asked:expr;)*) => {$(
        /// A loop begins.
        ///
        /// # Safety
        /// `from` and `to` point to variables that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            start: c_long,
            end: c_long,
            step: c_long,
            chunk: c_long,
            from: *mut c_long,
            to: *mut c_long,
        ) -> bool {
            let asked = $asked(u64::try_from(chunk).unwrap_or_default());
            // SAFETY: `from` and `to` point to variables that may be written.
            unsafe { self::start(span(start, end, step), asked, from, to) }
        }

        /// A loop begins that counts with `unsigned long long`.
        ///
        /// # Safety
        /// `from` and `to` point to variables that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $ull(
            is_up: Flag,
            start: c_ulonglong,
            end: c_ulonglong,
            step: c_ulonglong,
            chunk: c_ulonglong,
            from: *mut c_ulonglong,
            to: *mut c_ulonglong,
        ) -> bool {
            let span = Span::before(start, end, step, is_up.is_set());
            // SAFETY: `from` and `to` point to variables that may be written.
            unsafe { self::start(span, $asked(chunk), from, to) }
        }
    )*};
}

/// Functions that begin loops with `schedule(runtime)`.
macro_rules! runtime_starts {
    ($($name:ident $ull:ident = $asked:expr;)*) => {$(
        /// A loop begins.
        ///
        /// # Safety
        /// `from` and `to` point to variables that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            start: c_long,
            end: c_long,
            step: c_long,
            from: *mut c_long,
            to: *mut c_long,
        ) -> bool {
            // SAFETY: `from` and `to` point to variables that may be written.
            unsafe { self::start(span(start, end, step), $asked, from, to) }
        }

        /// A loop begins that counts with `unsigned long long`.
        ///
        /// # Safety
        /// `from` and `to` point to variables that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $ull(
            is_up: Flag,
            start: c_ulonglong,
            end: c_ulonglong,
            step: c_ulonglong,
            from: *mut c_ulonglong,
            to: *mut c_ulonglong,
        ) -> bool {
            let span = Span::before(start, end, step, is_up.is_set());
            // SAFETY: `from` and `to` point to variables that may be written.
            unsafe { self::start(span, $asked, from, to) }
        }
    )*};
}

/// Functions that give the next chunk: how was said at the start.
macro_rules! nexts {
    ($($name:ident $ull:ident)*) => {$(
        /// The next chunk. Returns whether the loop had one left.
        ///
        /// # Safety
        /// Both pointers lead to variables that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(from: *mut c_long, to: *mut c_long) -> bool {
            // SAFETY: both pointers lead to variables that may be written.
            unsafe { next(from, to) }
        }

        /// The next chunk of a loop that counts with `unsigned long long`.
        ///
        /// # Safety
        /// Both pointers lead to variables that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $ull(from: *mut c_ulonglong, to: *mut c_ulonglong) -> bool {
            // SAFETY: both pointers lead to variables that may be written.
            unsafe { next(from, to) }
        }
    )*};
}

fn ordered(asked: LoopOptions) -> LoopOptions {
    LoopOptions { is_ordered: true, ..asked }
}

starts! {
    GOMP_loop_static_start GOMP_loop_ull_static_start = |chunk| of(LoopSchedule::Static, chunk);
    GOMP_loop_dynamic_start GOMP_loop_ull_dynamic_start = |chunk| of(LoopSchedule::Dynamic, chunk);
    GOMP_loop_guided_start GOMP_loop_ull_guided_start = |chunk| of(LoopSchedule::Guided, chunk);
    GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_dynamic_start
        = |chunk| of(LoopSchedule::Dynamic, chunk);
    GOMP_loop_nonmonotonic_guided_start GOMP_loop_ull_nonmonotonic_guided_start
        = |chunk| of(LoopSchedule::Guided, chunk);
    GOMP_loop_ordered_static_start GOMP_loop_ull_ordered_static_start
        = |chunk| ordered(of(LoopSchedule::Static, chunk));
    GOMP_loop_ordered_dynamic_start GOMP_loop_ull_ordered_dynamic_start
        = |chunk| ordered(of(LoopSchedule::Dynamic, chunk));
    GOMP_loop_ordered_guided_start GOMP_loop_ull_ordered_guided_start
        = |chunk| ordered(of(LoopSchedule::Guided, chunk));
}

runtime_starts! {
    GOMP_loop_runtime_start GOMP_loop_ull_runtime_start = runtime();
    GOMP_loop_nonmonotonic_runtime_start GOMP_loop_ull_nonmonotonic_runtime_start = runtime();
    GOMP_loop_maybe_nonmonotonic_runtime_start GOMP_loop_ull_maybe_nonmonotonic_runtime_start
        = runtime();
    GOMP_loop_ordered_runtime_start GOMP_loop_ull_ordered_runtime_start = ordered(runtime());
}

nexts! {
    GOMP_loop_static_next GOMP_loop_ull_static_next
    GOMP_loop_dynamic_next GOMP_loop_ull_dynamic_next
    GOMP_loop_guided_next GOMP_loop_ull_guided_next
    GOMP_loop_runtime_next GOMP_loop_ull_runtime_next
    GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_dynamic_next
    GOMP_loop_nonmonotonic_guided_next GOMP_loop_ull_nonmonotonic_guided_next
    GOMP_loop_nonmonotonic_runtime_next GOMP_loop_ull_nonmonotonic_runtime_next
    GOMP_loop_maybe_nonmonotonic_runtime_next GOMP_loop_ull_maybe_nonmonotonic_runtime_next
    GOMP_loop_ordered_static_next GOMP_loop_ull_ordered_static_next
    GOMP_loop_ordered_dynamic_next GOMP_loop_ull_ordered_dynamic_next
    GOMP_loop_ordered_guided_next GOMP_loop_ull_ordered_guided_next
    GOMP_loop_ordered_runtime_next GOMP_loop_ull_ordered_runtime_next
}

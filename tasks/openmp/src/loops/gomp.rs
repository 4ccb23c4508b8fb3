//! gcc's calls for loops.
//!
//! A loop is begun, which gives the first chunk if there is one, and then asked for the next; the
//! names say how it is given out. Those with `ull` count with `unsigned long long`.

use std::ffi::{c_long, c_ulonglong};

use super::runtime;
use crate::flag::Flag;
use crate::iterations::{Index, Span};
use crate::ompt::{self, At, Work};
use crate::region::Member;
use crate::region::work::{Asked, How};
use crate::registration::member;

/// What tells that each thread gets its chunks in order, beside the number of a schedule.
const MONOTONIC: u32 = 1 << 31;

/// What a number of gcc's asks of a loop.
pub(super) fn asked(schedule: c_long, chunk: u64) -> Asked {
    match schedule as u32 & !MONOTONIC {
        0 => runtime(),
        2 => of(How::Dynamic, chunk),
        3 => of(How::Guided, chunk),
        4 => of(How::Static, 0),
        _ => of(How::Static, chunk),
    }
}

/// The same of a name.
fn of(how: How, chunk: u64) -> Asked {
    Asked { how, chunk, ..Asked::default() }
}

/// Gives the next chunk. Returns whether there is one.
///
/// # Safety
/// One may write to both.
pub(super) unsafe fn give<T: Index>(member: &Member, from: *mut T, to: *mut T) -> bool {
    let Some(chunk) = member.next_chunk() else { return false };
    let span = member.work.span();
    // The end of the last is the loop's own, which is a number that there is.
    let end = if chunk.end == span.trips { span.end } else { span.at(chunk.end) };
    // SAFETY: the caller's promise.
    unsafe {
        *from = T::of(span.at(chunk.start));
        *to = T::of(end);
    }
    true
}

/// The thread comes to a loop and gets its first chunk. Returns whether there is one.
///
/// # Safety
/// One may write to both.
unsafe fn start<T: Index>(span: Span, asked: Asked, from: *mut T, to: *mut T) -> bool {
    let member = member();
    member.enter_loop(span, asked);
    ompt::works(At::Begin, || (Work::Loop, span.trips));
    // SAFETY: the caller's promise.
    unsafe { give(member, from, to) }
}

/// The next chunk of the loop that the thread is in.
///
/// # Safety
/// One may write to both.
unsafe fn next<T: Index>(from: *mut T, to: *mut T) -> bool {
    // SAFETY: the caller's promise.
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
        /// One may write to `from` and `to`.
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
            // SAFETY: the caller's promise.
            unsafe { self::start(span(start, end, step), asked, from, to) }
        }

        /// The same.
        ///
        /// # Safety
        /// One may write to `from` and `to`.
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
            // SAFETY: the caller's promise.
            unsafe { self::start(span, $asked(chunk), from, to) }
        }
    )*};
}

/// The same, as `schedule(runtime)` says.
macro_rules! runtime_starts {
    ($($name:ident $ull:ident = $asked:expr;)*) => {$(
        /// A loop begins.
        ///
        /// # Safety
        /// One may write to `from` and `to`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            start: c_long,
            end: c_long,
            step: c_long,
            from: *mut c_long,
            to: *mut c_long,
        ) -> bool {
            // SAFETY: the caller's promise.
            unsafe { self::start(span(start, end, step), $asked, from, to) }
        }

        /// The same.
        ///
        /// # Safety
        /// One may write to `from` and `to`.
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
            // SAFETY: the caller's promise.
            unsafe { self::start(span, $asked, from, to) }
        }
    )*};
}

/// Functions that give the next chunk: how was said at the start.
macro_rules! nexts {
    ($($name:ident $ull:ident)*) => {$(
        /// The next chunk, if there is one.
        ///
        /// # Safety
        /// One may write to both.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(from: *mut c_long, to: *mut c_long) -> bool {
            // SAFETY: the caller's promise.
            unsafe { next(from, to) }
        }

        /// The same.
        ///
        /// # Safety
        /// One may write to both.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $ull(from: *mut c_ulonglong, to: *mut c_ulonglong) -> bool {
            // SAFETY: the caller's promise.
            unsafe { next(from, to) }
        }
    )*};
}

fn ordered(asked: Asked) -> Asked {
    Asked { is_ordered: true, ..asked }
}

starts! {
    GOMP_loop_static_start GOMP_loop_ull_static_start = |chunk| of(How::Static, chunk);
    GOMP_loop_dynamic_start GOMP_loop_ull_dynamic_start = |chunk| of(How::Dynamic, chunk);
    GOMP_loop_guided_start GOMP_loop_ull_guided_start = |chunk| of(How::Guided, chunk);
    GOMP_loop_nonmonotonic_dynamic_start GOMP_loop_ull_nonmonotonic_dynamic_start
        = |chunk| of(How::Dynamic, chunk);
    GOMP_loop_nonmonotonic_guided_start GOMP_loop_ull_nonmonotonic_guided_start
        = |chunk| of(How::Guided, chunk);
    GOMP_loop_ordered_static_start GOMP_loop_ull_ordered_static_start
        = |chunk| ordered(of(How::Static, chunk));
    GOMP_loop_ordered_dynamic_start GOMP_loop_ull_ordered_dynamic_start
        = |chunk| ordered(of(How::Dynamic, chunk));
    GOMP_loop_ordered_guided_start GOMP_loop_ull_ordered_guided_start
        = |chunk| ordered(of(How::Guided, chunk));
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

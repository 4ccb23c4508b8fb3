//! Sections: a loop over their numbers.

use std::ffi::{c_uint, c_void};

use super::gomp_whole::Besides;
use crate::ident::Ident;
use crate::iterations::Span;
use crate::ompt::{self, At, Work};
use crate::region::Member;
use crate::region::job::CombinedLoop;
use crate::region::work::{LoopOptions, LoopSchedule};
use crate::registration::member;

/// Each section goes to the next thread that comes.
const ASKED: LoopOptions =
    LoopOptions { how: LoopSchedule::Dynamic, chunk: 1, is_ordered: false, shares: false };

fn span(number: u32) -> Span {
    Span { first: 1, step: 1, trips: number.into(), end: 0 }
}

/// A region that is nothing but sections.
pub(super) fn combined(number: u32) -> CombinedLoop {
    CombinedLoop { span: span(number), asked: ASKED, work: Work::Sections }
}

/// The number of the next section, from 1; 0 behind the last one.
fn next(member: &Member) -> u32 {
    member.next_chunk().map_or(0, |chunk| chunk.start as u32 + 1)
}

/// gcc: the thread comes to `number` sections. Returns which it runs first, from 1; 0: none.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_sections_start(number: c_uint) -> c_uint {
    let member = member();
    member.enter_loop(span(number), ASKED);
    ompt::works(At::Begin, || (Work::Sections, number.into()));
    next(member)
}

/// gcc: the thread comes to sections with data that the threads share.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_sections2_start(
    number: c_uint,
    reductions: *mut usize,
    zeros: *mut *mut c_void,
) -> c_uint {
    let (member, besides) = (member(), Besides { reductions, zeros });
    member.enter_loop(span(number), besides.asked(ASKED));
    ompt::works(At::Begin, || (Work::Sections, number.into()));
    // SAFETY: the arguments are those that the compiler passes.
    unsafe { besides.share(member) };
    next(member)
}

/// gcc: the number of the thread's next section; 0 without one.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_sections_next() -> c_uint {
    next(member())
}

/// clang: the thread comes to sections.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_sections_init(_where: *mut Ident, _thread: i32) {
    // How many is said later.
    member().enter_loop(span(u32::MAX), ASKED);
    ompt::works(At::Begin, || (Work::Sections, 0));
}

/// clang: the thread's next section, from 0; `number` where none is left.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_next_section(_where: *mut Ident, _thread: i32, number: i32) -> i32 {
    match next(member()) {
        0 => number,
        section => (section as i32).saturating_sub(1).min(number),
    }
}

/// clang: the thread has left them.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_sections(_where: *mut Ident, _thread: i32) {
    member().leave_loop();
    ompt::works(At::End, || (Work::Sections, 0));
}

//! gcc's calls: every task gets a copy of the arguments, which begin with its bounds.

use std::ffi::{c_int, c_long, c_uint, c_ulong, c_ulonglong, c_void};

use super::super::gomp::{Copy, FINAL, arguments};
use super::super::header::{Code, Group, OmpTask};
use super::super::reduction_gomp::register;
use super::super::{Dependences, Plan, When};
use super::{Cut, Maker, Wanted, make_all};
use crate::iterations::Span;
use crate::region::Member;
use crate::registration::member;

/// Flags beside those of tasks.
const UP: c_uint = 1 << 8;
const GRAINSIZE: c_uint = 1 << 9;
const IF: c_uint = 1 << 10;
const NOGROUP: c_uint = 1 << 11;
const REDUCTION: c_uint = 1 << 12;
const STRICT: c_uint = 1 << 14;

/// The code and the arguments of a loop's tasks.
struct Loop {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    copy: Option<Copy>,
    size: usize,
    alignment: usize,
    flags: c_uint,
    priority: c_int,
    span: Span,
    cut: Cut,
}

/// # Safety
/// `data` points to the [`Loop`] of this construct.
unsafe fn make(data: *const (), member: &Member, number: u64) {
    // SAFETY: `data` points to the `Loop` of this construct; the block has room for the arguments,
    // and those for the bounds.
    unsafe {
        let own = &*data.cast::<Loop>();
        if member.task().creates_none() {
            return;
        }
        let (part, span) = (own.cut.part(number), own.span);
        let end = if part.end == span.trips { span.end } else { span.at(part.end) };
        let more = if own.alignment > align_of::<OmpTask>() { own.alignment } else { 0 };
        let plan = Plan { bytes: own.size + more, is_final: own.flags & FINAL != 0 };
        let task = OmpTask::create(member, &plan);
        let place = arguments(task, own.data, own.copy, own.size, own.alignment);
        place.cast::<[u64; 2]>().write_unaligned([span.at(part.start), end]);
        (*task).code.set(Code::Gomp(own.function, place));
        (*task).destroys.set(own.copy.is_some());
        OmpTask::set_priority(task, own.priority.into());
        OmpTask::submit(task, member, Dependences::NONE, When::deferred(own.flags & IF != 0));
    }
}

/// The lists of reductions in the arguments.
///
/// # Safety
/// The arguments of the loop have reductions.
unsafe fn reductions(data: *mut c_void) -> *mut usize {
    // SAFETY: the arguments of the loop have the address of the lists behind the bounds.
    unsafe { *data.cast::<*mut usize>().add(2) }
}

fn wanted(number: u64, flags: c_uint) -> Wanted {
    match (flags & GRAINSIZE != 0, flags & STRICT != 0) {
        (true, true) => Wanted::StrictGrain(number),
        (true, false) => Wanted::Grain(number),
        (false, _) if number == 0 => Wanted::Anything,
        (false, _) => Wanted::Tasks(number),
    }
}

/// # Safety
/// The arguments are those that the compiler passes for this construct.
unsafe fn run(member: &Member, own: &Loop) {
    let (is_grouped, reduces) = (own.flags & NOGROUP == 0, own.flags & REDUCTION != 0);
    // SAFETY: the arguments are those that the compiler passes.
    unsafe {
        if own.cut.tasks == 0 {
            if is_grouped && reduces {
                // Nothing was registered.
                *reductions(own.data).add(2) = 0;
            }
            return;
        }
        if is_grouped {
            let group = Group::begin(member, false);
            if reduces {
                register(member, group, reductions(own.data), None);
            }
        }
        let maker = Maker { make, data: std::ptr::from_ref(own).cast() };
        // A copy may read a variable that the task of the last iterations writes: it comes last
        // then.
        let may_spread = is_grouped && own.flags & IF != 0 && own.copy.is_none();
        make_all(member, &maker, own.cut.tasks, may_spread);
        if is_grouped {
            Group::end(member);
        }
    }
}

/// Puts the iterations of a loop into tasks.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskloop(
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    copy: Option<Copy>,
    size: c_long,
    alignment: c_long,
    flags: c_uint,
    number: c_ulong,
    priority: c_int,
    start: c_long,
    end: c_long,
    step: c_long,
) {
    let member = member();
    let span = Span::before(start, end, step as u64, step > 0);
    let cut = Cut::new(span.trips, wanted(number, flags), member.region().size);
    let (size, alignment) = (size as usize, alignment as usize);
    // SAFETY: the arguments are those that the compiler passes.
    unsafe {
        run(member, &Loop { function, data, copy, size, alignment, flags, priority, span, cut });
    }
}

/// Puts the iterations of a loop that counts with `unsigned long long` into tasks.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_taskloop_ull(
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    copy: Option<Copy>,
    size: c_long,
    alignment: c_long,
    flags: c_uint,
    number: c_ulong,
    priority: c_int,
    start: c_ulonglong,
    end: c_ulonglong,
    step: c_ulonglong,
) {
    let member = member();
    let span = Span::before(start, end, step, flags & UP != 0);
    let cut = Cut::new(span.trips, wanted(number, flags), member.region().size);
    let (size, alignment) = (size as usize, alignment as usize);
    // SAFETY: the arguments are those that the compiler passes.
    unsafe {
        run(member, &Loop { function, data, copy, size, alignment, flags, priority, span, cut });
    }
}

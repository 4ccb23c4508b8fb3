//! clang's calls: the program makes one task, of which all others are copies.

use super::super::header::{Code, Group, OmpTask};
use super::super::kmp::{around, make};
use super::super::kmp_task::KmpTask;
use super::super::{Orders, Plan, When};
use super::{Cut, Maker, Wanted, make_all};
use crate::ident::Ident;
use crate::iterations::Span;
use crate::region::Member;
use crate::registration::member;
use crate::thread::Thread;

/// What a number of clang's says of the tasks' number and size.
const GRAIN: i32 = 1;
const TASKS: i32 = 2;

/// Finishes a copy of a task: what a copy of bytes would not do, and whether it is the last.
type Finish = unsafe extern "C" fn(*mut KmpTask, *mut KmpTask, i32);

/// What all tasks of a loop are made of.
struct Loop {
    pattern: *mut KmpTask,
    /// Where the bounds of its iterations are in a task, in bytes.
    lower: usize,
    upper: usize,
    finish: Option<Finish>,
    is_deferred: bool,
    span: Span,
    cut: Cut,
}

/// # Safety
/// `data` is a [`Loop`], as the program has it.
unsafe fn make_one(data: *const (), member: &Member, number: u64) {
    // SAFETY: the caller's promise; the copy is as large as the pattern.
    unsafe {
        let own = &*data.cast::<Loop>();
        let (pattern, part) = (around(own.pattern), own.cut.part(number));
        let bytes = (*pattern).raw().bytes() - size_of::<OmpTask>();
        let task = OmpTask::create(member, &Plan { bytes, is_final: (*pattern).is_final.get() });
        let copy = task.add(1).cast::<KmpTask>();
        copy.cast::<u8>().copy_from_nonoverlapping(own.pattern.cast(), bytes);
        KmpTask::follow(copy, own.pattern, bytes);
        let bound = |place, iteration| {
            copy.byte_add(place).cast::<u64>().write(own.span.at(iteration));
        };
        bound(own.lower, part.start);
        bound(own.upper, part.end - 1);
        if let Some(finish) = own.finish {
            finish(copy, own.pattern, (number + 1 == own.cut.tasks).into());
        }
        (*task).destroys.set((*pattern).destroys.get());
        (*task).code.set(Code::Kmp(copy));
        OmpTask::set_priority(task, KmpTask::priority(copy));
        OmpTask::submit(task, member, Orders::NONE, When::deferred(own.is_deferred));
    }
}

/// The pattern is not run; but its variables end with it.
///
/// # Safety
/// Nobody makes copies of it any more.
unsafe fn end(member: &Member, variables: *mut KmpTask) {
    // SAFETY: the caller's promise: the task was created here, and never added.
    unsafe {
        let pattern = around(variables);
        if (*pattern).destroys.replace(false) {
            KmpTask::destroy(variables, Thread::in_region().number);
        }
        (*pattern).code.set(Code::Elsewhere);
        (*(*pattern).raw().parent()).creates();
        member.worker().run_now(pattern.cast());
    }
}

/// Puts the iterations of a loop into copies of a task.
///
/// # Safety
/// The task was made and filled by the program; `lower` and `upper` lie in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_taskloop_5(
    _where: *mut Ident,
    _thread: i32,
    task: *mut KmpTask,
    is_deferred: i32,
    lower: *mut u64,
    upper: *mut u64,
    step: i64,
    is_without_group: i32,
    kind: i32,
    number: u64,
    is_strict: i32,
    finish: Option<Finish>,
) {
    let (member, is_grouped) = (member(), is_without_group == 0);
    // SAFETY: the caller's promise.
    unsafe { make(member, task) };
    let wanted = match kind {
        GRAIN if is_strict != 0 => Wanted::StrictGrain(number),
        GRAIN => Wanted::Grain(number),
        TASKS => Wanted::Tasks(number),
        _ => Wanted::Anything,
    };
    // SAFETY: the caller's promise. Where the program has begun a group for what it reduces, that
    // one is around.
    unsafe {
        let span = Span::through(*lower as i64, *upper as i64, step);
        let cut = Cut::new(span.trips, wanted, member.region().size);
        let is_deferred = is_deferred != 0;
        let place = |bound: *mut u64| bound.addr() - task.addr();
        let (lower, upper) = (place(lower), place(upper));
        let own = Loop { pattern: task, lower, upper, finish, is_deferred, span, cut };
        if is_grouped {
            Group::begin(member, false);
        }
        let maker = Maker { make: make_one, data: (&raw const own).cast() };
        make_all(member, &maker, cut.tasks, is_grouped && is_deferred);
        if is_grouped {
            Group::end(member);
        }
        end(member, task);
    }
}

/// The same, not strict.
///
/// # Safety
/// As of [`__kmpc_taskloop_5`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_taskloop(
    place: *mut Ident,
    thread: i32,
    task: *mut KmpTask,
    is_deferred: i32,
    lower: *mut u64,
    upper: *mut u64,
    step: i64,
    is_without_group: i32,
    kind: i32,
    number: u64,
    finish: Option<Finish>,
) {
    let (group, strict) = (is_without_group, 0);
    // SAFETY: the caller's promise.
    unsafe {
        __kmpc_taskloop_5(
            place,
            thread,
            task,
            is_deferred,
            lower,
            upper,
            step,
            group,
            kind,
            number,
            strict,
            finish,
        );
    }
}

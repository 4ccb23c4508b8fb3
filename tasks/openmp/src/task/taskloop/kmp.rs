//! clang's calls: the program makes one task, the pattern of all.

use super::super::header::{Code, Group, OmpTask};
use super::super::kmp::{around, make};
use super::super::kmp_task::KmpTask;
use super::super::{Dependences, Plan, When};
use super::{Cut, Maker, Wanted, make_all};
use crate::ident::Ident;
use crate::iterations::Span;
use crate::region::Member;
use crate::registration::member;
use crate::thread::Thread;

/// clang's numbers for the clauses `grainsize` and `num_tasks`.
const GRAIN: i32 = 1;
const TASKS: i32 = 2;

/// Finishes a copy of the pattern: constructs variables, and sets whether the task is the last.
type Finish = unsafe extern "C" fn(*mut KmpTask, *mut KmpTask, i32);

/// The pattern and the bounds of a loop's tasks.
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
/// `data` points to the [`Loop`] of this construct.
unsafe fn make_one(data: *const (), member: &Member, number: u64) {
    // SAFETY: `data` points to the `Loop` of this construct; the copy is as large as the pattern.
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
        OmpTask::submit(task, member, Dependences::NONE, When::deferred(own.is_deferred));
    }
}

/// The pattern is not run; but its variables are destroyed.
///
/// # Safety
/// No thread copies the pattern any more, which was created here and never added.
unsafe fn end(member: &Member, variables: *mut KmpTask) {
    // SAFETY: no thread copies the pattern any more, which was created here and never added.
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
/// The program has made and filled the task, in which `lower` and `upper` lie.
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
    // SAFETY: the program has made and filled the task, in which `lower` and `upper` lie.
    unsafe { make(member, task) };
    let wanted = match kind {
        GRAIN if is_strict != 0 => Wanted::StrictGrain(number),
        GRAIN => Wanted::Grain(number),
        TASKS => Wanted::Tasks(number),
        _ => Wanted::Anything,
    };
    // SAFETY: the program has made and filled the task, in which `lower` and `upper` lie. A group
    // that the program has begun for reductions is around.
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

/// Puts the iterations of a loop into copies of a task, without `strict`.
///
/// # Safety
/// The program has made and filled the task, in which `lower` and `upper` lie.
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
    // SAFETY: the program has made and filled the task, in which `lower` and `upper` lie.
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

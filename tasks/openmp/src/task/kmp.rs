//! clang's calls: tasks are made first, then filled by the program, then added.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use evenkeel_runtime::internal::Access;

use super::depend::KmpDependence;
use super::event::Event;
use super::header::{Code, OmpTask};
use super::kmp_task::{KmpTask, Routine, address};
use super::{Orders, Plan, When, depend, with_ompt};
use crate::cancel::used::is_used;
use crate::ident::{Ident, called};
use crate::ompt;
use crate::region::Member;
use crate::registration::member;
use crate::thread::Thread;

/// Flags of [`__kmpc_omp_task_alloc`].
const TIED: i32 = 1;
/// As above.
const FINAL: i32 = 2;
/// As above.
const DESTROYS: i32 = 8;
/// As above: something else says that it has ended.
const PROXY: i32 = 0x10;
/// As above.
const DETACHES: i32 = 0x40;

/// The task around clang's part of it.
///
/// # Safety
/// It is of [`__kmpc_omp_task_alloc`].
pub(super) unsafe fn around(task: *mut KmpTask) -> *mut OmpTask {
    // SAFETY: it lies right behind the header.
    unsafe { task.cast::<OmpTask>().sub(1) }
}

/// Makes a task, for the program to fill. Most have no header yet: they may run like calls.
///
/// # Safety
/// The place is null or clang's; what is returned is as long as was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_alloc(
    place: *mut Ident,
    _thread: i32,
    flags: i32,
    bytes: usize,
    shared_bytes: usize,
    routine: Option<Routine>,
) -> *mut KmpTask {
    let bytes = bytes.next_multiple_of(align_of::<usize>());
    let member = member();
    let function = address(routine);
    // SAFETY: the caller's promise.
    member.worker().calls_function(function, true, || unsafe { called(place) });
    if ompt::is_on() || flags & (TIED | FINAL | PROXY | DETACHES) != TIED {
        // SAFETY: the caller's promise.
        return unsafe { alloc_made(member, flags, bytes, shared_bytes, routine) };
    }
    let (task, block_bytes) = OmpTask::allocate(member, bytes + shared_bytes);
    // SAFETY: the block has room for both behind the header.
    unsafe {
        let own = task.add(1).cast::<KmpTask>();
        KmpTask::write(own, bytes, shared_bytes, routine);
        let code = Code::Blank { bytes: u32::try_from(block_bytes).expect("a task below 4 GiB") };
        (&raw mut (*task).code).write(Cell::new(code));
        (&raw mut (*task).destroys).write(Cell::new(flags & DESTROYS != 0));
        own
    }
}

/// The same with a header from the start: a tool hears of it, or it will not run like a call.
///
/// # Safety
/// As of [`__kmpc_omp_task_alloc`].
#[cold]
#[inline(never)]
unsafe fn alloc_made(
    member: &Member,
    flags: i32,
    bytes: usize,
    shared_bytes: usize,
    routine: Option<Routine>,
) -> *mut KmpTask {
    let plan = Plan { bytes: bytes + shared_bytes, is_final: flags & FINAL != 0 };
    let task = OmpTask::create(member, &plan);
    // SAFETY: the block has room for both behind the header.
    unsafe {
        let own = task.add(1).cast::<KmpTask>();
        KmpTask::write(own, bytes, shared_bytes, routine);
        (*task).destroys.set(flags & DESTROYS != 0);
        (*task).code.set(Code::Kmp(own));
        if flags & TIED == 0 && ompt::is_on() {
            ompt::is_untied((*task).raw());
        }
        own
    }
}

/// How long the block of a task is that has no header yet.
///
/// # Safety
/// It is of [`__kmpc_omp_task_alloc`].
unsafe fn blank(task: *mut KmpTask) -> Option<u32> {
    // SAFETY: where there is no header, this much of it is written.
    match unsafe { (&raw const (*around(task)).code).read() }.get() {
        Code::Blank { bytes } => Some(bytes),
        _ => None,
    }
}

/// Gives a task its header, if it has none: that of a child of the running task, which made it.
///
/// # Safety
/// It is of [`__kmpc_omp_task_alloc`], and was not added.
pub(super) unsafe fn make(member: &Member, variables: *mut KmpTask) {
    // SAFETY: the caller's promise; the block is of `OmpTask::allocate`.
    unsafe {
        if let Some(bytes) = blank(variables) {
            let task = around(variables);
            let destroys = (&raw const (*task).destroys).read().get();
            OmpTask::begin::<false>(task, member, bytes as usize, false);
            (*task).destroys.set(destroys);
            (*task).code.set(Code::Kmp(variables));
        }
    }
}

/// Runs a new task like a call, if it may be, or must. Returns whether it has.
///
/// # Safety
/// It is of [`__kmpc_omp_task_alloc`], filled, and was not added; it is not used after that.
unsafe fn run_blank(member: &Member, variables: *mut KmpTask, dependences: &[Access]) -> bool {
    // SAFETY: the caller's promise.
    let (Some(bytes), kind) = (unsafe { (blank(variables), KmpTask::kind(variables)) }) else {
        return false;
    };
    let runs = !is_used() && member.runs_now(kind, dependences, member.defers());
    if runs {
        // SAFETY: the caller's promise; the block came from this team.
        unsafe { run_like_call(member, variables, bytes) };
    }
    runs
}

/// Runs a task without a header.
///
/// # Safety
/// As of [`run_blank`]; its block is so long.
#[inline(always)]
unsafe fn run_like_call(member: &Member, variables: *mut KmpTask, bytes: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let task = around(variables);
        let destroys = (&raw const (*task).destroys).read().get();
        member.run_inlined(KmpTask::kind(variables), move || {
            let thread = Thread::in_region().number;
            KmpTask::call::<false>(variables, thread);
            if destroys {
                KmpTask::destroy(variables, thread);
            }
        });
        member.worker().free(NonNull::new_unchecked(task).cast(), bytes as usize);
    }
}

/// The same for a task that drives a device; there is none, so it is like any other.
///
/// # Safety
/// As of [`__kmpc_omp_task_alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_target_task_alloc(
    place: *mut Ident,
    thread: i32,
    flags: i32,
    bytes: usize,
    shared_bytes: usize,
    routine: Option<Routine>,
    _device: i64,
) -> *mut KmpTask {
    // SAFETY: the caller's promise.
    unsafe { __kmpc_omp_task_alloc(place, thread, flags, bytes, shared_bytes, routine) }
}

/// Adds a task, or lets the running one go on with its next part.
///
/// # Safety
/// It was made by [`__kmpc_omp_task_alloc`], and filled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task(_: *mut Ident, _: i32, task: *mut KmpTask) -> i32 {
    let member = member();
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(bytes) = blank(task)
            && !is_used()
            && member.worker().surely_may_run_at_once(KmpTask::kind(task))
        {
            run_like_call(member, task, bytes);
            return 0;
        }
        let header = around(task);
        if blank(task).is_none() && ptr::eq(member.task(), header) {
            // The running one itself: it is untied, and its next part is to run.
            (*header).goes_on.set(true);
        } else {
            submit(member, task, &[]);
        }
    }
    0
}

/// Runs a task, or adds it.
///
/// # Safety
/// It is of [`__kmpc_omp_task_alloc`], filled, and was not added.
unsafe fn submit(member: &Member, task: *mut KmpTask, dependences: &[Access]) {
    // SAFETY: the caller's promise.
    unsafe {
        if run_blank(member, task, dependences) {
            return;
        }
        let when = if blank(task).is_some() { When::Later } else { When::Any };
        make(member, task);
        OmpTask::set_priority(around(task), KmpTask::priority(task));
        OmpTask::submit(around(task), member, Orders::apart(dependences), when);
    }
}

/// The same: a task that had stopped goes on.
///
/// # Safety
/// As of [`__kmpc_omp_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_parts(
    place: *mut Ident,
    thread: i32,
    task: *mut KmpTask,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { __kmpc_omp_task(place, thread, task) }
}

/// Adds a task that waits for others.
///
/// # Safety
/// As of [`__kmpc_omp_task`]; there are as many dependences as is said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_with_deps(
    _where: *mut Ident,
    _thread: i32,
    task: *mut KmpTask,
    number: i32,
    first: *const KmpDependence,
    number_more: i32,
    more: *const KmpDependence,
) -> i32 {
    let member = member();
    // SAFETY: the caller's promise.
    unsafe {
        let all = depend::of_kmp(member, (number, first), (number_more, more));
        submit(member, task, &all);
    }
    0
}

/// Waits until a task with these dependences could run.
///
/// # Safety
/// There are as many dependences as is said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_wait_deps(
    _where: *mut Ident,
    _thread: i32,
    number: i32,
    first: *const KmpDependence,
    number_more: i32,
    more: *const KmpDependence,
) {
    let member = member();
    // SAFETY: the caller's promise.
    let all = unsafe { depend::of_kmp(member, (number, first), (number_more, more)) };
    depend::wait(member, &all);
}

/// `taskwait` with dependences; if `is_nowait`, others may wait for them instead.
///
/// # Safety
/// As of [`__kmpc_omp_wait_deps`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_taskwait_deps_51(
    place: *mut Ident,
    thread: i32,
    number: i32,
    first: *const KmpDependence,
    number_more: i32,
    more: *const KmpDependence,
    is_nowait: i32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if is_nowait != 0 {
            let all = depend::of_kmp(member(), (number, first), (number_more, more));
            depend::add_nothing(member(), &all);
        } else {
            __kmpc_omp_wait_deps(place, thread, number, first, number_more, more);
        }
    }
}

/// The program begins to run a task itself.
///
/// # Safety
/// As of [`__kmpc_omp_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_begin_if0(_: *mut Ident, _: i32, task: *mut KmpTask) {
    let member = member();
    // SAFETY: the caller's promise.
    unsafe {
        make(member, task);
        let task = around(task);
        (*(*task).raw().parent()).creates();
        member.worker().go_to((*task).raw());
        if ompt::is_on() {
            with_ompt::if0_begins(task, member.number);
        }
    }
}

/// It has run it.
///
/// # Safety
/// The task is the one that began last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_complete_if0(
    _where: *mut Ident,
    thread: i32,
    task: *mut KmpTask,
) {
    // SAFETY: the caller's promise.
    unsafe {
        if ompt::is_on() {
            return complete_with_ompt(thread, task);
        }
        complete::<false>(thread, task);
    }
}

/// The same, of which a tool hears.
#[cold]
#[inline(never)]
unsafe fn complete_with_ompt(thread: i32, task: *mut KmpTask) {
    // SAFETY: the caller's promise.
    unsafe { complete::<true>(thread, task) };
}

/// As of [`__kmpc_omp_task_complete_if0`].
#[inline(always)]
unsafe fn complete<const WITH_OMPT: bool>(thread: i32, task: *mut KmpTask) {
    // SAFETY: the caller's promise; what ran before is what the task's creator is.
    unsafe {
        let (variables, task, worker) = (task, around(task), member().worker());
        (*task).go_on::<WITH_OMPT>(variables, thread);
        if (*task).destroys.get() {
            KmpTask::destroy(variables, thread);
        }
        if WITH_OMPT {
            with_ompt::if0_ends(task);
        }
        worker.go_to((*task).creator().raw());
        OmpTask::end(task, worker);
    }
}

/// Waits for the children of the running task.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_taskwait(_where: *mut Ident, _thread: i32) -> i32 {
    OmpTask::wait_for_children(member());
    0
}

/// The running task may be put off. It is not.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_taskyield(_where: *mut Ident, _thread: i32, _part: i32) -> i32 {
    0
}

/// Says what a task is near to; that is not used.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_reg_task_with_affinity(
    _where: *mut Ident,
    _thread: i32,
    _task: *mut KmpTask,
    _number: i32,
    _list: *const c_void,
) -> i32 {
    0
}

/// Gives a task an event, before it is added.
///
/// # Safety
/// As of [`__kmpc_omp_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_allow_completion_event(
    _where: *mut Ident,
    _thread: i32,
    task: *mut KmpTask,
) -> *mut Event {
    let member = member();
    // SAFETY: the caller's promise.
    unsafe {
        make(member, task);
        (*around(task)).make_event(member.tree)
    }
}

//! clang's calls: tasks are made first, then filled by the program, then added.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use evenkeel_runtime::internal::Access;

use super::depend::KmpDependence;
use super::event::Event;
use super::header::{Code, OmpTask};
use super::kmp_task::{KmpTask, Routine, address};
use super::{Dependences, Plan, When, depend, with_ompt};
use crate::cancel::used::is_used;
use crate::ident::{Ident, called};
use crate::ompt;
use crate::region::Member;
use crate::registration::member;
use crate::thread::Thread;

/// Flag of [`__kmpc_omp_task_alloc`]: the task is tied.
const TIED: i32 = 1;
/// Flag of [`__kmpc_omp_task_alloc`]: the task is final.
const FINAL: i32 = 2;
/// Flag of [`__kmpc_omp_task_alloc`]: the task has a function that destroys its variables.
const DESTROYS: i32 = 8;
/// Flag of [`__kmpc_omp_task_alloc`]: another thread says when the task has ended.
const PROXY: i32 = 0x10;
/// Flag of [`__kmpc_omp_task_alloc`]: the task has an event.
const DETACHES: i32 = 0x40;

/// The task whose header lies before clang's part.
///
/// # Safety
/// [`__kmpc_omp_task_alloc`] made the task.
pub(super) unsafe fn around(task: *mut KmpTask) -> *mut OmpTask {
    // SAFETY: clang's part lies right behind the header.
    unsafe { task.cast::<OmpTask>().sub(1) }
}

/// Makes a task, for the program to fill. Most have no header yet: they may run like calls.
///
/// # Safety
/// `place` is null or points to clang's constant; the program writes only `bytes` and
/// `shared_bytes` bytes of the task.
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
    // SAFETY: `place` is null or points to clang's constant.
    member.worker().calls_function(function, true, || unsafe { called(place) });
    if ompt::is_on() || flags & (TIED | FINAL | PROXY | DETACHES) != TIED {
        // SAFETY: `place` is null or points to clang's constant.
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

/// Makes a task with a header from the start: a tool hears of the task, or the task cannot be
/// inlined.
///
/// # Safety
/// `place` is null or points to clang's constant; the program writes only `bytes` and
/// `shared_bytes` bytes of the task.
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
/// [`__kmpc_omp_task_alloc`] made the task.
unsafe fn blank(task: *mut KmpTask) -> Option<u32> {
    // SAFETY: this field is written even where the rest of the header is not.
    match unsafe { (&raw const (*around(task)).code).read() }.get() {
        Code::Blank { bytes } => Some(bytes),
        _ => None,
    }
}

/// Writes the header of a task that has none, as a child of the running task, which created it.
///
/// # Safety
/// [`__kmpc_omp_task_alloc`] made the task, which was not added yet.
pub(super) unsafe fn make(member: &Member, variables: *mut KmpTask) {
    // SAFETY: `__kmpc_omp_task_alloc` made the task, which was not added yet; the block is of
    // `OmpTask::allocate`.
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

/// Inlines a new task, if the scheduler allows or the program demands that. Returns whether the
/// task has run.
///
/// # Safety
/// [`__kmpc_omp_task_alloc`] made the task and the program has filled its part; the task was not
/// added yet, and is not used after this call.
unsafe fn run_blank(member: &Member, variables: *mut KmpTask, dependences: &[Access]) -> bool {
    // SAFETY: the program has filled the task, which was not added yet.
    let (Some(bytes), function) = (unsafe { (blank(variables), KmpTask::function(variables)) })
    else {
        return false;
    };
    let runs = !is_used() && member.inlines(function, dependences, member.defers());
    if runs {
        // SAFETY: the program has filled the task, which was not added yet; the block came from
        // this team.
        unsafe { run_like_call(member, variables, bytes) };
    }
    runs
}

/// Runs a task without a header.
///
/// # Safety
/// The program has filled a task of [`__kmpc_omp_task_alloc`], whose block has `bytes` bytes; the
/// task was not added yet, and is not used after this call.
#[inline(always)]
unsafe fn run_like_call(member: &Member, variables: *mut KmpTask, bytes: u32) {
    // SAFETY: the program has filled the task, which was not added yet; its block is so long.
    unsafe {
        let task = around(variables);
        let destroys = (&raw const (*task).destroys).read().get();
        member.run_inlined(KmpTask::function(variables), move || {
            let thread = Thread::in_region().number;
            KmpTask::call::<false>(variables, thread);
            if destroys {
                KmpTask::destroy(variables, thread);
            }
        });
        member.worker().free(NonNull::new_unchecked(task).cast(), bytes as usize);
    }
}

/// Makes a task that drives a device. Without devices the task is like any other.
///
/// # Safety
/// `place` is null or points to clang's constant; the program writes only `bytes` and
/// `shared_bytes` bytes of the task.
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
    // SAFETY: `place` is null or points to clang's constant.
    unsafe { __kmpc_omp_task_alloc(place, thread, flags, bytes, shared_bytes, routine) }
}

/// Adds a task, or lets the running one go on with its next part.
///
/// # Safety
/// The program has filled a task of [`__kmpc_omp_task_alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task(_: *mut Ident, _: i32, task: *mut KmpTask) -> i32 {
    let member = member();
    // SAFETY: the program has filled a task of `__kmpc_omp_task_alloc`.
    unsafe {
        if let Some(bytes) = blank(task)
            && !is_used()
            && member.worker().should_inline(KmpTask::function(task))
        {
            run_like_call(member, task, bytes);
            return 0;
        }
        let header = around(task);
        if blank(task).is_none() && ptr::eq(member.task(), header) {
            // The running task itself is untied, and its next part is to run.
            (*header).goes_on.set(true);
        } else {
            submit(member, task, &[]);
        }
    }
    0
}

/// Inlines a task, or adds it to the queues.
///
/// # Safety
/// The program has filled a task of [`__kmpc_omp_task_alloc`], which was not added yet.
unsafe fn submit(member: &Member, task: *mut KmpTask, dependences: &[Access]) {
    // SAFETY: the program has filled a task of `__kmpc_omp_task_alloc`, which was not added yet.
    unsafe {
        if run_blank(member, task, dependences) {
            return;
        }
        let when = if blank(task).is_some() { When::Later } else { When::Any };
        make(member, task);
        OmpTask::set_priority(around(task), KmpTask::priority(task));
        OmpTask::submit(around(task), member, Dependences::apart(dependences), when);
    }
}

/// A task that returned at a scheduling point goes on.
///
/// # Safety
/// The program has filled a task of [`__kmpc_omp_task_alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_parts(
    place: *mut Ident,
    thread: i32,
    task: *mut KmpTask,
) -> i32 {
    // SAFETY: the program has filled a task of `__kmpc_omp_task_alloc`.
    unsafe { __kmpc_omp_task(place, thread, task) }
}

/// Adds a task with dependences.
///
/// # Safety
/// The program has filled a task of [`__kmpc_omp_task_alloc`]; `first` and `more` have `number` and
/// `number_more` entries.
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
    // SAFETY: the program has filled the task; both lists have as many entries as their numbers
    // say.
    unsafe {
        let all = depend::of_kmp(member, (number, first), (number_more, more));
        submit(member, task, &all);
    }
    0
}

/// Waits until a task with these dependences could run.
///
/// # Safety
/// `first` and `more` have `number` and `number_more` entries.
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
    // SAFETY: `first` and `more` have `number` and `number_more` entries.
    let all = unsafe { depend::of_kmp(member, (number, first), (number_more, more)) };
    depend::wait(member, &all);
}

/// `taskwait` with dependences; with `is_nowait`, an empty task with these dependences instead.
///
/// # Safety
/// `first` and `more` have `number` and `number_more` entries.
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
    // SAFETY: `first` and `more` have `number` and `number_more` entries.
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
/// The program has filled a task of [`__kmpc_omp_task_alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_begin_if0(_: *mut Ident, _: i32, task: *mut KmpTask) {
    let member = member();
    // SAFETY: the program has filled a task of `__kmpc_omp_task_alloc`.
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

/// The program has run the task.
///
/// # Safety
/// The program has called [`__kmpc_omp_task_begin_if0`] for the task.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_omp_task_complete_if0(
    _where: *mut Ident,
    thread: i32,
    task: *mut KmpTask,
) {
    // SAFETY: the program has called `__kmpc_omp_task_begin_if0` for the task.
    unsafe {
        if ompt::is_on() {
            return complete_with_ompt(thread, task);
        }
        complete::<false>(thread, task);
    }
}

/// [`complete`] for a task of which a tool hears.
///
/// # Safety
/// The program has run the task, which began last.
#[cold]
#[inline(never)]
unsafe fn complete_with_ompt(thread: i32, task: *mut KmpTask) {
    // SAFETY: the program has run the task, which began last.
    unsafe { complete::<true>(thread, task) };
}

/// Ends a task that the program has run itself.
///
/// # Safety
/// The program has run the task, which began last.
#[inline(always)]
unsafe fn complete<const WITH_OMPT: bool>(thread: i32, task: *mut KmpTask) {
    // SAFETY: the program has run the task, which began last: its creator ran before.
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

/// `taskyield`: the running task goes on, which OpenMP allows.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_omp_taskyield(_where: *mut Ident, _thread: i32, _part: i32) -> i32 {
    0
}

/// The `affinity` clause of a task, which is a hint and not used.
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

/// Gives a task that was not added yet an event.
///
/// # Safety
/// The program has filled a task of [`__kmpc_omp_task_alloc`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_allow_completion_event(
    _where: *mut Ident,
    _thread: i32,
    task: *mut KmpTask,
) -> *mut Event {
    let member = member();
    // SAFETY: the program has filled a task of `__kmpc_omp_task_alloc`.
    unsafe {
        make(member, task);
        (*around(task)).make_event(member.tree)
    }
}

//! A task from its creation to its end: how its block is allocated, run and freed.

use std::ffi::{c_int, c_void};
use std::ptr::{self, NonNull};

use evenkeel_runtime::Resume;
use evenkeel_runtime::internal::{NO_FUNCTION, Queued, Runner, Task, Worker};

use crate::dependence::Plan;
use crate::error::{Error, Result, code, keep};
use crate::event::Events;
use crate::task::{CTask, Code, DEFERRED, Here, WIDE};

/// `EKRT_ARGUMENTS_MAX`.
const ARGUMENTS_MAX: usize = 1 << 24;

/// Creates a child of a task, with `bytes` bytes for arguments behind the header. No list has the
/// child yet.
///
/// # Safety
/// The parent is alive.
unsafe fn child(
    worker: &Worker,
    parent: *const Task,
    code: Code,
    bytes: usize,
    flags: u32,
) -> *mut CTask {
    let bytes = size_of::<CTask>() + bytes;
    let place = worker.allocate(bytes).cast::<CTask>().as_ptr();
    // SAFETY: the block was just allocated, large enough and aligned; the parent is alive.
    unsafe {
        let mut task = Task::child(parent, bytes, run);
        task.set_wide(flags & WIDE > 0);
        place.write(CTask::new(task, code, flags));
    }
    place
}

/// The address of the function that a task runs.
///
/// # Safety
/// `queued` is the head of a task of this library, whose code has not ended.
pub(crate) unsafe fn function_of(queued: *const Queued) -> usize {
    let task = queued.cast::<CTask>();
    // SAFETY: the task is alive, and a task that runs `first` has a `First` as arguments.
    unsafe {
        let is_run_by = |code: Code| ptr::fn_addr_eq((*task).code, code);
        if is_run_by(resume) {
            return NO_FUNCTION;
        }
        let code = match is_run_by(first) {
            true => (*CTask::arguments(task.cast_mut()).cast::<First>()).0,
            false => (*task).code,
        };
        code as usize
    }
}

/// Frees the tasks that a task created and never submitted.
fn forget_created(task: &CTask, worker: &Worker) {
    let mut next = task.take_all_created();
    while let Some(task) = NonNull::new(next) {
        // SAFETY: the list of the ended task held the only reference to this one.
        unsafe {
            next = task.as_ref().created_before();
            Plan::free(Plan::of(task.as_ref()).get(), worker);
            worker.free(task.cast(), task.as_ref().raw().bytes());
        }
    }
}

/// Calls a function of the program. An exception that leaves the call ends the process.
pub(crate) fn call(code: impl FnOnce()) {
    struct Boundary;
    impl Drop for Boundary {
        fn drop(&mut self) {
            const LINE: &[u8] = b"evenkeel: an exception has left a task\n";
            // SAFETY: `LINE` has `LINE.len()` bytes; a failed write loses only the message.
            unsafe { libc::write(2, LINE.as_ptr().cast(), LINE.len()) };
            std::process::abort();
        }
    }
    let boundary = Boundary;
    code();
    std::mem::forget(boundary);
}

/// Runs a task that was taken from a queue, or that its creator runs.
pub(crate) unsafe fn run(queued: *mut Queued, runner: Runner<'_>) {
    let task = queued.cast::<CTask>();
    // SAFETY: the task was submitted once, and so runs once, by this worker. The program answers
    // for the function and its arguments.
    unsafe {
        let worker = Worker::of(runner);
        let around = worker.go_to((*task).raw());
        call(|| ((*task).code)(CTask::arguments(task)));
        forget_created(&*task, worker);
        Events::code_ended(Events::of_task(&*task).get());
        worker.go_to(around);
        if !worker.is_held((*task).raw()) {
            worker.end_task((*task).raw());
        }
    }
}

/// Arguments of the first task of a scope: the program's function and its arguments.
#[repr(C)]
struct First(Code, *mut c_void);

/// The function of the first task of a scope.
unsafe extern "C-unwind" fn first(place: *mut c_void) {
    // SAFETY: `run_first` wrote a `First` there, whose code may be called with its arguments.
    unsafe {
        let First(code, arguments) = place.cast::<First>().read();
        code(arguments);
    }
}

/// Runs the first task of a scope, whose arguments the caller of `ekrt_run` keeps.
///
/// # Safety
/// The code may be called with the arguments; the caller is a scope's code.
pub(crate) unsafe fn run_first(here: &Here, code: Code, arguments: *mut c_void) {
    let (worker, root) = (here.worker(), here.worker().current_task());
    // SAFETY: the scope's task is alive; only this function has the new one.
    unsafe {
        let task = child(worker, root, first, size_of::<First>(), DEFERRED);
        CTask::arguments(task).cast::<First>().write(First(code, arguments));
        (*root).creates();
        worker.run_now(task.cast());
    }
}

/// The function of the task that `ekrt_wait_on` submits: resumes the waiting task.
pub(crate) unsafe extern "C-unwind" fn resume(place: *mut c_void) {
    // SAFETY: `wait_on` wrote a `Resume` there, and the task runs once.
    drop(unsafe { place.cast::<Resume>().read() });
}

/// Creates a child of the running task, which is not submitted yet.
pub(crate) fn create(here: &Here, code: Code, bytes: usize, flags: u32) -> Result<*mut CTask> {
    if bytes > ARGUMENTS_MAX {
        return Err(Error::Range("`bytes`", bytes as u64, "at most EKRT_ARGUMENTS_MAX"));
    }
    if flags & !(DEFERRED | WIDE) > 0 {
        let range = "0, EKRT_DEFERRED, EKRT_WIDE or both";
        return Err(Error::Range("`flags`", u64::from(flags), range));
    }
    let creator = here.task();
    // SAFETY: the creator runs.
    let task = unsafe { child(here.worker(), creator.raw(), code, bytes, flags) };
    // SAFETY: `child` has just initialised the task.
    creator.adds(unsafe { &*task });
    Ok(task)
}

/// Creates a task; null on failure.
///
/// # Safety
/// `arguments` is null, or has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_create(
    function: Option<Code>,
    bytes: usize,
    arguments: *mut *mut c_void,
    flags: u32,
) -> *mut CTask {
    let created = Here::get()
        .and_then(|here| create(&here, function.ok_or(Error::Null("`function`"))?, bytes, flags));
    let task = created.unwrap_or_else(|error| {
        keep(&error);
        ptr::null_mut()
    });
    // SAFETY: `arguments` is null, or has room for a pointer.
    if let Some(place) = unsafe { arguments.as_mut() } {
        *place = if task.is_null() { ptr::null_mut() } else { CTask::arguments(task) };
    }
    task
}

/// Sets the priority of a task that is not submitted.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_priority(task: *mut CTask, priority: c_int) -> c_int {
    code(Here::get().and_then(|here| {
        let wrong = |_| Error::Range("`priority`", priority as u64, "-128 to 127");
        let priority = i8::try_from(priority).map_err(wrong)?;
        let task = here.task().created(task)?;
        // SAFETY: an unsubmitted task is alive, and only its creator uses the task.
        unsafe { (*task).set_priority(priority) };
        Ok(())
    }))
}

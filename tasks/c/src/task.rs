//! A task: the runtime's header, what it runs, and its arguments behind, in one block.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;
use std::ptr::{self, NonNull};

use evenkeel_runtime::raw::{OWN_KIND, Queued, Runner, Task, Worker, current_worker};

use crate::dependence::Plan;
use crate::error::{Error, Result, code, keep};
use crate::event::Events;
use crate::wait::resume;

/// What a task runs. An exception that leaves it ends the process.
pub type Code = unsafe extern "C-unwind" fn(*mut c_void);

/// `EKRT_DEFERRED`: it never runs before `ekrt_submit` returns.
pub(crate) const DEFERRED: u32 = 1;
/// `EKRT_WIDE`: it runs 512-bit instructions.
pub(crate) const WIDE: u32 = 2;
/// It has submitted deferred tasks.
const DEFERS: u32 = 4;
/// `EKRT_ARGUMENTS_MAX`.
const ARGUMENTS_MAX: usize = 1 << 24;

/// A task. What it is attached to, and what it is linked by, changes when it is submitted.
#[repr(C, align(32))]
pub struct CTask {
    task: Task,
    code: Code,
    /// Until it is submitted: the one that its creator created before, and has not submitted
    /// either. From then on: the last that it has itself created and not submitted.
    created: Cell<*mut CTask>,
    /// Until it is submitted: its dependences. From then on: its events. Null at first.
    attached: Cell<*mut c_void>,
    flags: Cell<u32>,
}

const _: () = assert!(offset_of!(CTask, task) == 0 && size_of::<CTask>() == 96);

/// The worker that calls, and the task whose code does.
pub(crate) struct Here {
    worker: NonNull<Worker>,
}

impl Here {
    /// Of a call from any thread.
    pub(crate) fn get() -> Result<Self> {
        current_worker().map(|worker| Self { worker }).ok_or(Error::Outside)
    }

    /// Of the code of a scope, around the first task.
    pub(crate) fn of_scope() -> Self {
        Self { worker: current_worker().expect("a scope's code runs on a worker") }
    }

    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: the worker of this thread lives longer than a call from its task.
        unsafe { self.worker.as_ref() }
    }

    /// Code of the program runs in tasks of ours alone: around it is always [`run`].
    pub(crate) fn task(&self) -> &CTask {
        // SAFETY: as said; it is alive while its code runs.
        unsafe { &*self.worker().current_task().cast() }
    }
}

impl CTask {
    /// A child of a task, with room behind it, in no list.
    ///
    /// # Safety
    /// The parent is alive.
    unsafe fn child(
        worker: &Worker,
        parent: *const Task,
        code: Code,
        bytes: usize,
        flags: u32,
    ) -> *mut Self {
        let bytes = size_of::<Self>() + bytes;
        let place = worker.allocate(bytes).cast::<Self>().as_ptr();
        // SAFETY: the block is large enough, aligned and ours; the caller's promise.
        unsafe {
            place.write(Self {
                task: Task::child(parent, bytes, run),
                code,
                created: Cell::new(ptr::null_mut()),
                attached: Cell::new(ptr::null_mut()),
                flags: Cell::new(flags),
            });
            (*place).task.set_wide(flags & WIDE > 0);
        }
        place
    }

    /// What tells tasks of one function from others.
    ///
    /// # Safety
    /// It is the head of one, whose code has not ended.
    pub(crate) unsafe fn kind_of(queued: *const Queued) -> usize {
        let task = queued.cast::<Self>();
        // SAFETY: the caller's promise; the first one's arguments are there.
        unsafe {
            let is_run_by = |code: Code| ptr::fn_addr_eq((*task).code, code);
            if is_run_by(resume) {
                return OWN_KIND;
            }
            let code = match is_run_by(first) {
                true => (*Self::arguments(task.cast_mut()).cast::<First>()).0,
                false => (*task).code,
            };
            code as usize
        }
    }

    /// What the runtime knows of it.
    pub(crate) fn raw(&self) -> &Task {
        &self.task
    }

    pub(crate) fn is_deferred(&self) -> bool {
        self.flags.get() & DEFERRED > 0
    }

    /// Whether it was said to run 512-bit instructions.
    pub(crate) fn is_wide(&self) -> bool {
        self.task.is_wide()
    }

    /// One of its children is to be deferred.
    pub(crate) fn defers(&self) {
        self.flags.set(self.flags.get() | DEFERS);
    }

    /// Whether its children may be run on its stack while it creates others: none is deferred.
    pub(crate) fn may_help(&self) -> bool {
        self.flags.get() & DEFERS == 0
    }

    /// Its arguments.
    pub(crate) fn arguments(this: *mut Self) -> *mut c_void {
        this.wrapping_add(1).cast()
    }

    /// Of a task that is not yet submitted.
    pub(crate) fn plan(&self) -> &Cell<*mut Plan> {
        // SAFETY: a pointer is a pointer; until then it is one to that.
        unsafe { &*ptr::from_ref(&self.attached).cast() }
    }

    /// Of a task that runs.
    pub(crate) fn events(&self) -> &Cell<*mut Events> {
        // SAFETY: as above.
        unsafe { &*ptr::from_ref(&self.attached).cast() }
    }

    /// The task with this handle, of those that this one has created and not submitted: it is
    /// alive, and this task's alone.
    pub(crate) fn created(&self, handle: *const CTask) -> Result<*mut CTask> {
        self.place_of(handle).map(Cell::get)
    }

    /// The same, taken out of the list.
    pub(crate) fn take_created(&self, handle: *const CTask) -> Result<*mut CTask> {
        let place = self.place_of(handle)?;
        let task = place.get();
        // SAFETY: it is in the list, and so alive.
        place.set(unsafe { (*task).created.replace(ptr::null_mut()) });
        Ok(task)
    }

    /// Where the list has a task. A handle is only followed when it was found.
    fn place_of(&self, handle: *const CTask) -> Result<&Cell<*mut CTask>> {
        let mut place = &self.created;
        while !ptr::eq(place.get(), handle) {
            // SAFETY: what is in the list is alive.
            place = unsafe { place.get().as_ref() }.map(|task| &task.created).ok_or(Error::Task)?;
        }
        if handle.is_null() { Err(Error::Task) } else { Ok(place) }
    }

    /// Frees what was created and never submitted.
    fn forget_created(&self, worker: &Worker) {
        let mut next = self.created.replace(ptr::null_mut());
        while let Some(task) = NonNull::new(next) {
            // SAFETY: it is in the list of this task alone.
            unsafe {
                next = task.as_ref().created.get();
                Plan::free(task.as_ref().plan().get(), worker);
                worker.free(task.cast(), task.as_ref().task.bytes());
            }
        }
    }
}

/// Calls the program. Nothing may be thrown through the runtime's frames.
pub(crate) fn call(code: impl FnOnce()) {
    struct Boundary;
    impl Drop for Boundary {
        fn drop(&mut self) {
            const LINE: &[u8] = b"evenkeel: an exception has left a task\n";
            // SAFETY: the bytes are there; whether they arrive does not matter.
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
    // SAFETY: it was submitted once, and so is run once; what it runs and with what is the
    // program's business.
    unsafe {
        let worker = Worker::of(runner);
        let around = worker.go_to(&raw const (*task).task);
        call(|| ((*task).code)(CTask::arguments(task)));
        (*task).forget_created(worker);
        Events::code_ended((*task).events().get());
        worker.go_to(around);
        if !worker.is_held(&raw const (*task).task) {
            worker.end_task(&raw const (*task).task);
        }
    }
}

/// What the first task of a scope has for arguments.
#[repr(C)]
struct First(Code, *mut c_void);

/// What it runs.
unsafe extern "C-unwind" fn first(place: *mut c_void) {
    // SAFETY: `run_first` wrote it; its caller's promise.
    unsafe {
        let First(code, arguments) = place.cast::<First>().read();
        code(arguments);
    }
}

/// Runs the first task of a scope. Its arguments are somewhere else.
///
/// # Safety
/// The code may be called with the arguments; the caller is a scope's code.
pub(crate) unsafe fn run_first(here: &Here, code: Code, arguments: *mut c_void) {
    let (worker, root) = (here.worker(), here.worker().current_task());
    // SAFETY: the scope's task is alive; nobody else has the new one.
    unsafe {
        let task = CTask::child(worker, root, first, size_of::<First>(), DEFERRED);
        CTask::arguments(task).cast::<First>().write(First(code, arguments));
        (*root).creates();
        worker.run_now(&raw mut (*task).task);
    }
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
    let task = unsafe { CTask::child(here.worker(), creator.raw(), code, bytes, flags) };
    // SAFETY: it was just written.
    unsafe { (*task).created.set(creator.created.replace(task)) };
    Ok(task)
}

/// Creates a task; null if it does not.
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
    // SAFETY: the caller's promise.
    if let Some(place) = unsafe { arguments.as_mut() } {
        *place = if task.is_null() { ptr::null_mut() } else { CTask::arguments(task) };
    }
    task
}

/// Says how soon a task is to run.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_priority(task: *mut CTask, priority: c_int) -> c_int {
    code(Here::get().and_then(|here| {
        let wrong = |_| Error::Range("`priority`", priority as u64, "-128 to 127");
        let priority = i8::try_from(priority).map_err(wrong)?;
        let task = here.task().created(task)?;
        // SAFETY: it is alive, and nobody else's.
        unsafe { (*task).task.set_priority(priority) };
        Ok(())
    }))
}

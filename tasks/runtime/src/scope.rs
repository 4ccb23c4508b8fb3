//! Scopes: tasks that borrow values which outlive the scope.

mod events;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;

use crate::access::{Access, RangeAccess, Uses};
use crate::children::Until;
use crate::event::Event;
use crate::instrument::{Name, OpenSlice, Role, What};
use crate::panics::{Panics, drop_panic};
use crate::pool::Runtime;
use crate::queued::{Queued, Runner};
use crate::task::Task;
use crate::wait::Stack;
use crate::worker::Worker;

const ELSEWHERE: &str = "tasks of another scope around or inside this one may use the same data";

/// The task around a scope.
#[repr(C)]
struct Root {
    task: Task,
    panics: Panics,
}

/// Creates tasks, in a scope's own code or in a task's.
///
/// Tasks may borrow values that live as long as `'scope`. A task may be inlined: run before `spawn`
/// returns. So it must not wait for a lock that its creator holds. A task that [`Scope::spawn`]
/// inlines is a part of its creator: its [`Scope::wait`] also waits for tasks that the creator
/// created before, and its [`Scope::event`] keeps the creator from being complete. Tasks of
/// [`Scope::task`] that use data are always tasks of their own, and so are all tasks of a
/// configuration with `nocutoff`.
pub struct Scope<'scope> {
    worker: *const Worker,
    task: *const Task,
    /// The task whose table orders the tasks created here: `task`, or the task around a group.
    orderer: *const Task,
    /// Whether every task created here is inlined.
    is_final: bool,
    /// Whether the code is always a task of its own, and so may pause.
    may_pause: bool,
    /// The counter of events, where the task itself does not count them: in a scope's own code, and
    /// in a task of a final one; null elsewhere.
    part: *const Task,
    /// Invariant, and bound to one thread.
    scope: PhantomData<*mut &'scope ()>,
}

/// A trait that no scope has, so that the compiler explains why a scope is not `Sync`.
#[diagnostic::on_unimplemented(
    message = "a task creates others by its own scope, not by that of its creator",
    label = "the scope of another task is used here",
    note = "a body has its own as its argument: `s.spawn(|s| s.spawn(|_| ...))`, and where it uses \
            data `s.task().inout(&data).spawn_with(|s, data| ...)`"
)]
pub trait UsedByAnotherTask {}

// SAFETY: no type implements the trait, which has no name outside of this file.
unsafe impl Sync for Scope<'_> where for<'any> Scope<'any>: UsedByAnotherTask {}

/// A task and its body.
#[repr(C)]
struct Block<F> {
    task: Task,
    body: ManuallyDrop<F>,
}

impl<'scope> Scope<'scope> {
    /// Creates a task.
    #[track_caller]
    pub fn spawn<F>(&self, body: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let worker = self.worker();
        let function = run::<F> as *const () as usize;
        if worker.inlines(function) || self.is_final {
            let scope = Scope { may_pause: false, ..*self };
            return worker.run_inline::<F>(function, || self.run_here(|| body(&scope)));
        }
        worker.instrument.creates::<F>(function);
        let parent = self.creates();
        let bytes = size_of::<Block<F>>();
        const { assert!(align_of::<Block<F>>() <= crate::memory::ALIGNMENT) };
        let block = worker.allocate(bytes).cast::<Block<F>>();
        // SAFETY: the block is large enough, aligned and new; the parent runs, and so is alive.
        // Any worker may run the body, which is `Send`, and does so while 'scope lasts, since the
        // scope does not end before its tasks.
        unsafe {
            let task = Task::child(parent, bytes, run::<F>);
            block.write(Block { task, body: ManuallyDrop::new(body) });
            worker.add(block.cast().as_ptr());
        }
    }

    /// Runs the code of a new task as part of this one, whose children its tasks become.
    pub(crate) fn run_here(&self, body: impl FnOnce()) {
        // SAFETY: this task runs.
        unsafe { run_caught(self.task, body) };
    }

    /// Runs the code of a new task of a final one, and waits for its events: the task keeps its
    /// data until then.
    #[track_caller]
    pub(crate) fn run_final(&self, body: impl FnOnce(&Self)) {
        let part = Task::root(self.task);
        self.run_here(|| body(&Scope { part: &raw const part, ..*self }));
        self.worker().wait_for_children(&part, Until::Children(0));
    }

    /// Waits for all tasks created here, and for the tasks that these created.
    #[track_caller]
    pub fn wait(&self) {
        self.worker().wait_for_children(self.task_of(), Until::Children(0));
    }

    /// Waits for all tasks created here while the caller holds a lock: meanwhile this thread runs
    /// only these tasks and their descendants. Another task might wait for the lock, on top of the
    /// code that would release it.
    pub fn wait_holding(&self) {
        self.worker().wait_tied(self.task_of(), Until::Children(0));
    }

    /// Runs the code of a task, keeps its panic, and finishes it.
    ///
    /// # Safety
    /// The task was taken to be run, and no code uses the task after this call.
    pub(crate) unsafe fn run_body(task: *const Task, worker: &Worker, body: impl FnOnce()) {
        let around = worker.current.replace(task);
        // SAFETY: the task runs here, and the caller does not use it any more.
        unsafe {
            if let Some(accesses) = (*task).accesses.get().as_ref() {
                accesses.fetch();
            }
            run_caught(task, body);
            worker.current.set(around);
            if !worker.is_held(task) {
                worker.finish(task);
            }
        }
    }

    /// Counts one more task that is created here; returns its parent.
    pub(crate) fn creates(&self) -> *const Task {
        self.task_of().children.create();
        self.task
    }

    /// The scope in which a task creates tasks, while its code runs.
    ///
    /// # Safety
    /// The task runs on this worker, in a scope that lasts as long as `'scope`.
    pub(crate) unsafe fn of(task: *const Task, worker: &Worker, may_pause: bool) -> Self {
        let (orderer, part) = (task, ptr::null());
        Self { worker, task, orderer, is_final: false, may_pause, part, scope: PhantomData }
    }

    /// A scope that inlines every task.
    pub(crate) fn as_final(&self) -> Self {
        Scope { is_final: true, ..*self }
    }

    /// Whether every task created here is inlined.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// Creates tasks and waits for them and their descendants, but not for tasks created before.
    /// Tasks of the group and of the scope around that use the same data are ordered together.
    ///
    /// ```
    /// use evenkeel_runtime::{Data, scope};
    ///
    /// let sum = Data::new(1);
    /// scope(|s| {
    ///     s.task().inout(&sum).spawn(|sum| *sum += 1);
    ///     s.group(|s| s.task().inout(&sum).spawn(|sum| *sum *= 10));
    ///     assert_eq!(s.task().input(&sum).run(|sum| *sum), 20);
    /// });
    /// ```
    ///
    /// # Panics
    /// With the first panic of the body or of a task, after all of them have ended.
    #[track_caller]
    pub fn group<R>(&self, body: impl FnOnce(&Scope<'scope>) -> R) -> R {
        scope_around(self.worker(), Location::caller(), |root, events| {
            let scope = Scope { task: root, part: events, ..*self };
            body(&scope)
        })
    }

    /// # Panics
    /// A new task uses data twice, or in a way that the task around did not declare, or tasks of
    /// another scope use the data.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn assert_usable(&self, accesses: &[Access]) {
        Access::assert_distinct(accesses);
        if let Some(held) = self.orderer().held_accesses() {
            held.assert_covers(accesses);
        }
        let elsewhere = self.worker().is_used_elsewhere(self.orderer, accesses);
        assert!(!elsewhere, "{ELSEWHERE}");
    }

    /// Checks the ranges of a new task.
    ///
    /// # Panics
    /// A new task uses a range twice, or tasks of another scope use the range.
    #[track_caller]
    pub(crate) fn assert_ranges_usable(&self, ranges: &[RangeAccess]) {
        RangeAccess::assert_distinct(ranges);
        let elsewhere = self.worker().are_used_elsewhere(self.orderer, ranges);
        assert!(!elsewhere, "{ELSEWHERE}");
    }

    /// Checks the addresses and ranges of a new task.
    ///
    /// # Panics
    /// A new task uses data twice, or tasks of another scope use the data.
    #[track_caller]
    pub(crate) fn assert_uses_usable(&self, uses: Uses<'_>) {
        self.assert_usable(uses.accesses);
        self.assert_ranges_usable(uses.ranges);
    }

    /// Whether a new task that uses data is inlined.
    ///
    /// # Panics
    /// As of `assert_usable`.
    #[track_caller]
    pub(crate) fn inlines(&self, function: usize, accesses: &[Access]) -> bool {
        self.assert_usable(accesses);
        let worker = self.worker();
        worker.inlines(function)
            && worker.is_free(function, self.task_of(), self.orderer(), accesses, Stack::Other)
    }

    /// Whether a new task with these accesses, or with ranges, is inlined, if it may be.
    ///
    /// # Panics
    /// The panics of `assert_usable`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn runs_now(
        &self,
        function: usize,
        accesses: &[Access],
        ranges: Option<Uses<'_>>,
        may: bool,
    ) -> bool {
        match ranges {
            Some(uses) => self.inlines_parts(function, uses) && may,
            None if may => self.inlines(function, accesses),
            None => self.runs_later(accesses),
        }
    }

    /// Checks a new task that is not inlined.
    ///
    /// # Panics
    /// As of `assert_usable`.
    #[track_caller]
    pub(crate) fn runs_later(&self, accesses: &[Access]) -> bool {
        self.assert_usable(accesses);
        false
    }

    /// Whether a new task that uses ranges is inlined. Tasks in its way are not run for that.
    #[track_caller]
    pub(crate) fn inlines_parts(&self, function: usize, uses: Uses<'_>) -> bool {
        self.assert_uses_usable(uses);
        let worker = self.worker();
        // SAFETY: this worker runs the code of the orderer.
        worker.inlines(function) && unsafe { worker.may_use(self.orderer(), uses) }
    }

    /// Waits until a task that uses this could run, and keeps other tasks from the data until the
    /// event that is returned is dropped. Without a conflict no event is needed.
    #[track_caller]
    pub(crate) fn wait_for_data(&self, uses: Uses<'_>) -> Option<Event> {
        // SAFETY: this worker runs the code of both.
        unsafe {
            if self.worker().may_use(self.orderer(), uses) {
                return None;
            }
            Some(self.worker().wait_for_data(self.task_of(), self.orderer(), uses))
        }
    }

    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: only the thread of its worker uses a scope, while that worker runs the task.
        unsafe { &*self.worker }
    }

    /// The task that counts events, if that is not the task whose code runs.
    pub(crate) fn part(&self) -> Option<&Task> {
        // SAFETY: null, or a counter on the stack around, which outlives the scope's use.
        unsafe { self.part.as_ref() }
    }

    /// Whether the code may pause.
    pub(crate) fn may_pause(&self) -> bool {
        self.may_pause
    }

    /// The task whose table orders the tasks created here.
    pub(crate) fn orderer(&self) -> &Task {
        // SAFETY: the orderer's code is on this stack while the scope is used.
        unsafe { &*self.orderer }
    }

    /// The task whose code this is.
    pub(crate) fn task_of(&self) -> &Task {
        // SAFETY: the task runs while its scope is used.
        unsafe { &*self.task }
    }
}

/// Runs code of a task, and keeps its panic for the scope.
///
/// # Safety
/// The task is alive, and below the root of a scope.
unsafe fn run_caught(task: *const Task, body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        // SAFETY: the root of a scope outlives all tasks below it.
        unsafe { (*Task::root_of(task).cast::<Root>()).panics.keep(panic) };
    }
}

/// Runs the body of a task, and finishes it.
unsafe fn run<'scope, F>(queued: *mut Queued, runner: Runner<'_>)
where
    F: FnOnce(&Scope<'scope>) + Send + 'scope,
{
    let block = queued.cast::<Block<F>>();
    // SAFETY: `spawn` wrote the block, and a task is run once.
    unsafe {
        let body = ManuallyDrop::take(&mut (*block).body);
        let (worker, task) = (Worker::of(runner), &raw const (*block).task);
        let scope = Scope::of(task, worker, false);
        Scope::run_body(task, worker, || body(&scope));
    }
}

/// Runs `body`, which creates tasks, and waits for them, at a line of the program.
pub(crate) fn scope_on<'scope, R, F>(
    worker: &Worker,
    body: F,
    location: &'static Location<'static>,
) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let key = scope_on::<R, F> as *const () as usize;
    worker.instrument.scopes::<F>(key, location);
    scope_of(worker, body, key, location)
}

/// [`Runtime::scope`] with a name for the instrumentation.
#[track_caller]
pub(crate) fn scope_called<'scope, R, F>(runtime: &Runtime, name: &'static str, body: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let key = scope_called::<R, F> as *const () as usize;
    let location = Location::caller();
    runtime.as_worker(|worker| {
        let called = || Some(Name { text: name.to_owned(), location: None });
        worker.instrument.calls(key, Role::Code, called);
        scope_of(worker, body, key, location)
    })
}

/// Runs a scope whose code instrumentation knows by a key.
fn scope_of<'scope, R, F>(
    worker: &Worker,
    body: F,
    key: usize,
    location: &'static Location<'static>,
) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let slice = OpenSlice::new();
    let _ends = worker.instrument.begin(&slice, What::Code, key);
    scope_around(worker, location, |root, events| {
        // SAFETY: the root's code runs here, until the scope ends.
        body(&Scope { part: events, ..unsafe { Scope::of(root, worker, true) } })
    })
}

/// Runs `body` as the code of a new root, waits for the tasks below, and then for the events of the
/// root's own code, which a second root counts.
fn scope_around<R>(
    worker: &Worker,
    location: &'static Location<'static>,
    body: impl FnOnce(&Task, &Task) -> R,
) -> R {
    let around = worker.current.get();
    let root = Root { task: Task::root(around), panics: Panics::none() };
    let events = Task::root(around);
    worker.current.set(&root.task);
    let result = catch_unwind(AssertUnwindSafe(|| body(&root.task, &events)));
    worker.wait_for_children_at(&root.task, Until::Descendants, location);
    worker.wait_for_children_at(&events, Until::Children(0), location);
    worker.close_table(&root.task);
    worker.current.set(around);
    let first = root.panics.take();
    match (result, first) {
        (Err(panic), first) => {
            first.into_iter().for_each(drop_panic);
            resume_unwind(panic)
        }
        (Ok(_), Some(panic)) => resume_unwind(panic),
        (Ok(result), None) => result,
    }
}

impl Runtime {
    /// Runs `body`, which creates tasks, on this thread, and returns when all of them have ended.
    ///
    /// At most eight external threads are inside a runtime at a time; a ninth waits until one of
    /// them leaves.
    ///
    /// # Panics
    /// With the first panic of the body or of a task, after all of them have ended.
    #[track_caller]
    pub fn scope<'scope, R>(&self, body: impl FnOnce(&Scope<'scope>) -> R) -> R {
        let location = Location::caller();
        self.as_worker(|worker| scope_on(worker, body, location))
    }
}

/// [`Runtime::scope`] of the runtime that runs this thread's task, or else of the global one.
///
/// Tasks may borrow values from outside of the scope, as threads of [`std::thread::scope`] may. The
/// compiler refuses two tasks that use one value if either changes it:
///
/// ```compile_fail,E0499
/// use evenkeel_runtime::scope;
///
/// let mut sum = 1;
/// scope(|s| {
///     s.spawn(|_| sum += 1);
///     s.spawn(|_| sum *= 10); // `sum`: borrowed as mutable more than once at a time
/// });
/// ```
///
/// If `sum` is [`Data`](crate::Data) and both tasks declare their use, they take turns:
///
/// ```
/// use evenkeel_runtime::{Data, scope};
///
/// let sum = Data::new(1);
/// scope(|s| {
///     s.task().inout(&sum).spawn(|sum| *sum += 1);
///     s.task().inout(&sum).spawn(|sum| *sum *= 10);
/// });
/// assert_eq!(sum.into_inner(), 20);
/// ```
///
/// # Panics
/// As [`Runtime::scope`].
#[track_caller]
pub fn scope<'scope, R>(body: impl FnOnce(&Scope<'scope>) -> R) -> R {
    match Worker::current() {
        // SAFETY: the worker of this thread is alive.
        Some(worker) => scope_on(unsafe { worker.as_ref() }, body, Location::caller()),
        None => scope_outside(body),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn scope_outside<'scope, R>(body: impl FnOnce(&Scope<'scope>) -> R) -> R {
    Runtime::global().scope(body)
}

/// Keeps the compiler from taking a scope to another thread.
#[cfg(doctest)]
#[doc = "```compile_fail\nevenkeel_runtime::scope(|s| s.spawn(|_| s.spawn(|_| ())));\n```"]
pub struct ScopesStayOnTheirThread;

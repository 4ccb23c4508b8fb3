//! Scopes: tasks that borrow what outlives them.

mod events;

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;

use crate::access::{Access, Region, Uses};
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

/// Where tasks are created: a scope's own code, or a task's.
///
/// Tasks may borrow what lives as long as `'scope`. They may run at once, before `spawn` returns,
/// and so must not wait for a lock that their creator holds. What [`Scope::spawn`] runs at once is
/// a part of its creator: [`Scope::wait`] in it waits for what that created before, too, and
/// [`Scope::event`] in it is that one's, for which only those wait that wait for that one. Tasks
/// of [`Scope::task`] that use data, and all by rules with `nocutoff`, are tasks of their own.
pub struct Scope<'scope> {
    worker: *const Worker,
    task: *const Task,
    /// The task among whose children those created here are ordered: `task`, or the one around a
    /// group.
    orderer: *const Task,
    /// Whether tasks created here run at once in any case.
    is_final: bool,
    /// Whether what runs here is a task of its own in any case.
    may_pause: bool,
    /// What waits for events here, where the task itself does not: in a scope's own code, and in a
    /// task of a final one; null elsewhere.
    part: *const Task,
    /// Invariant, and bound to one thread.
    scope: PhantomData<*mut &'scope ()>,
}

/// What a scope never is; the compiler says why.
#[diagnostic::on_unimplemented(
    message = "a task creates others by its own scope, not by that of its creator",
    label = "the scope of another task is used here",
    note = "a body has its own as its argument: `s.spawn(|s| s.spawn(|_| ...))`, and where it uses \
            data `s.task().inout(&data).spawn_with(|s, data| ...)`"
)]
pub trait UsedByAnotherTask {}

// SAFETY: of nothing, since nothing is that, and outside of this file nobody can name it.
unsafe impl Sync for Scope<'_> where for<'any> Scope<'any>: UsedByAnotherTask {}

/// A task and what it runs.
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
        let kind = run::<F> as *const () as usize;
        if worker.inlines(kind) || self.is_final {
            let scope = Scope { may_pause: false, ..*self };
            return worker.run_inline::<F>(kind, || self.run_here(|| body(&scope)));
        }
        worker.instrument.creates::<F>(kind);
        let parent = self.creates();
        let bytes = size_of::<Block<F>>();
        const { assert!(align_of::<Block<F>>() <= crate::memory::ALIGNMENT) };
        let block = worker.allocate(bytes).cast::<Block<F>>();
        // SAFETY: the block is large enough, aligned and ours; the parent runs, and so is alive.
        // Any worker may run the body, since it is `Send`, and does so while 'scope lasts, since
        // the scope does not end before its tasks.
        unsafe {
            let task = Task::child(parent, bytes, run::<F>);
            block.write(Block { task, body: ManuallyDrop::new(body) });
            worker.add(block.cast().as_ptr());
        }
    }

    /// Runs the code of a new task as part of this one: what it creates is created here.
    pub(crate) fn run_here(&self, body: impl FnOnce()) {
        // SAFETY: this task runs.
        unsafe { run_caught(self.task, body) };
    }

    /// The same where every task runs at once, and for one that has its data until its events have
    /// happened: they are waited for.
    #[track_caller]
    pub(crate) fn run_final(&self, body: impl FnOnce(&Self)) {
        let part = Task::root(self.task);
        self.run_here(|| body(&Scope { part: &raw const part, ..*self }));
        self.worker().wait_for_children(&part, Until::Children(0));
    }

    /// Waits for all tasks created here, and for those that they created.
    #[track_caller]
    pub fn wait(&self) {
        self.worker().wait_for_children(self.task_of(), Until::Children(0));
    }

    /// The same, for who holds a lock: meanwhile no tasks run on this thread but those that are
    /// waited for. Others might want the lock, and nobody else could let go of it.
    pub fn wait_holding(&self) {
        self.worker().wait_tied(self.task_of(), Until::Children(0));
    }

    /// Runs the code of a task, keeps its panic, and finishes it.
    ///
    /// # Safety
    /// The task was taken to be run, and is not used after this call.
    pub(crate) unsafe fn run_body(task: *const Task, worker: &Worker, body: impl FnOnce()) {
        let around = worker.current.replace(task);
        // SAFETY: it was run here, and the caller does not use it any more.
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

    /// One more task is created here; returns its parent.
    pub(crate) fn creates(&self) -> *const Task {
        self.task_of().children.create();
        self.task
    }

    /// Where a task creates others, while its code runs.
    ///
    /// # Safety
    /// It runs on this worker, in a scope that lasts as long as is said.
    pub(crate) unsafe fn of(task: *const Task, worker: &Worker, may_pause: bool) -> Self {
        let (orderer, part) = (task, ptr::null());
        Self { worker, task, orderer, is_final: false, may_pause, part, scope: PhantomData }
    }

    /// The same where every task runs at once.
    pub(crate) fn as_final(&self) -> Self {
        Scope { is_final: true, ..*self }
    }

    /// Whether tasks created here run at once in any case.
    pub(crate) fn is_final(&self) -> bool {
        self.is_final
    }

    /// Creates tasks that are waited for together, with all that they create, and with nothing that
    /// was created before. They are ordered with the others that use the same data.
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
    /// A new task uses data twice, or otherwise than the task around it said, or tasks of another
    /// scope use it.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn assert_usable(&self, accesses: &[Access]) {
        Access::assert_distinct(accesses);
        if let Some(domain) = self.orderer().domain() {
            domain.assert_covers(accesses);
        }
        let elsewhere = self.worker().is_used_elsewhere(self.orderer, accesses);
        assert!(!elsewhere, "{ELSEWHERE}");
    }

    /// The same of regions.
    ///
    /// # Panics
    /// As said.
    #[track_caller]
    pub(crate) fn assert_regions_usable(&self, regions: &[Region]) {
        Region::assert_distinct(regions);
        let elsewhere = self.worker().are_used_elsewhere(self.orderer, regions);
        assert!(!elsewhere, "{ELSEWHERE}");
    }

    /// The same of addresses and regions.
    ///
    /// # Panics
    /// A new task uses data twice, or tasks of another scope use it.
    #[track_caller]
    pub(crate) fn assert_uses_usable(&self, uses: Uses<'_>) {
        self.assert_usable(uses.accesses);
        self.assert_regions_usable(uses.regions);
    }

    /// Whether a new task that uses data is to be run at once.
    ///
    /// # Panics
    /// As of `assert_usable`.
    #[track_caller]
    pub(crate) fn inlines(&self, kind: usize, accesses: &[Access]) -> bool {
        self.assert_usable(accesses);
        let worker = self.worker();
        worker.inlines(kind)
            && worker.is_free(kind, self.task_of(), self.orderer(), accesses, Stack::Other)
    }

    /// Whether a new task is run now: one with these accesses, or with regions, that may be or not.
    ///
    /// # Panics
    /// As of `assert_usable`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn runs_now(
        &self,
        kind: usize,
        accesses: &[Access],
        regions: Option<Uses<'_>>,
        may: bool,
    ) -> bool {
        match regions {
            Some(uses) => self.inlines_parts(kind, uses) && may,
            None if may => self.inlines(kind, accesses),
            None => self.runs_later(accesses),
        }
    }

    /// The same of one that may not.
    ///
    /// # Panics
    /// As of `assert_usable`.
    #[track_caller]
    pub(crate) fn runs_later(&self, accesses: &[Access]) -> bool {
        self.assert_usable(accesses);
        false
    }

    /// The same where it uses regions: nobody waits for those that are in its way.
    #[track_caller]
    pub(crate) fn inlines_parts(&self, kind: usize, uses: Uses<'_>) -> bool {
        self.assert_uses_usable(uses);
        let worker = self.worker();
        // SAFETY: this worker runs the code of the orderer.
        worker.inlines(kind) && unsafe { worker.may_use(self.orderer(), uses) }
    }

    /// Waits until a task that uses this could run, and keeps others from it until what is returned
    /// is dropped; nothing where nobody wants it.
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
        // SAFETY: a scope is used on the thread of its worker alone, while that runs it.
        unsafe { &*self.worker }
    }

    /// What waits for events, if it is not the task whose code this is.
    pub(crate) fn part(&self) -> Option<&Task> {
        // SAFETY: it is that task, or on the stack around.
        unsafe { self.part.as_ref() }
    }

    /// Whether its code may stop and be resumed later.
    pub(crate) fn may_pause(&self) -> bool {
        self.may_pause
    }

    /// The task among whose children those created here are ordered.
    pub(crate) fn orderer(&self) -> &Task {
        // SAFETY: its code is on this stack as long as the scope is to be had.
        unsafe { &*self.orderer }
    }

    /// The task whose code this is.
    pub(crate) fn task_of(&self) -> &Task {
        // SAFETY: its task runs as long as the scope is to be had.
        unsafe { &*self.task }
    }
}

/// Runs code of a task, and keeps its panic for who waits for the scope.
///
/// # Safety
/// The task is alive, and of a scope.
unsafe fn run_caught(task: *const Task, body: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
        // SAFETY: tasks of a scope are below its root, which lasts longer than they.
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

/// Runs `body` around which tasks are created, and waits for them, at a line of the program.
pub(crate) fn scope_on<'scope, R, F>(
    worker: &Worker,
    body: F,
    place: &'static Location<'static>,
) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let key = scope_on::<R, F> as *const () as usize;
    worker.instrument.scopes::<F>(key, place);
    scope_of(worker, body, key, place)
}

/// [`Runtime::scope`] that whoever watches knows by this name.
#[track_caller]
pub(crate) fn scope_called<'scope, R, F>(runtime: &Runtime, name: &'static str, body: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let key = scope_called::<R, F> as *const () as usize;
    let place = Location::caller();
    runtime.as_worker(|worker| {
        let called = || Some(Name { text: name.to_owned(), place: None });
        worker.instrument.calls(key, Role::Code, called);
        scope_of(worker, body, key, place)
    })
}

/// The same, whose code is known by a key.
fn scope_of<'scope, R, F>(
    worker: &Worker,
    body: F,
    key: usize,
    place: &'static Location<'static>,
) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    let slice = OpenSlice::new();
    let _ends = worker.instrument.begin(&slice, What::Code, key);
    scope_around(worker, place, |root, events| {
        // SAFETY: its code runs here, until the scope ends.
        body(&Scope { part: events, ..unsafe { Scope::of(root, worker, true) } })
    })
}

/// Runs `body` as the code of a task around others, and waits for them, and for the events of its
/// own code, which are counted at another.
fn scope_around<R>(
    worker: &Worker,
    place: &'static Location<'static>,
    body: impl FnOnce(&Task, &Task) -> R,
) -> R {
    let around = worker.current.get();
    let root = Root { task: Task::root(around), panics: Panics::none() };
    let events = Task::root(around);
    worker.current.set(&root.task);
    let result = catch_unwind(AssertUnwindSafe(|| body(&root.task, &events)));
    worker.wait_for_children_at(&root.task, Until::Descendants, place);
    worker.wait_for_children_at(&events, Until::Children(0), place);
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
    /// Eight threads that are not its own may be inside of a runtime at a time; others wait until
    /// one of them leaves.
    ///
    /// # Panics
    /// With the first panic of the body or of a task, after all of them have ended.
    #[track_caller]
    pub fn scope<'scope, R>(&self, body: impl FnOnce(&Scope<'scope>) -> R) -> R {
        let place = Location::caller();
        self.as_worker(|worker| scope_on(worker, body, place))
    }
}

/// [`Runtime::scope`] of the runtime that runs this thread's task, or else of the global one.
///
/// Tasks may borrow what is outside of the scope, as threads of [`std::thread::scope`] may. What
/// one of them changes no other may use, and the compiler refuses it:
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
/// Where `sum` is [`Data`](crate::Data) and both say that they use it, they take turns:
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

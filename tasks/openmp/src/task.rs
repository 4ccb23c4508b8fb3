//! Tasks are created, added and run: OpenMP's part above the tasks of the runtime.

pub(crate) mod depend;
pub(crate) mod detach;
pub(crate) mod event;
mod gomp;
pub(crate) mod group;
pub(crate) mod header;
mod inlined;
mod kmp;
mod kmp_task;
mod reduction;
pub(crate) mod reduction_gomp;
mod reduction_kmp;
mod taskloop;
mod with_ompt;

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_runtime::internal::{Queued, Runner, Task, Until, Worker};

pub(crate) use depend::Dependences;
pub(crate) use header::{Code, OmpTask};

use crate::cancel::used::is_used;
use crate::ompt::{self, Wait};
use crate::region::{Member, known_member};
use crate::settings::settings;
use crate::thread::Thread;
use event::Event;
use kmp_task::KmpTask;

/// When a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Before its creator goes on.
    Now,
    /// Now or later, as is better.
    Any,
    /// Later, if the creator may go on: the scheduler has already refused to inline the task.
    Later,
}

impl When {
    /// From the `if` clause of the program.
    fn deferred(is_deferred: bool) -> Self {
        if is_deferred { Self::Any } else { Self::Now }
    }
}

/// The size and the finality of a task to be created.
pub(crate) struct Plan {
    /// Bytes behind the header.
    pub bytes: usize,
    pub is_final: bool,
}

impl OmpTask {
    /// A child of the running task, with nothing behind its header yet.
    #[inline(always)]
    pub(crate) fn create(member: &Member, plan: &Plan) -> *mut Self {
        if ompt::is_on() {
            return with_ompt::create(member, plan);
        }
        Self::create_as::<false>(member, plan)
    }

    /// A child of the running task, of which a tool hears with `WITH_OMPT`.
    #[inline(always)]
    pub(crate) fn create_as<const WITH_OMPT: bool>(member: &Member, plan: &Plan) -> *mut Self {
        let (task, bytes) = Self::allocate(member, plan.bytes);
        // SAFETY: the block is large enough, aligned and ours.
        unsafe { Self::begin::<WITH_OMPT>(task, member, bytes, plan.is_final) };
        task
    }

    /// A block with `behind` bytes after a header that is not written yet, and its length.
    fn allocate(member: &Member, behind: usize) -> (*mut Self, usize) {
        let bytes = Self::bytes_with(behind);
        (member.worker().allocate(bytes).cast().as_ptr(), bytes)
    }

    /// Writes the header of a child of the running task, which a tool hears of or not.
    ///
    /// # Safety
    /// [`OmpTask::allocate`] returned the block.
    unsafe fn begin<const WITH_OMPT: bool>(
        task: *mut Self,
        member: &Member,
        bytes: usize,
        is_final: bool,
    ) {
        let creator = member.task();
        // SAFETY: `OmpTask::allocate` returned the block; the creator runs.
        unsafe {
            let child = Task::shallow_child(creator.counts(), bytes, run::<WITH_OMPT>);
            let is_final = is_final || creator.is_final.get();
            Self::write(task, child, creator.icvs.get(), creator.group.get(), is_final);
        }
    }

    /// Sets its priority, as far as the environment allows priorities.
    ///
    /// # Safety
    /// The task is whole, and was not added yet.
    pub(super) unsafe fn set_priority(this: *mut Self, priority: i64) {
        let highest = i64::from(settings().max_task_priority).min(i64::from(i8::MAX));
        let priority = priority.clamp(0, highest);
        // SAFETY: the task is whole, and was not added yet.
        unsafe { (*this).task.set_priority(i8::try_from(priority).unwrap_or_default()) };
    }

    /// Whether cancellation forbids to create tasks where this one runs.
    fn creates_none(&self) -> bool {
        let is_region_cancelled = || {
            let is_cancelled =
                |member: &Member| member.region().is_cancelled.load(Ordering::Relaxed);
            known_member().is_some_and(is_cancelled)
        };
        is_used() && (self.is_cancelled() || is_region_cancelled())
    }

    /// Whether the code runs though the task was cancelled: gcc's code destroys the variables.
    fn runs_anyway(&self) -> bool {
        self.destroys.get() && matches!(self.code.get(), Code::Gomp(..))
    }

    /// Adds a task that was created here to the queues, or runs the task.
    ///
    /// # Safety
    /// The task is whole, was not added before, and has these dependences. It may have ended when
    /// this call returns, and has ended if it is to run now.
    pub(crate) unsafe fn submit(
        this: *mut Self,
        member: &Member,
        dependences: Dependences<'_>,
        when: When,
    ) {
        // SAFETY: the task is whole and was not added before.
        unsafe {
            if ompt::is_on() {
                return with_ompt::submit(this, member, dependences, when);
            }
            Self::submit_without_ompt(this, member, dependences, when);
        }
    }

    /// Adds or runs a task; a tool has heard of the creation.
    ///
    /// # Safety
    /// The task is whole, was not added before, and has these dependences. It may have ended when
    /// this call returns, and has ended if it is to run now.
    #[inline(always)]
    pub(crate) unsafe fn submit_without_ompt(
        this: *mut Self,
        member: &Member,
        dependences: Dependences<'_>,
        when: When,
    ) {
        let (worker, creator) = (member.worker(), member.task());
        // SAFETY: the parent is the creator, or its group; the task is whole.
        unsafe { (*(*this).task.parent()).creates() };
        // SAFETY: this worker runs the creator; the task is whole.
        unsafe {
            if !(*this).event.get().is_null() {
                return Self::submit_with_event(this, member, dependences, when != When::Now);
            }
            let task = &raw mut (*this).task;
            if when == When::Now || (*this).is_final.get() || member.team().is_none() {
                depend::wait_without_ompt(member, dependences.all);
                worker.run_now(task);
            } else if when == When::Any
                && member.should_inline((*this).code.get().function(), dependences.all)
            {
                worker.run_now(task);
            } else if dependences.all.is_empty() {
                worker.submit_free(task);
            } else {
                dependences.submit(worker, task, creator.raw());
            }
        }
    }

    /// Adds a task that has an event. Such a task is always queued, so that later tasks wait for
    /// the event and not for the code alone.
    unsafe fn submit_with_event(
        this: *mut Self,
        member: &Member,
        dependences: Dependences<'_>,
        is_deferred: bool,
    ) {
        let has_run = AtomicBool::new(false);
        let waits = !is_deferred || member.team().is_none();
        // SAFETY: the task is whole; this call waits until the flag is set, if the event has a
        // pointer to the flag.
        unsafe {
            if waits {
                (*(*this).event.get()).tells(&has_run);
            }
            let creator = member.task().raw();
            dependences.submit(member.worker(), &raw mut (*this).task, creator);
            if waits {
                member.worker().run_descendants_until(creator, || has_run.load(Ordering::Acquire));
            }
        }
    }

    /// Runs the other parts of an untied task, whose code returns at a scheduling point to be
    /// called once more.
    ///
    /// # Safety
    /// `variables` are those of this task, of which a part has run.
    unsafe fn go_on<const WITH_OMPT: bool>(&self, variables: *mut KmpTask, thread: i32) {
        while self.goes_on.replace(false) {
            // SAFETY: the program has filled the task.
            unsafe { KmpTask::call::<WITH_OMPT>(variables, thread) };
        }
    }

    /// The task's code has ended, and so has the task, unless its event was not fulfilled.
    ///
    /// # Safety
    /// This worker ran the task, which is not used after this call.
    unsafe fn end(this: *const Self, worker: &Worker) {
        // SAFETY: this worker ran the task, which is not used after this call.
        unsafe {
            let event = (*this).event.get();
            if event.is_null() || Event::code_ended(event) {
                worker.end_task(&raw const (*this).task);
            }
        }
    }

    /// The task was cancelled, and ends without running its code.
    ///
    /// # Safety
    /// This worker ran the task, which is not used after this call.
    unsafe fn end_discarded(this: *const Self, worker: &Worker) {
        // SAFETY: this worker ran the task, which is not used after this call.
        unsafe {
            let event = (*this).event.get();
            if event.is_null() || Event::discarded(event) {
                worker.end_task(&raw const (*this).task);
            }
        }
    }

    /// Waits for the children of the running task, whichever groups they are in.
    pub(crate) fn wait_for_children(member: &Member) {
        let task = member.task();
        ompt::waits(
            || Wait::Taskwait,
            || {
                for group in task.own_groups() {
                    member.worker().wait_tied(group.root(), Until::Children(0));
                }
                member.worker().wait_tied(&task.task, Until::Children(0));
            },
        );
    }
}

/// Runs a task from a queue, or one that its creator waits for; a tool hears of the task with
/// `WITH_OMPT`.
unsafe fn run<const WITH_OMPT: bool>(queued: *mut Queued, runner: Runner<'_>) {
    let task = queued.cast_const().cast::<OmpTask>();
    // SAFETY: the task was whole when it was queued, and each task runs once.
    unsafe {
        let worker = Worker::of(runner);
        let around = worker.go_to(&raw const (*task).task);
        let is_cancelled = (*task).creates_none();
        let is_reported = WITH_OMPT && with_ompt::begins(task, is_cancelled);
        match (*task).code.get() {
            Code::Elsewhere | Code::Blank { .. } => {}
            Code::Kmp(variables) => {
                let thread = Thread::in_region().number;
                if !is_cancelled {
                    KmpTask::call::<WITH_OMPT>(variables, thread);
                    (*task).go_on::<WITH_OMPT>(variables, thread);
                }
                if (*task).destroys.get() {
                    KmpTask::destroy(variables, thread);
                }
            }
            Code::Gomp(..) if is_cancelled && !(*task).runs_anyway() => {}
            Code::MakesTasks(..) if is_cancelled => {}
            Code::MakesTasks(make, tasks) => make(tasks),
            Code::Gomp(function, arguments) if is_reported => {
                ompt::call(function as *const (), arguments, ptr::null_mut());
            }
            Code::Gomp(function, arguments) => function(arguments),
            Code::SetsFlag(says) => (*says).store(true, Ordering::Release),
        }
        if is_reported {
            with_ompt::ends(task);
        }
        worker.go_to(around);
        if is_cancelled && !(*task).runs_anyway() {
            return OmpTask::end_discarded(task, worker);
        }
        OmpTask::end(task, worker);
    }
}

//! Tasks are created, added and run: what OpenMP adds to the tasks of the runtime.

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

use evenkeel_runtime::internal::{Queued, Task, Until, Worker};

pub(crate) use depend::Orders;
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
    /// Later, where it may: it was asked whether it might run now.
    Later,
}

impl When {
    /// As the program says it.
    fn deferred(is_deferred: bool) -> Self {
        if is_deferred { Self::Any } else { Self::Now }
    }
}

/// What is known of a task before it is made.
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

    /// The same, which a tool hears of or not.
    #[inline(always)]
    pub(crate) fn create_as<const WITH_OMPT: bool>(member: &Member, plan: &Plan) -> *mut Self {
        let (task, bytes) = Self::allocate(member, plan.bytes);
        // SAFETY: the block is large enough, aligned and ours.
        unsafe { Self::begin::<WITH_OMPT>(task, member, bytes, plan.is_final) };
        task
    }

    /// A block with so many bytes behind a header that is not written, and its length.
    fn allocate(member: &Member, behind: usize) -> (*mut Self, usize) {
        let bytes = Self::bytes_with(behind);
        (member.worker().allocate(bytes).cast().as_ptr(), bytes)
    }

    /// Writes the header of a child of the running task, which a tool hears of or not.
    ///
    /// # Safety
    /// The block is of [`OmpTask::allocate`].
    unsafe fn begin<const WITH_OMPT: bool>(
        task: *mut Self,
        member: &Member,
        bytes: usize,
        is_final: bool,
    ) {
        let creator = member.task();
        // SAFETY: the caller's promise; the creator runs.
        unsafe {
            let child = Task::shallow_child(creator.counts(), bytes, run::<WITH_OMPT>);
            let is_final = is_final || creator.is_final.get();
            Self::write(task, child, creator.icvs.get(), creator.group.get(), is_final);
        }
    }

    /// Sets its priority, as far as the environment allows priorities.
    ///
    /// # Safety
    /// It is whole, and was not added.
    pub(super) unsafe fn set_priority(this: *mut Self, priority: i64) {
        let highest = i64::from(settings().max_task_priority).min(i64::from(i8::MAX));
        let priority = priority.clamp(0, highest);
        // SAFETY: the caller's promise.
        unsafe { (*this).task.set_priority(i8::try_from(priority).unwrap_or_default()) };
    }

    /// Whether no task is to be created any more where it runs.
    fn creates_none(&self) -> bool {
        let is_region_cancelled = || {
            let is_cancelled =
                |member: &Member| member.region().is_cancelled.load(Ordering::Relaxed);
            known_member().is_some_and(is_cancelled)
        };
        is_used() && (self.is_cancelled() || is_region_cancelled())
    }

    /// Whether its code runs though it was cancelled, since that destroys its variables: gcc's.
    fn runs_anyway(&self) -> bool {
        self.destroys.get() && matches!(self.code.get(), Code::Gomp(..))
    }

    /// Adds a task that was created here, or runs it.
    ///
    /// # Safety
    /// It is whole and was not added before, and is ordered by these; it may have ended when this
    /// returns, and has where it is to run now.
    pub(crate) unsafe fn submit(this: *mut Self, member: &Member, orders: Orders<'_>, when: When) {
        // SAFETY: the caller's promise.
        unsafe {
            if ompt::is_on() {
                return with_ompt::submit(this, member, orders, when);
            }
            Self::submit_without_ompt(this, member, orders, when);
        }
    }

    /// The same, whoever hears of it.
    ///
    /// # Safety
    /// As of [`OmpTask::submit`].
    #[inline(always)]
    pub(crate) unsafe fn submit_without_ompt(
        this: *mut Self,
        member: &Member,
        orders: Orders<'_>,
        when: When,
    ) {
        let (worker, creator) = (member.worker(), member.task());
        // SAFETY: the parent is the creator, or its group; the task is whole.
        unsafe { (*(*this).task.parent()).creates() };
        // SAFETY: this worker runs the creator; the task is whole.
        unsafe {
            if !(*this).event.get().is_null() {
                return Self::submit_with_event(this, member, orders, when != When::Now);
            }
            let task = &raw mut (*this).task;
            if when == When::Now || (*this).is_final.get() || member.team().is_none() {
                depend::wait_without_ompt(member, orders.all);
                worker.run_now(task);
            } else if when == When::Any && member.may_run_now((*this).code.get().kind(), orders.all)
            {
                worker.run_now(task);
            } else if orders.all.is_empty() {
                worker.submit_free(task);
            } else {
                orders.submit(worker, task, creator.raw());
            }
        }
    }

    /// The same of a task that ends when an event was fulfilled, too: it always takes its turn, so
    /// that others wait for its event and not for its code alone.
    unsafe fn submit_with_event(
        this: *mut Self,
        member: &Member,
        orders: Orders<'_>,
        is_deferred: bool,
    ) {
        let has_run = AtomicBool::new(false);
        let waits = !is_deferred || member.team().is_none();
        // SAFETY: the task is whole; the flag lives until it has run, if anybody sets it.
        unsafe {
            if waits {
                (*(*this).event.get()).tells(&has_run);
            }
            let creator = member.task().raw();
            orders.submit(member.worker(), &raw mut (*this).task, creator);
            if waits {
                member.worker().run_descendants_until(creator, || has_run.load(Ordering::Acquire));
            }
        }
    }

    /// Runs the task's other parts, if it is untied and has such: at a scheduling point its code
    /// returned to be called once more.
    ///
    /// # Safety
    /// `variables` are those of this task, of which a part has run.
    unsafe fn go_on<const WITH_OMPT: bool>(&self, variables: *mut KmpTask, thread: i32) {
        while self.goes_on.replace(false) {
            // SAFETY: the program has filled the task.
            unsafe { KmpTask::call::<WITH_OMPT>(variables, thread) };
        }
    }

    /// Its code has ended; and so has it, unless it has an event.
    ///
    /// # Safety
    /// This worker ran it, and it is not used after this call.
    unsafe fn end(this: *const Self, worker: &Worker) {
        // SAFETY: the caller's promise.
        unsafe {
            let event = (*this).event.get();
            if event.is_null() || Event::code_ended(event) {
                worker.end_task(&raw const (*this).task);
            }
        }
    }

    /// It was cancelled, and its code does not run: it has ended.
    ///
    /// # Safety
    /// As of [`OmpTask::end`].
    unsafe fn end_discarded(this: *const Self, worker: &Worker) {
        // SAFETY: the caller's promise.
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

/// Runs a task that was taken from a queue, or that its creator waits for; a tool hears of it
/// where it is `WITH_OMPT`.
unsafe fn run<const WITH_OMPT: bool>(queued: *mut Queued, worker: &Worker) {
    let task = queued.cast_const().cast::<OmpTask>();
    // SAFETY: whoever queued it promised that it is whole; it is run once.
    unsafe {
        let worker = Worker::of(runner);
        let around = worker.go_to(&raw const (*task).task);
        let is_cancelled = (*task).creates_none();
        let is_heard = WITH_OMPT && with_ompt::begins(task, is_cancelled);
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
            Code::Makes(..) if is_cancelled => {}
            Code::Makes(make, tasks) => make(tasks),
            Code::Gomp(function, arguments) if is_heard => {
                ompt::call(function as *const (), arguments, ptr::null_mut());
            }
            Code::Gomp(function, arguments) => function(arguments),
            Code::Says(says) => (*says).store(true, Ordering::Release),
        }
        if is_heard {
            with_ompt::ends(task);
        }
        worker.go_to(around);
        if is_cancelled && !(*task).runs_anyway() {
            return OmpTask::end_discarded(task, worker);
        }
        OmpTask::end(task, worker);
    }
}

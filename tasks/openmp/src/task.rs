//! Tasks: what OpenMP adds to those of the runtime.

pub(crate) mod depend;
mod detach;
mod gomp;
mod group;
mod inlined;
mod kmp;
mod reduction;
mod reduction_gomp;
mod taskloop;

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::{MaybeUninit, offset_of};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use evenkeel_runtime::internal::{OWN_KIND, Queued, Runner, Task, Until, Worker};

pub(crate) use depend::Orders;
pub use detach::Event;
pub(crate) use detach::omp_fulfill_event;
pub(crate) use group::Group;
pub(crate) use inlined::Inlined;
pub(crate) use reduction_gomp::share as share_reductions;

use crate::cancel;
use crate::icv::Icvs;
use crate::lock::OWNERS;
use crate::ompt::{self, Wait};
use crate::region::Member;
use crate::settings::settings;
use crate::thread::Thread;

/// What a task runs.
#[derive(Clone, Copy)]
pub(crate) enum Code {
    /// Nothing: an implicit task, or one whose code its creator runs.
    Elsewhere,
    /// clang's, of which nothing but this and `destroys` is written yet: see [`kmp`]. Its block has
    /// so many bytes.
    Blank { bytes: u32 },
    /// clang's.
    Kmp(*mut kmp::KmpTask),
    /// gcc's, with its arguments.
    Gomp(unsafe extern "C" fn(*mut c_void), *mut c_void),
    /// It makes some tasks of a loop.
    Makes(*const taskloop::Part),
    /// It says that it could run.
    Says(*const AtomicBool),
}

impl Code {
    /// The same for tasks that run the same.
    ///
    /// # Safety
    /// What it runs is there.
    unsafe fn kind(self) -> usize {
        match self {
            // SAFETY: the caller's promise.
            Self::Kmp(variables) => unsafe { kmp::kind(variables) },
            Self::Gomp(function, _) => function as usize,
            Self::Elsewhere | Self::Blank { .. } | Self::Makes(_) | Self::Says(_) => OWN_KIND,
        }
    }
}

/// A task. Behind an explicit one its arguments lie in the same block.
#[repr(C, align(64))]
pub(crate) struct OmpTask {
    task: Task,
    pub icvs: Cell<&'static Icvs>,
    /// The innermost group that it is in, or has begun itself.
    pub group: Cell<*const Group>,
    pub code: Cell<Code>,
    /// Null for most.
    pub event: Cell<*mut Event>,
    /// Whether tasks that it creates are run before it goes on.
    pub is_final: Cell<bool>,
    /// Its number as an owner of nest locks; 0 until it has taken one.
    owner: Cell<u32>,
    /// Whether one of its children depends on all memory.
    orders_all: Cell<bool>,
    /// Whether it has variables to destroy: clang's part, or gcc's code, which so has to run.
    destroys: Cell<bool>,
    /// Whether clang's code has returned to be called once more: untied tasks have parts.
    goes_on: Cell<bool>,
}

const _: () = assert!(offset_of!(OmpTask, task) == 0 && size_of::<OmpTask>() == 128);

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
    /// The task of a thread in a region.
    pub(crate) fn implicit(icvs: &'static Icvs) -> Self {
        let mut place = MaybeUninit::uninit();
        // SAFETY: there is none around it; it is written before it is read.
        unsafe {
            let around = Task::around(ptr::null());
            Self::write(place.as_mut_ptr(), around, icvs, ptr::null(), false);
            place.assume_init()
        }
    }

    /// Writes a task, field by field: to copy a whole one would wait for its own stores.
    ///
    /// # Safety
    /// The place has room, and is aligned.
    #[inline]
    unsafe fn write(
        place: *mut Self,
        task: Task,
        icvs: &'static Icvs,
        group: *const Group,
        is_final: bool,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            (&raw mut (*place).task).write(task);
            (&raw mut (*place).icvs).write(Cell::new(icvs));
            (&raw mut (*place).group).write(Cell::new(group));
            (&raw mut (*place).code).write(Cell::new(Code::Elsewhere));
            (&raw mut (*place).event).write(Cell::new(ptr::null_mut()));
            (&raw mut (*place).is_final).write(Cell::new(is_final));
            (&raw mut (*place).owner).write(Cell::new(0));
            (&raw mut (*place).orders_all).write(Cell::new(false));
            (&raw mut (*place).destroys).write(Cell::new(false));
            (&raw mut (*place).goes_on).write(Cell::new(false));
        }
    }

    /// A child of the running task, with nothing behind its header yet.
    #[inline(always)]
    pub(crate) fn create(member: &Member, plan: &Plan) -> *mut Self {
        if ompt::is_on() {
            return ompt::create(member, plan.bytes, plan.is_final);
        }
        Self::create_as::<false>(member, plan)
    }

    /// The same, which a tool hears of or not.
    #[inline(always)]
    pub(crate) fn create_as<const TOLD: bool>(member: &Member, plan: &Plan) -> *mut Self {
        let (task, bytes) = Self::allocate(member, plan.bytes);
        // SAFETY: the block is large enough, aligned and ours.
        unsafe { Self::begin::<TOLD>(task, member, bytes, plan.is_final) };
        task
    }

    /// Bytes of a block with so many behind the header.
    pub(crate) fn bytes_with(behind: usize) -> usize {
        (size_of::<Self>() + behind).next_multiple_of(align_of::<Self>())
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
    unsafe fn begin<const TOLD: bool>(
        task: *mut Self,
        member: &Member,
        bytes: usize,
        is_final: bool,
    ) {
        let creator = member.task();
        // SAFETY: the caller's promise; the creator runs.
        unsafe {
            let child = Task::shallow_child(creator.counts(), bytes, run::<TOLD>);
            let is_final = is_final || creator.is_final.get();
            Self::write(task, child, creator.icvs.get(), creator.group.get(), is_final);
        }
    }

    /// What tells tasks that take about as long from others: the program's function.
    ///
    /// # Safety
    /// It is alive, and whole.
    pub(crate) unsafe fn kind_of(queued: *const Queued) -> usize {
        // SAFETY: the caller's promise; whatever OpenMP queues is a task of its own.
        unsafe { (*queued.cast::<Self>()).code.get().kind() }
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

    /// What the runtime knows of it.
    pub(crate) fn raw(&self) -> &Task {
        &self.task
    }

    /// The task that created it.
    fn creator(&self) -> &Self {
        let parent = self.task.parent();
        // SAFETY: its parent, and the group that it is in, are alive; only a group's root is no
        // task of OpenMP's.
        unsafe {
            match self.group.get().as_ref() {
                Some(group) if ptr::eq(group.root(), parent) => &*group.owner,
                _ => &*parent.cast(),
            }
        }
    }

    /// Where its children are counted: at the group that it has begun, or at itself.
    fn counts(&self) -> *const Task {
        // SAFETY: a group lives as long as a task is in it.
        match unsafe { self.group.get().as_ref() } {
            Some(group) if ptr::eq(group.owner, self) => group.root(),
            _ => &self.task,
        }
    }

    /// The groups that it is in, the innermost first.
    fn groups(&self) -> impl Iterator<Item = &Group> {
        // SAFETY: a group outlives the tasks in it.
        let first = unsafe { self.group.get().as_ref() };
        std::iter::successors(first, |group| group.outer())
    }

    /// Those that it has begun itself, of which each counts its tasks.
    pub(crate) fn own_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups().take_while(|group| ptr::eq(group.owner, self))
    }

    /// Its number among the tasks that take nest locks: from 1 to [`OWNERS`]. After so many tasks
    /// they begin again, when those with low numbers have long ended.
    pub(crate) fn lock_owner(&self) -> u32 {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        while self.owner.get() == 0 {
            self.owner.set(NEXT.fetch_add(1, Ordering::Relaxed) & OWNERS);
        }
        self.owner.get()
    }

    /// Whether a group that it is in was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.groups().any(Group::is_cancelled)
    }

    /// Whether no task is to be created any more where it runs.
    fn creates_none(&self) -> bool {
        cancel::is_used() && (self.is_cancelled() || cancel::is_region_cancelled())
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
                return ompt::submit(this, member, orders, when);
            }
            Self::submit_untold(this, member, orders, when);
        }
    }

    /// The same, whoever hears of it.
    ///
    /// # Safety
    /// As of [`OmpTask::submit`].
    #[inline(always)]
    pub(crate) unsafe fn submit_untold(
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
                depend::wait_untold(member, orders.all);
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
/// where it is `TOLD`.
unsafe fn run<const TOLD: bool>(queued: *mut Queued, runner: Runner<'_>) {
    let task = queued.cast_const().cast::<OmpTask>();
    // SAFETY: whoever queued it promised that it is whole; it is run once.
    unsafe {
        let worker = Worker::of(runner);
        let around = worker.go_to(&raw const (*task).task);
        let is_cancelled = (*task).creates_none();
        let is_told = TOLD && ompt::begins(task, is_cancelled);
        match (*task).code.get() {
            Code::Elsewhere | Code::Blank { .. } => {}
            Code::Kmp(variables) => {
                let thread = Thread::current().number;
                if !is_cancelled {
                    kmp::call::<TOLD>(variables, thread);
                    kmp::go_on::<TOLD>(&*task, variables, thread);
                }
                if (*task).destroys.get() {
                    kmp::destroy(variables, thread);
                }
            }
            Code::Gomp(..) if is_cancelled && !(*task).runs_anyway() => {}
            Code::Makes(_) if is_cancelled => {}
            Code::Makes(part) => (*part).make(Thread::current().member()),
            Code::Gomp(function, arguments) if is_told => {
                ompt::call(function as *const (), arguments, ptr::null_mut());
            }
            Code::Gomp(function, arguments) => function(arguments),
            Code::Says(says) => (*says).store(true, Ordering::Release),
        }
        if is_told {
            ompt::ends(task);
        }
        worker.go_to(around);
        if is_cancelled && !(*task).runs_anyway() {
            return OmpTask::end_discarded(task, worker);
        }
        OmpTask::end(task, worker);
    }
}

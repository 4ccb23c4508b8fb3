//! A parallel region, and the part that each of its threads has in it.
//!
//! Every thread is always in a region: outside of all `parallel` constructs in its *initial*
//! region, alone.

pub(crate) mod alone;
mod copyprivate;
mod doacross;
pub(crate) mod job;
pub(crate) mod league;
pub(crate) mod mailbox;
pub(crate) mod pooled_team;
pub(crate) mod thread_pool;
pub(crate) mod work;

use std::cell::Cell;
use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use evenkeel_runtime::internal::{self, Until, Worker};

use crate::here::here;
use crate::icv::Icvs;
use crate::ompt::{self, Part, RegionRecord};
use crate::place::Partition;
use crate::settings::settings;
use crate::task::header::OmpTask;
use crate::team::{Barrier, Team};
use crate::thread::Thread;
use doacross::Doacross;
use league::League;
use work::Work;

/// A region: the state that its threads share.
pub(crate) struct Region {
    /// Its threads.
    pub size: u32,
    /// The nesting level: 0 for the initial region, 1 for a region inside, and so on.
    pub level: i32,
    /// The nesting level that counts only regions of several threads.
    pub active_level: i32,
    /// The part of the primary thread in the region around; null for the initial region.
    pub around: *const Member,
    /// The team; null in a region of one thread.
    pub team: *const Team,
    /// `single` constructs that a thread has taken.
    pub singles: AtomicU64,
    /// The data of `copyprivate`, from the thread that took the `single`.
    broadcast: Cell<*mut std::ffi::c_void>,
    /// The number of `single` constructs up to the one that gave that data.
    given: AtomicU64,
    /// The region around whose threads count towards the same limit: the initial one, or that of a
    /// league's team. Null if this region is the one.
    group: *const Region,
    /// Threads that work for a region of this group beside the primary thread; counted only under a
    /// thread limit.
    pub busy: AtomicU32,
    /// The threads of this region that `busy` of the group counts.
    pub counted: Cell<u32>,
    /// The league of teams around.
    pub league: Cell<League>,
    /// Whether `cancel parallel` was met.
    pub is_cancelled: AtomicBool,
    /// Whether the loop or the sections that the threads execute were cancelled. The threads
    /// execute no other ones before the next barrier.
    pub is_work_cancelled: AtomicBool,
    /// The record for a tool; null without one.
    pub tool: Cell<*const RegionRecord>,
}

// SAFETY: fields that are not atomic are written by one thread between two barriers, or before the
// region begins.
unsafe impl Sync for Region {}

impl Region {
    /// A region that the thread of `around` begins inside its innermost region.
    pub(crate) fn inside(around: &Member, size: u32, team: *const Team) -> Self {
        let outer = around.region();
        Self {
            size,
            level: outer.level + 1,
            active_level: outer.active_level + i32::from(size > 1),
            around,
            team,
            group: outer.group(),
            busy: AtomicU32::new(0),
            counted: Cell::new(0),
            league: Cell::new(outer.league.get()),
            singles: AtomicU64::new(0),
            broadcast: Cell::new(ptr::null_mut()),
            given: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            is_work_cancelled: AtomicBool::new(false),
            tool: Cell::new(ptr::null()),
        }
    }

    /// The region that counts the threads of this one.
    pub(crate) fn group(&self) -> &Self {
        // SAFETY: the group's region is around this one, and ends later.
        unsafe { self.group.as_ref() }.unwrap_or(self)
    }

    /// Counts up to `wanted` threads for a new region inside this one, so that at most `limit`
    /// threads work for the group. Returns the number of threads, the caller included.
    pub(crate) fn grant(&self, wanted: u32, limit: u32) -> u32 {
        let busy = &self.group().busy;
        let granted = |busy: u32| wanted.min(limit.saturating_sub(busy)).max(1);
        let add = |busy: u32| Some(busy + granted(busy) - 1);
        let before = busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        before.map_or(1, granted)
    }

    /// The places that the task around has for its teams.
    fn partition_around(&self) -> Partition {
        // SAFETY: the primary thread stays in the region around until this one ends.
        unsafe { self.around.as_ref() }.map_or_else(Partition::whole, |around| around.partition)
    }

    /// All threads have arrived at a barrier, so the loop before the barrier has ended, cancelled
    /// or not.
    fn end_work(&self) {
        if self.is_work_cancelled.load(Ordering::Relaxed) {
            self.is_work_cancelled.store(false, Ordering::Relaxed);
        }
    }

    fn initial() -> Self {
        Self {
            size: 1,
            level: 0,
            active_level: 0,
            around: ptr::null(),
            team: ptr::null(),
            group: ptr::null(),
            busy: AtomicU32::new(0),
            counted: Cell::new(0),
            league: Cell::new(League::NONE),
            singles: AtomicU64::new(0),
            broadcast: Cell::new(ptr::null_mut()),
            given: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
            is_work_cancelled: AtomicBool::new(false),
            tool: Cell::new(ptr::null()),
        }
    }
}

/// The part of one thread in one region. Other threads read only its constant fields.
pub(crate) struct Member {
    region: *const Region,
    /// Which of the region's threads.
    pub number: u32,
    worker: *const Worker,
    /// Where the worker's tasks are.
    pub tree: *const internal::Team,
    /// The part that the thread had before.
    before: *const Member,
    /// The task that the worker ran before.
    ran: Cell<*const internal::Task>,
    /// `single` constructs that this thread has met.
    pub singles: Cell<u64>,
    /// The number of the `single` from which this thread copies in a cancelled region; else 0.
    copies: Cell<u64>,
    pub work: Work,
    /// Places that its own teams are spread over.
    pub partition: Partition,
    doacross: Doacross,
    implicit: OmpTask,
    /// Tasks that run inside the one that the worker knows of, like calls, and have no header.
    pub inlined: Cell<u32>,
}

impl Member {
    /// # Safety
    /// Region, tree and worker outlive the member.
    unsafe fn new(
        region: *const Region,
        number: u32,
        (tree, worker): (*const internal::Team, *const Worker),
        icvs: &'static Icvs,
        partition: Partition,
        met: u64,
    ) -> Self {
        let (before, ran) = (here().member.get().cast(), Cell::new(ptr::null()));
        let (implicit, singles, copies) = (OmpTask::implicit(icvs), Cell::new(0), Cell::new(0));
        let (work, doacross) = (Work::after(met), Doacross::default());
        Self {
            region,
            number,
            worker,
            tree,
            before,
            ran,
            singles,
            copies,
            work,
            partition,
            doacross,
            implicit,
            inlined: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn region(&self) -> &Region {
        // SAFETY: region and worker outlive the member.
        unsafe { &*self.region }
    }

    /// The team, whose tree has the region's tasks; `None` in a region of one thread, which runs
    /// its tasks inline.
    #[inline]
    pub(crate) fn team(&self) -> Option<&Team> {
        // SAFETY: a team outlives its regions.
        unsafe { self.region().team.as_ref() }
    }

    #[inline]
    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: region and worker outlive the member.
        unsafe { &*self.worker }
    }

    /// The innermost task that has a header: the running task, or one around. An inlined task
    /// without a header shares the ICVs and the finality of that task, but not its children and
    /// groups.
    #[inline]
    pub(crate) fn task_with_header(&self) -> &OmpTask {
        // SAFETY: in a region some task always runs, and all are OpenMP's.
        unsafe { &*self.worker().current_task().cast::<OmpTask>() }
    }

    /// The tree with the tasks of its worker, and the worker.
    fn tree_and_worker(&self) -> (*const internal::Team, *const Worker) {
        (self.tree, self.worker)
    }

    /// Makes this the calling thread's innermost part, and its implicit task the running one.
    fn enter(&self) {
        here().member.set(ptr::from_ref(self).cast());
        self.ran.set(self.worker().go_to(self.implicit.raw()));
        if ompt::is_on() {
            self.tell_begin();
        }
    }

    /// Tells a tool that the implicit task begins.
    pub(crate) fn tell_begin(&self) {
        let region = self.region();
        ompt::implicit_begins(Part {
            member: ptr::from_ref(self).cast(),
            number: self.number,
            region: region.tool.get(),
            is_outermost: region.around.is_null(),
        });
    }

    /// Ends the implicit task, all of whose tasks have ended.
    fn leave(&self) {
        if ompt::is_on() {
            ompt::implicit_ends(ptr::from_ref(self).cast());
        }
        self.worker().close(self.implicit.raw());
        self.worker().go_to(self.ran.get());
        here().member.set(self.before.cast());
    }

    /// Leaves a region of several threads, after its last barrier.
    pub(crate) fn leave_team(&self, team: &Team) {
        self.leave_constructs();
        self.has_left();
        let wait = || self.wait_in(&team.end, team, || false);
        if ompt::is_on() {
            ompt::region_barrier(self.number, wait);
        } else {
            wait();
        }
        if self.number == 0 {
            team.ring().met.set(self.work.met.get());
        }
        self.leave();
    }

    /// Waits at a barrier of its team when the tasks below the implicit task have ended.
    fn wait_in(&self, barrier: &Barrier, team: &Team, gives_up: impl Fn() -> bool) {
        for group in self.implicit.own_groups() {
            self.worker().wait_with_any(group.root());
        }
        self.worker().wait_with_any(self.implicit.raw());
        let end_work = || self.region().end_work();
        barrier.wait(team, (self.worker(), self.number), end_work, gives_up);
    }

    /// Waits until all threads of the region have come here and their tasks have ended. Returns
    /// whether the region was cancelled instead.
    pub(crate) fn barrier(&self) -> bool {
        let region = self.region();
        self.has_copied();
        match self.team() {
            Some(team) => {
                self.wait_in(&team.inner, team, || region.is_cancelled.load(Ordering::Acquire))
            }
            None => {
                for group in self.implicit.own_groups() {
                    self.worker().wait_tied(group.root(), Until::Descendants);
                }
                self.worker().wait_tied(self.implicit.raw(), Until::Descendants);
                region.end_work();
            }
        }
        region.is_cancelled.load(Ordering::Relaxed)
    }

    /// Whether this thread is the one that runs the next `single` construct.
    pub(crate) fn takes_single(&self) -> bool {
        let mine = self.singles.get();
        self.singles.set(mine + 1);
        let singles = &self.region().singles;
        self.region().size == 1
            || singles.load(Ordering::Relaxed) == mine
                && singles
                    .compare_exchange(mine, mine + 1, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok()
    }

    /// How many threads may work for its group, where that is limited.
    pub(crate) fn thread_limit(&self) -> Option<u32> {
        let limit = settings().thread_limit.unwrap_or(u32::MAX);
        let limit = limit.min(self.region().league.get().threads_max);
        (limit < u32::MAX).then_some(limit)
    }

    /// The implicit task.
    pub(crate) fn implicit(&self) -> &OmpTask {
        &self.implicit
    }

    /// The number of the thread in the region around; -1 in the initial region.
    pub(crate) fn number_around(&self) -> c_int {
        // SAFETY: the primary thread stays in the region around until this one ends.
        unsafe { self.region().around.as_ref() }.map_or(-1, |around| around.number as c_int)
    }
}

impl Member {
    /// The part of a registered thread, which is the caller, in its innermost region.
    #[inline]
    pub(crate) fn of(_thread: &Thread) -> &'static Self {
        // SAFETY: registration puts a thread into its initial region, and only the thread itself
        // leaves its regions; no caller keeps the reference for longer than the region.
        unsafe { &*here().member.get().cast::<Self>() }
    }
}

/// The part of the calling thread in its innermost region; `None` before the thread's first call.
#[inline(always)]
pub(crate) fn known_member() -> Option<&'static Member> {
    // SAFETY: the pointer is null or leads to a part of this thread, which stays until the thread
    // leaves that region.
    unsafe { here().member.get().cast::<Member>().as_ref() }
}

//! A parallel region, and the part that each of its threads has in it.
//!
//! Every thread is always in one: outside of all others in its *initial* region, alone.

mod across;
mod barrier;
mod copies;
mod crew;
mod job;
mod league;
mod share;
mod work;

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use evenkeel_runtime::Config;
use evenkeel_runtime::internal::{self, Patience, Until, Worker};

pub(crate) use barrier::Barrier;
pub(crate) use crew::{Crew, Team};
pub(crate) use job::{Filled, Function, Job};
pub(crate) use league::League;
pub(crate) use share::Share;
pub(crate) use work::{Asked, How};

use crate::affinity_format::{self, Style};
use crate::environment::Bind;
use crate::icv::Icvs;
use crate::ompt::{self, RegionRecord};
use crate::place::Partition;
use crate::settings::{machine, settings, watch};
use crate::task::{Group, Inlined, OmpTask};
use crate::thread::{Thread, here};
use across::Across;
use work::Work;

/// What the threads of a region share.
pub(crate) struct Region {
    /// Its threads.
    pub size: u32,
    /// Regions around it, the initial one not counted, itself counted.
    pub level: i32,
    /// The same of regions with more than one thread.
    pub active_level: i32,
    /// The part of the thread that began it in the region around; null for the initial one.
    pub around: *const Member,
    /// Null where it has one thread.
    pub team: *const Team,
    /// `single` constructs that a thread has taken.
    pub singles: AtomicU64,
    /// What the thread that took a `single` gives the others.
    broadcast: Cell<*mut std::ffi::c_void>,
    /// How many `single` constructs there were up to that one.
    given: AtomicU64,
    /// The region around whose threads count towards the same limit: the initial one, or that of a
    /// league's team. Null if it is this one.
    group: *const Region,
    /// Threads that work for a region of this group beside the first; counted where there is a
    /// limit.
    pub busy: AtomicU32,
    /// Those of this region, of all of them.
    pub counted: Cell<u32>,
    /// The league of teams that it is in.
    pub league: Cell<League>,
    /// Whether `cancel parallel` was met.
    pub is_cancelled: AtomicBool,
    /// Whether the loop or the sections were cancelled that its threads are in. Until the next
    /// barrier they are in no other.
    pub is_work_cancelled: AtomicBool,
    /// What is kept of it for a tool; null if nothing is.
    pub tool: Cell<*const RegionRecord>,
}

// SAFETY: what is not atomic is written by one thread between two barriers, or before the region
// begins.
unsafe impl Sync for Region {}

impl Region {
    /// A region in another, begun by the thread that has this part of that.
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

    /// Where its threads are counted.
    pub(crate) fn group(&self) -> &Self {
        // SAFETY: it is around this one.
        unsafe { self.group.as_ref() }.unwrap_or(self)
    }

    /// Lets as many threads as are wanted begin a region here, or fewer, so that no more than
    /// `limit` work for the group. Returns how many, the caller counted.
    pub(crate) fn grant(&self, wanted: u32, limit: u32) -> u32 {
        let busy = &self.group().busy;
        let granted = |busy: u32| wanted.min(limit.saturating_sub(busy)).max(1);
        let add = |busy: u32| Some(busy + granted(busy) - 1);
        let before = busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        before.map_or(1, granted)
    }

    /// The places that the task around has for its teams.
    fn partition_around(&self) -> Partition {
        // SAFETY: who began it is in the region around until it ends.
        unsafe { self.around.as_ref() }.map_or_else(Partition::whole, |around| around.partition)
    }

    /// All threads have come to a barrier: the loop before it has ended, cancelled or not.
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

/// The part of one thread in one region. Only that thread uses it, but for what is constant.
pub(crate) struct Member {
    region: *const Region,
    /// Which of the region's threads.
    pub number: u32,
    worker: *const Worker,
    /// Where the worker's tasks are.
    pub tree: *const internal::Team,
    /// The part that the thread had before.
    before: *const Member,
    /// What the worker ran before.
    ran: Cell<*const internal::Task>,
    /// `single` constructs that this thread has met.
    pub singles: Cell<u64>,
    /// The `single` from which this thread copies in a cancelled region; 0 if it does not.
    copies: Cell<u64>,
    pub work: Work,
    /// Places that its own teams are spread over.
    pub partition: Partition,
    across: Across,
    implicit: OmpTask,
    pub inlined: Inlined,
}

/// A region of one thread, and that thread's part.
#[repr(C)]
struct Alone {
    member: Member,
    region: Region,
    /// In the initial region; in others the worker of the region around serves.
    own: Option<Own>,
}

/// A worker of one thread, and the tree of its tasks.
struct Own {
    worker: Box<Worker>,
    tree: Box<internal::Team>,
}

impl Own {
    fn new() -> Self {
        let tree = Box::new(internal::Team::new(
            machine(),
            1,
            Config::default(),
            OmpTask::kind_of,
            false,
            (watch(), None),
        ));
        // SAFETY: the leaf is the only one.
        let worker = Box::new(unsafe { tree.worker(0) });
        // No other worker brings it tasks.
        worker.set_patience(Patience::of(Duration::ZERO));
        Self { worker, tree }
    }

    fn place(&self) -> (*const internal::Team, *const Worker) {
        (&raw const *self.tree, &raw const *self.worker)
    }
}

impl Alone {
    /// Puts a thread into a region of its own.
    fn enter(region: Region, icvs: &'static Icvs, own: Option<Own>) {
        let around = here().member.get();
        // SAFETY: where it has no worker of its own there is a region around.
        let place = own.as_ref().map_or_else(|| unsafe { (*around).place() }, Own::place);
        let alone = Box::into_raw(Box::<Self>::new_uninit()).cast::<Self>();
        let partition = region.partition_around();
        // SAFETY: the box is ours, and stays until it is left; so do worker and tree.
        unsafe {
            let region_place = &raw mut (*alone).region;
            region_place.write(region);
            (&raw mut (*alone).own).write(own);
            let member = &raw mut (*alone).member;
            member.write(Member::new(region_place, 0, place, icvs, partition, 0));
            (*member).enter();
        }
    }

    /// Takes it out of its innermost region.
    ///
    /// # Safety
    /// That is of [`Alone::enter`], and its tasks have ended.
    unsafe fn leave() {
        let alone = here().member.get().cast::<Self>().cast_mut();
        // SAFETY: the member lies first in what `enter` made; nobody has it any more.
        unsafe {
            (*alone).member.leave();
            drop(Box::from_raw(alone));
        }
    }
}

impl Member {
    /// # Safety
    /// Both outlive it.
    unsafe fn new(
        region: *const Region,
        number: u32,
        (tree, worker): (*const internal::Team, *const Worker),
        icvs: &'static Icvs,
        partition: Partition,
        met: u64,
    ) -> Self {
        let (before, ran) = (here().member.get(), Cell::new(ptr::null()));
        let (implicit, singles, copies) = (OmpTask::implicit(icvs), Cell::new(0), Cell::new(0));
        let (work, across) = (Work::after(met), Across::default());
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
            across,
            implicit,
            inlined: Inlined::default(),
        }
    }

    #[inline]
    pub(crate) fn region(&self) -> &Region {
        // SAFETY: the promise of `new`.
        unsafe { &*self.region }
    }

    /// Whose tree the tasks of the region are in; nobody's where they run at once.
    #[inline]
    pub(crate) fn team(&self) -> Option<&Team> {
        // SAFETY: a region's team outlives it.
        unsafe { self.region().team.as_ref() }
    }

    #[inline]
    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: the promise of `new`.
        unsafe { &*self.worker }
    }

    /// The task whose code runs.
    #[inline]
    pub(crate) fn task(&self) -> &OmpTask {
        self.make_task();
        self.task_made()
    }

    /// The same, or the nearest around it that is made: they differ in what belongs to them, and
    /// not in what they inherit.
    #[inline]
    pub(crate) fn task_made(&self) -> &OmpTask {
        // SAFETY: in a region some task always runs, and all are OpenMP's.
        unsafe { &*self.worker().current_task().cast::<OmpTask>() }
    }

    /// Its worker, and the tree of that.
    fn place(&self) -> (*const internal::Team, *const Worker) {
        (self.tree, self.worker)
    }

    /// Makes it what the thread is.
    fn enter(&self) {
        here().member.set(self);
        self.ran.set(self.worker().go_to(self.implicit.raw()));
        if ompt::is_on() {
            ompt::implicit_begins(self);
        }
    }

    /// Ends the implicit task. All its tasks have ended.
    fn leave(&self) {
        if ompt::is_on() {
            ompt::implicit_ends(self);
        }
        self.worker().close(self.implicit.raw());
        self.worker().go_to(self.ran.get());
        here().member.set(self.before);
    }

    /// A thread's first call puts it into its initial region.
    pub(crate) fn enter_initial() {
        let own = Own::new();
        Alone::enter(Region::initial(), Icvs::initial(), Some(own));
    }

    /// A thread ends.
    pub(crate) fn leave_initial() {
        // SAFETY: it is the only region left, of `enter_initial`.
        unsafe { Alone::leave() };
    }

    /// Begins a region of one thread. It ends with [`Member::leave_serial`].
    pub(crate) fn enter_serial(thread: &Thread, bind: Option<Bind>, style: Style) -> &Self {
        let around = thread.member();
        let region = Region::inside(around, 1, ptr::null());
        let icvs = Icvs::inside(around.task().icvs.get(), region.level, bind);
        if ompt::is_on() {
            region.tool.set(ompt::region_begins(1));
        }
        let level = region.level;
        let member = Self::enter_alone(thread, region, icvs);
        if settings().show_affinity && thread.shows_alone(level) {
            affinity_format::show(style);
        }
        member
    }

    /// Begins a region of one thread as if it was the first of that thread. It ends with
    /// [`Member::leave_serial`].
    pub(crate) fn enter_target<'a>(
        thread: &'a Thread,
        icvs: &'static Icvs,
        threads_max: Option<u32>,
    ) -> &'a Self {
        let mut region = Region::initial();
        region.around = thread.member();
        if let Some(threads_max) = threads_max {
            region.league.set(League { threads_max, ..League::NONE });
        }
        Self::enter_alone(thread, region, icvs)
    }

    /// The same of a region that is made already.
    fn enter_alone<'a>(thread: &'a Thread, region: Region, icvs: &'static Icvs) -> &'a Self {
        Alone::enter(region, icvs, None);
        thread.member()
    }

    /// Ends it.
    pub(crate) fn leave_serial(&self) {
        self.leave_constructs();
        self.worker().wait_tied(self.implicit.raw(), Until::Descendants);
        // SAFETY: `enter_serial` began it, and regions end in turn.
        unsafe { Alone::leave() };
    }

    /// Waits until all threads of the region have come here and their tasks have ended. Returns
    /// whether the region was cancelled instead.
    pub(crate) fn barrier(&self) -> bool {
        let region = self.region();
        self.has_copied();
        match self.team() {
            Some(team) => {
                team.inner.wait(self, team, || region.is_cancelled.load(Ordering::Acquire))
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

    /// Whether its thread is outside of all regions and tasks.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.region().around.is_null() && ptr::eq(self.task(), &raw const self.implicit)
    }

    /// The implicit task.
    pub(crate) fn implicit(&self) -> &OmpTask {
        &self.implicit
    }

    /// The taskgroup that the running task is in.
    pub(crate) fn group(&self) -> Option<&Group> {
        // SAFETY: a group outlives the tasks that are in it.
        unsafe { self.task().group.get().as_ref() }
    }
}

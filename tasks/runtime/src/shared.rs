//! What all workers of a runtime share.

use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::access::Turns;
use crate::class::{Placement, Places};
use crate::config::Config;
use crate::deadlock::Waits;
use crate::grain::{FORGET, Grains};
use crate::inbox::Inbox;
use crate::instrument::{Recorder, Snapshot, Watch};
use crate::memory::Depot;
use crate::queued::KindOf;
use crate::scheduler::Scheduler;
use crate::slots::ExternalSlots;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Barrier, Ordering};
use crate::topology::Topology;
use crate::wait::Waiting;

/// How many tasks make a queue full, for each worker but one: a creator that has as many tasks
/// queued while nobody is idle runs the next at once. One creator alone keeps all others busy so; a
/// worker without others queues nothing that could be run.
const CUTOFF: usize = 16;

/// Tasks of a queue that others find; a join adds no more: one is taken while the next is made.
///
/// Each that was taken is missed in the part of a tree that its owner is in, and is made anew in
/// every branch below: k missing ones in depth d cost d^k / k! queued joins.
const ENOUGH: usize = 2;

/// What a worker is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Order {
    /// Run tasks.
    Work,
    /// Run none; stacks that are resumed go on, since no other thread can run them.
    Rest,
    /// End, as there are no tasks any more.
    Stop,
}

/// What whoever makes a runtime says about its tasks.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    /// Tells their kinds, where what is run does not.
    pub(crate) kind_of: Option<KindOf>,
    /// Whether all that lets tasks go on is an [`Event`](crate::Event) or a
    /// [`Resume`](crate::Resume) of theirs.
    pub(crate) knows_events: bool,
    /// Whether only tasks let tasks go on: see [`Builder::closed`].
    pub(crate) is_closed: bool,
    /// Whether more threads of the process want a CPU than there are CPUs, its workers counted
    /// or not.
    pub(crate) is_crowded: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { kind_of: None, knows_events: true, is_closed: false, is_crowded: false }
    }
}

/// What all workers of a runtime share.
pub(crate) struct Shared {
    pub(crate) scheduler: Scheduler,
    pub(crate) config: Config,
    /// As many tasks as a join needs to find before it does without one.
    pub(crate) enough: usize,
    depots: Vec<Depot>,
    domains: Vec<usize>,
    /// Who may be resumed, by leaf.
    resume: Vec<CachePadded<Inbox<Waiting>>>,
    /// What each worker is told to do, by leaf: an [`Order`].
    pub(crate) orders: Vec<CachePadded<AtomicU32>>,
    /// Workers there are.
    pub(crate) present: AtomicUsize,
    /// Workers that were told to rest, and do.
    pub(crate) resting: AtomicUsize,
    /// Whether a worker that is about to sleep looks for a deadlock.
    pub(crate) looks_for_deadlock: AtomicBool,
    /// Who waits, by leaf.
    pub(crate) waits: Vec<CachePadded<Waits>>,
    pub(crate) external_slots: ExternalSlots,
    pub(crate) grains: CachePadded<Grains>,
    pub(crate) options: Options,
    /// How many workers share the samples of which one forgets.
    pub(crate) forget_each: u32,
    pub(crate) turns: Turns,
    /// Who watches.
    pub(crate) watch: Option<Arc<Recorder>>,
    /// Where wide tasks run, if that is chosen.
    pub(crate) places: Option<Places>,
}

impl Shared {
    /// The tree and all that belongs to it, for as many workers, and leaves for `guests` more.
    pub(crate) fn new(
        machine: &Topology,
        config: Config,
        (workers, guests): (usize, usize),
        options: Options,
        (watch, placement): (Option<&Watch>, Option<&Placement>),
    ) -> Arc<Self> {
        let machine = machine.resized(workers).with_more(guests);
        let leaves = machine.cpus();
        let sleeping = if options.is_crowded { usize::MAX } else { leaves };
        let full = if config.cutoff { CUTOFF * (workers - 1) } else { usize::MAX };
        let shared = Arc::new(Self {
            scheduler: Scheduler::new(&machine, config.scheduler, full, Barrier::between(sleeping)),
            config,
            enough: if config.cutoff { ENOUGH } else { usize::MAX },
            depots: (0..machine.domains()).map(|_| Depot::new()).collect(),
            domains: (0..leaves).map(|leaf| machine.domain_of(leaf)).collect(),
            resume: (0..leaves).map(|_| CachePadded::new(Inbox::new())).collect(),
            orders: (0..leaves).map(|_| AtomicU32::new(Order::Work as u32).into()).collect(),
            present: AtomicUsize::new(0),
            resting: AtomicUsize::new(0),
            looks_for_deadlock: AtomicBool::new(false),
            waits: (0..leaves).map(|_| CachePadded::default()).collect(),
            options,
            grains: Grains::new().into(),
            forget_each: u32::try_from(workers).unwrap_or(u32::MAX / FORGET).max(1),
            turns: Turns::new(),
            external_slots: ExternalSlots::new(
                std::iter::once(0).chain(workers..leaves),
                config.memory,
            ),
            watch: watch.map(Watch::recorder),
            places: placement.map(|placement| Places::new(placement.clone(), leaves)),
        });
        if let Some(recorder) = &shared.watch {
            let watched = Arc::downgrade(&shared);
            recorder.watches(move || watched.upgrade().map(|shared| shared.snapshot()));
        }
        shared
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            steps: self.scheduler.steps(),
            task_bytes: self.task_memory_bytes(),
            wide_places: self.places.as_ref().map(Places::in_words),
        }
    }

    /// Bytes that were taken from the system for tasks.
    pub(crate) fn task_memory_bytes(&self) -> usize {
        self.depots.iter().map(Depot::bytes).sum()
    }

    /// Where a leaf's worker gets memory.
    pub(crate) fn depot_of(&self, leaf: usize) -> &Depot {
        &self.depots[self.domains[leaf]]
    }

    pub(crate) fn resume_box(&self, leaf: usize) -> &Inbox<Waiting> {
        &self.resume[leaf]
    }

    /// Lets one who waits go on, on its own thread.
    ///
    /// # Safety
    /// It waits, and nobody else resumes it.
    pub(crate) unsafe fn resume(&self, waiting: *const Waiting) {
        // SAFETY: the caller's promise; afterwards it may be gone at any time.
        let leaf = unsafe { (*waiting).leaf };
        // SAFETY: as above.
        unsafe { self.resume[leaf].push(waiting.cast_mut()) };
        self.scheduler.leaf(leaf).parker.unpark();
    }

    /// One who waits on a leaf.
    pub(crate) fn begins_to_wait(&self, waiting: &Waiting) {
        if self.options.knows_events {
            self.waits[waiting.leaf].add(waiting);
        }
    }

    /// It goes on.
    pub(crate) fn goes_on(&self, waiting: &Waiting) {
        if self.options.knows_events {
            self.waits[waiting.leaf].remove(waiting);
        }
    }

    /// Whether somebody waits.
    pub(crate) fn has_waits(&self) -> bool {
        self.waits.iter().any(|waits| !waits.is_empty())
    }

    /// Tells a worker what to do.
    pub(crate) fn set_order(&self, leaf: usize, order: Order) {
        // Pairs with `unpark`, and so with whoever wakes up.
        self.orders[leaf].store(order as u32, Ordering::SeqCst);
        self.scheduler.leaf(leaf).parker.unpark();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(recorder) = &self.watch {
            recorder.forgets(self.snapshot());
        }
    }
}

//! State that all workers of a runtime share.

use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::access::Turns;
use crate::class::{Placement, WideTasks};
use crate::config::Config;
use crate::deadlock::Waits;
use crate::grain::{FORGET, Grains};
use crate::inbox::Inbox;
use crate::instrument::{Counts, Recorder, Watch};
use crate::memory::Depot;
use crate::queued::FunctionOf;
use crate::scheduler::Scheduler;
use crate::slots::ExternalSlots;
use crate::sync::{AsymmetricFence, AtomicBool, AtomicU32, AtomicUsize, Ordering};
use crate::topology::Topology;
use crate::wait::Waiting;

/// Tasks that make a queue full, for each worker but one: a creator with as many queued tasks
/// inlines the next while no worker is idle. So one creator keeps all other workers busy, and a
/// single worker queues no task that could run at once.
const CUTOFF: usize = 16;

/// Tasks to steal that a join leaves in its queue before adding no more: one is stolen while the
/// next is created.
///
/// A stolen task is missing in the part of the call tree that its owner runs, and is created anew
/// in every branch below: k missing tasks in depth d cost d^k / k! queued joins.
const ENOUGH: usize = 2;

/// Whether a worker works, rests or ends; other threads set this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum WorkerMode {
    /// Run tasks.
    Work,
    /// Run no tasks; stacks that are resumed go on, since no other thread can run them.
    Rest,
    /// End: no task is left.
    Stop,
}

/// Properties of its tasks that the creator of a runtime declares.
#[derive(Clone, Copy)]
pub(crate) struct Options {
    /// Returns the function that a task runs, where the `run` of the task is a function of the
    /// library above.
    pub(crate) function_of: Option<FunctionOf>,
    /// Whether only an [`Event`](crate::Event) or a [`Resume`](crate::Resume) lets tasks go on that
    /// wait for no other task. Else deadlocks are not looked for.
    pub(crate) knows_events: bool,
    /// Whether only tasks let tasks go on: see [`crate::Builder::closed`].
    pub(crate) is_closed: bool,
    /// Whether the process has more runnable threads than CPUs.
    pub(crate) is_crowded: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { function_of: None, knows_events: true, is_closed: false, is_crowded: false }
    }
}

/// State that all workers of a runtime share.
pub(crate) struct Shared {
    pub(crate) scheduler: Scheduler,
    pub(crate) config: Config,
    /// With as many tasks to steal, a join adds no more.
    pub(crate) enough: usize,
    depots: Vec<Depot>,
    domains: Vec<usize>,
    /// Waiting tasks that may go on, by leaf.
    resume: Vec<CachePadded<Inbox<Waiting>>>,
    /// The mode of each worker, by leaf: a [`WorkerMode`].
    pub(crate) modes: Vec<CachePadded<AtomicU32>>,
    /// Workers that may run tasks.
    pub(crate) present: AtomicUsize,
    /// Workers that rest.
    pub(crate) resting: AtomicUsize,
    /// Whether a worker that is about to sleep looks for a deadlock.
    pub(crate) looks_for_deadlock: AtomicBool,
    /// The tasks that wait, by leaf.
    pub(crate) waits: Vec<CachePadded<Waits>>,
    pub(crate) external_slots: ExternalSlots,
    pub(crate) grains: CachePadded<Grains>,
    pub(crate) options: Options,
    /// One worker of this many may forget the lengths of earlier tasks at a sample.
    pub(crate) forget_each: u32,
    pub(crate) turns: Turns,
    /// The recording, if the runtime is watched.
    pub(crate) watch: Option<Arc<Recorder>>,
    /// Where wide tasks run, if the program has chosen.
    pub(crate) wide_tasks: Option<WideTasks>,
}

impl Shared {
    /// The state for as many workers, with leaves for `guests` external threads beyond the first.
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
            scheduler: Scheduler::new(
                &machine,
                config.scheduler,
                full,
                AsymmetricFence::between(sleeping),
            ),
            config,
            enough: if config.cutoff { ENOUGH } else { usize::MAX },
            depots: (0..machine.domains()).map(|_| Depot::new()).collect(),
            domains: (0..leaves).map(|leaf| machine.domain_of(leaf)).collect(),
            resume: (0..leaves).map(|_| CachePadded::new(Inbox::new())).collect(),
            modes: (0..leaves).map(|_| AtomicU32::new(WorkerMode::Work as u32).into()).collect(),
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
            wide_tasks: placement.map(|placement| WideTasks::new(placement.clone(), leaves)),
        });
        if let Some(recorder) = &shared.watch {
            let watched = Arc::downgrade(&shared);
            recorder.watches(move || watched.upgrade().map(|shared| shared.counts()));
        }
        shared
    }

    fn counts(&self) -> Counts {
        Counts {
            steps: self.scheduler.steps(),
            task_bytes: self.task_memory_bytes(),
            wide_places: self.wide_tasks.as_ref().map(WideTasks::in_words),
        }
    }

    /// Bytes that were taken from the system for tasks.
    pub(crate) fn task_memory_bytes(&self) -> usize {
        self.depots.iter().map(Depot::bytes).sum()
    }

    /// The NUMA domain of each leaf.
    #[cfg(evenkeel_model)]
    pub(crate) fn domains(&self) -> &[usize] {
        &self.domains
    }

    /// The memory of the NUMA domain of a leaf.
    pub(crate) fn depot_of(&self, leaf: usize) -> &Depot {
        &self.depots[self.domains[leaf]]
    }

    pub(crate) fn resume_box(&self, leaf: usize) -> &Inbox<Waiting> {
        &self.resume[leaf]
    }

    /// Lets a task that waits go on, on its own thread.
    ///
    /// # Safety
    /// The task waits, and no other thread resumes it.
    pub(crate) unsafe fn resume(&self, waiting: *const Waiting) {
        // SAFETY: the task waits until `waiting` is pushed; after that its stack may end.
        let leaf = unsafe { (*waiting).leaf };
        // SAFETY: the task waits, and so its `Waiting` is alive and in no list.
        unsafe { self.resume[leaf].push(waiting.cast_mut()) };
        self.scheduler.leaf(leaf).parker.unpark();
    }

    /// A task waits from here on.
    pub(crate) fn begins_to_wait(&self, waiting: &Waiting) {
        if self.options.knows_events {
            self.waits[waiting.leaf].add(waiting);
        }
    }

    /// A task that waited goes on.
    pub(crate) fn goes_on(&self, waiting: &Waiting) {
        if self.options.knows_events {
            self.waits[waiting.leaf].remove(waiting);
        }
    }

    /// Whether a task waits.
    pub(crate) fn has_waits(&self) -> bool {
        self.waits.iter().any(|waits| !waits.is_empty())
    }

    /// Sets the mode of a worker, and wakes the worker.
    pub(crate) fn set_mode(&self, leaf: usize, mode: WorkerMode) {
        // Ordered before `unpark`, and so seen by the worker that wakes.
        self.modes[leaf].store(mode as u32, Ordering::SeqCst);
        self.scheduler.leaf(leaf).parker.unpark();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(recorder) = &self.watch {
            recorder.forgets(self.counts());
        }
    }
}

//! A runtime: its workers, and how a thread becomes one of them.

use std::io;
use std::sync::atomic::AtomicPtr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_utils::CachePadded;

use crate::access::Turns;
use crate::class::{Placement, Places};
use crate::fork::forks;
use crate::grain::{FORGET, Grains};
use crate::guest::{SEATS_MORE, Seats};
use crate::inbox::Inbox;
use crate::limits::{no_thread, too_many};
use crate::memory::{Depot, Memory};
use crate::queued::KindOf;
use crate::ready::{Ready, Scheduler};
use crate::seen::{Recorder, Watch};
use crate::stuck::Waits;
use crate::sync::lock_std;
use crate::sync::{AtomicBool, AtomicU32, AtomicUsize, Barrier, Ordering};
use crate::topology::Topology;
use crate::variables::tell_unknown;
use crate::wait::Waiting;
use crate::worker::{Order, Worker};

/// How many tasks make a queue full, for each worker but one: a creator that has as many tasks
/// queued while nobody is idle runs the next at once. One creator alone keeps all others busy so; a
/// worker without others queues nothing that could be run.
const CUTOFF: usize = 16;

/// More workers than any machine has; a mistyped number is told before it takes all memory.
const WORKERS_MAX: usize = 65_536;

/// Tasks of a queue that others find; a join adds no more: one is taken while the next is made.
///
/// Each that was taken is missed in the part of a tree that its owner is in, and is made anew in
/// every branch below: k missing ones in depth d cost d^k / k! queued joins.
const ENOUGH: usize = 2;

/// What can be chosen of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How ready tasks are kept and spread.
    pub ready: Scheduler,
    /// Where tasks get their memory.
    pub memory: Memory,
    /// Whether a creator whose queue is full runs its next task at once.
    pub cutoff: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { ready: Scheduler::default(), memory: Memory::Pools, cutoff: true }
    }
}

/// What whoever makes a runtime says about its tasks.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
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

impl Default for Asked {
    fn default() -> Self {
        Self { kind_of: None, knows_events: true, is_closed: false, is_crowded: false }
    }
}

/// What all workers of a runtime share.
pub(crate) struct Shared {
    pub(crate) ready: Ready,
    pub(crate) rules: Rules,
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
    /// Whether a worker that is about to sleep looks whether nothing will ever go on.
    pub(crate) looks_whether_stuck: AtomicBool,
    /// Who waits, by leaf.
    pub(crate) waits: Vec<CachePadded<Waits>>,
    pub(crate) seats: Seats,
    pub(crate) grains: CachePadded<Grains>,
    pub(crate) asked: Asked,
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
        rules: Rules,
        (workers, guests): (usize, usize),
        asked: Asked,
        (watch, placement): (Option<&Watch>, Option<&Placement>),
    ) -> Arc<Self> {
        let machine = machine.resized(workers).with_more(guests);
        let leaves = machine.cpus();
        let sleeping = if asked.is_crowded { usize::MAX } else { leaves };
        let full = if rules.cutoff { CUTOFF * (workers - 1) } else { usize::MAX };
        let shared = Arc::new(Self {
            ready: Ready::new(&machine, rules.ready, full, Barrier::between(sleeping)),
            rules,
            enough: if rules.cutoff { ENOUGH } else { usize::MAX },
            depots: (0..machine.domains()).map(|_| Depot::new()).collect(),
            domains: (0..leaves).map(|leaf| machine.domain_of(leaf)).collect(),
            resume: (0..leaves).map(|_| CachePadded::new(Inbox::new())).collect(),
            orders: (0..leaves).map(|_| AtomicU32::new(Order::Work as u32).into()).collect(),
            present: AtomicUsize::new(0),
            resting: AtomicUsize::new(0),
            looks_whether_stuck: AtomicBool::new(false),
            waits: (0..leaves).map(|_| CachePadded::default()).collect(),
            asked,
            grains: Grains::new().into(),
            forget_each: u32::try_from(workers).unwrap_or(u32::MAX / FORGET).max(1),
            turns: Turns::new(),
            seats: Seats::new(std::iter::once(0).chain(workers..leaves), rules.memory),
            watch: watch.map(Watch::recorder),
            places: placement.map(|placement| Places::new(placement.clone(), leaves)),
        });
        if let Some(recorder) = &shared.watch {
            recorder.watches(&shared);
        }
        shared
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
        self.ready.leaf(leaf).parker.unpark();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(recorder) = &self.watch {
            recorder.forgets(self);
        }
    }
}

/// A task runtime: workers that run the tasks of [scopes](Runtime::scope).
///
/// As many tasks run at once as it has workers. One of them is whoever calls [`Runtime::scope`]: so
/// there is a thread less than there are workers.
pub struct Runtime {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// [`forks`] when the threads were started.
    forks: u32,
}

/// How a [`Runtime`] is to be.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    workers: Option<usize>,
    topology: Option<Topology>,
    rules: Rules,
    is_closed: bool,
    pub(crate) kind_of: Option<KindOf>,
    watch: Option<Watch>,
    placement: Option<Placement>,
}

impl Builder {
    /// How many workers, up to 65,536; as many as there are CPUs to use, if it is 0 or not said.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = (workers > 0).then_some(workers);
        self
    }

    /// The machine that the tree is built after; this one, if it is not said.
    #[must_use]
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// The thesis's choices, and ours.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Whether no thread from outside ever ends an [`Event`](crate::Event) or uses a
    /// [`Resume`](crate::Resume): tasks alone do. Then tasks that wait for each other are told, and
    /// the process ends, where it would stand still; else only if no event and no resume is left.
    #[must_use]
    pub fn closed(mut self, is_closed: bool) -> Self {
        self.is_closed = is_closed;
        self
    }

    /// Who records what happens; nobody, if it is not said.
    #[must_use]
    pub fn watch(mut self, watch: &Watch) -> Self {
        self.watch = Some(watch.clone());
        self
    }

    /// Where wide tasks run; anywhere, if it is not said.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = Some(placement);
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// There are to be too many, or the system gives no thread for one of them.
    pub fn build(self) -> io::Result<Runtime> {
        let declared = self.topology.is_some();
        let machine = self.topology.unwrap_or_else(Topology::of_machine);
        let usable = if declared { machine.cpus() } else { parallelism(machine.cpus()) };
        let workers = self.workers.unwrap_or(usable);
        if workers > WORKERS_MAX {
            let text = format!("`workers` is {workers}; expected at most {WORKERS_MAX}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let seats = (workers, SEATS_MORE);
        let (kind_of, is_closed) = (self.kind_of, self.is_closed);
        let asked = Asked { kind_of, is_closed, ..Asked::default() };
        let beside = (self.watch.as_ref(), self.placement.as_ref());
        let shared = Shared::new(&machine, self.rules, seats, asked, beside);
        if let Some(error) = too_many(workers) {
            return Err(error);
        }
        let mut runtime = Runtime { shared: shared.clone(), threads: Vec::new(), forks: forks() };
        for leaf in 1..workers {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name(format!("evenkeel {leaf}"));
            // It is there before it begins: what stands still is told by who is.
            shared.present.fetch_add(1, Ordering::SeqCst);
            let started = thread.spawn(move || {
                let worker = Worker::new(shared, leaf);
                worker.shared.present.fetch_sub(1, Ordering::SeqCst);
                worker.enter(|| worker.work());
            });
            runtime.threads.push(started.map_err(|error| no_thread(leaf, workers, &error))?);
        }
        Ok(runtime)
    }
}

/// CPUs that may be used at once: a control group may allow less time than the mask has CPUs.
fn parallelism(cpus: usize) -> usize {
    std::thread::available_parallelism().map_or(cpus, |usable| usable.get().min(cpus))
}

impl Runtime {
    /// One worker a CPU that this process may use.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn new() -> io::Result<Self> {
        Builder::default().build()
    }

    /// A runtime of one's own choice.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// How many tasks run at once.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.threads.len() + 1
    }

    /// Bytes that were taken from the system for tasks.
    #[must_use]
    pub fn task_memory_bytes(&self) -> usize {
        self.shared.task_memory_bytes()
    }

    /// # Panics
    /// The process is the child of the one that made it.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        assert!(self.has_threads(), "the threads of a runtime do not live on in a child process");
        &self.shared
    }

    pub(crate) fn has_threads(&self) -> bool {
        self.forks == forks()
    }

    /// The runtime that [`crate::scope()`] and [`crate::join()`] use outside of any other: as
    /// [`Runtime::new`] makes it, at its first use in a process: a child process gets another.
    ///
    /// # Panics
    /// The system gives no thread.
    pub fn global() -> &'static Self {
        static GLOBAL: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());
        static MAKING: Mutex<()> = Mutex::new(());
        let of_process = || {
            // SAFETY: one that was made stays.
            unsafe { GLOBAL.load(Ordering::Acquire).as_ref() }.filter(|made| made.has_threads())
        };
        of_process().unwrap_or_else(|| {
            let _making = lock_std(&MAKING);
            of_process().unwrap_or_else(|| {
                tell_unknown();
                let builder = Builder {
                    watch: Watch::of_environment(),
                    placement: Placement::of_environment(),
                    ..Builder::default()
                };
                let made =
                    builder.build().unwrap_or_else(|error| panic!("no task runtime: {error}"));
                let made = Box::leak(Box::new(made));
                GLOBAL.store(made, Ordering::Release);
                made
            })
        })
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.has_threads() {
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        for leaf in 1..self.workers() {
            self.shared.tell(leaf, Order::Stop);
        }
        for thread in self.threads.drain(..) {
            // A worker's panic was told when it happened; it cannot be mended here.
            let _ = thread.join();
        }
    }
}

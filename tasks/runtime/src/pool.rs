//! A runtime: its workers, and how a thread becomes one of them.

use std::io;
use std::sync::atomic::AtomicPtr;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_utils::CachePadded;

use crate::class::Placement;
use crate::config::Config;
use crate::fork::forks;
use crate::instrument::Watch;
use crate::limits::{no_thread, too_many};
use crate::queued::KindOf;
use crate::shared::{Options, Order, Shared};
use crate::slots::SLOTS_MORE;
use crate::sync::lock_std;
use crate::sync::{AtomicU32, Ordering};
use crate::topology::Topology;
use crate::variables::tell_unknown;
use crate::worker::Worker;

/// More workers than any machine has; a mistyped number is told before it takes all memory.
const WORKERS_MAX: usize = 65_536;

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
    config: Config,
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
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
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
        let slots = (workers, SLOTS_MORE);
        let (kind_of, is_closed) = (self.kind_of, self.is_closed);
        let options = Options { kind_of, is_closed, ..Options::default() };
        let beside = (self.watch.as_ref(), self.placement.as_ref());
        let shared = Shared::new(&machine, self.config, slots, options, beside);
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

impl Runtime {
    /// Lets only so many workers run tasks from here on, counting the thread that a scope is
    /// called on: that one always does, so that 0 is as 1, and more than there are is all of them.
    ///
    /// A worker that is to rest ends the task that it runs, leaves its others to the rest, and
    /// sleeps until it is told to work again. What waits on its thread goes on there even so.
    ///
    /// ```
    /// use evenkeel_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().workers(4).build()?;
    /// runtime.set_workers(2); // somebody else needs two CPUs
    /// runtime.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
    /// runtime.set_workers(4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_workers(&self, workers: usize) {
        for worker in 1..self.workers() {
            self.set_working(worker, worker < workers);
        }
    }

    /// Says whether one worker runs tasks. They are numbered in the order of the machine's CPUs;
    /// number 0 is whoever calls a scope, and always does.
    ///
    /// # Panics
    /// There is no such worker.
    #[track_caller]
    pub fn set_working(&self, worker: usize, works: bool) {
        let workers = self.workers();
        assert!((1..workers).contains(&worker), "worker {worker} of {workers}; 0 always works");
        self.shared().set_order(worker, if works { Order::Work } else { Order::Rest });
    }

    /// How many workers were told to run tasks, counting the thread that a scope is called on.
    #[must_use]
    pub fn working(&self) -> usize {
        let rests =
            |order: &&CachePadded<AtomicU32>| order.load(Ordering::Relaxed) == Order::Rest as u32;
        self.workers() - self.shared().orders.iter().filter(rests).count()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.has_threads() {
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        for leaf in 1..self.workers() {
            self.shared.set_order(leaf, Order::Stop);
        }
        for thread in self.threads.drain(..) {
            // A worker's panic was told when it happened; it cannot be mended here.
            let _ = thread.join();
        }
    }
}

//! A runtime: how its workers start, rest and end.

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
use crate::queued::FunctionOf;
use crate::shared::{Options, Shared, WorkerMode};
use crate::slots::SLOTS_MORE;
use crate::sync::lock_std;
use crate::sync::{AtomicU32, Ordering};
use crate::topology::Topology;
use crate::variables::{tell_unknown, tell_unwritten};
use crate::worker::Worker;

/// More workers than any machine has: a mistyped number fails before all memory is taken.
const WORKERS_MAX: usize = 65_536;

/// A task runtime: workers that run the tasks of [scopes](Runtime::scope).
///
/// Its workers run tasks in parallel. The thread that calls [`Runtime::scope`] is one of them, so
/// that a runtime starts one thread less than its number of workers.
pub struct Runtime {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// [`forks`] when the threads were started.
    forks: u32,
}

/// Builds a [`Runtime`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    workers: Option<usize>,
    topology: Option<Topology>,
    config: Config,
    is_closed: bool,
    pub(crate) function_of: Option<FunctionOf>,
    watch: Option<Watch>,
    placement: Option<Placement>,
}

impl Builder {
    /// The number of workers, up to 65,536. Default, and 0: one for each usable CPU.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = (workers > 0).then_some(workers);
        self
    }

    /// The machine that gives the scheduler's tree its shape. Default: the machine of the process.
    #[must_use]
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// Scheduler, memory and cutoff.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Whether only tasks end an [`Event`](crate::Event) or use a [`Resume`](crate::Resume), and no
    /// other thread does. Default: no. A closed runtime reports a deadlock and ends the process as
    /// soon as all workers sleep; any other does so only if no event and no resume is left.
    #[must_use]
    pub fn closed(mut self, is_closed: bool) -> Self {
        self.is_closed = is_closed;
        self
    }

    /// The recording. Default: none.
    #[must_use]
    pub fn watch(mut self, watch: &Watch) -> Self {
        self.watch = Some(watch.clone());
        self
    }

    /// Where wide tasks run. Default: anywhere.
    #[must_use]
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = Some(placement);
        self
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// More than 65,536 workers, or the system has no thread for one of them.
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
        let (function_of, is_closed) = (self.function_of, self.is_closed);
        let options = Options { function_of, is_closed, ..Options::default() };
        let beside = (self.watch.as_ref(), self.placement.as_ref());
        let shared = Shared::new(&machine, self.config, slots, options, beside);
        if let Some(error) = too_many(workers) {
            return Err(error);
        }
        let mut runtime = Runtime { shared: shared.clone(), threads: Vec::new(), forks: forks() };
        for leaf in 1..workers {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().name(format!("evenkeel {leaf}"));
            // Deadlock detection compares with the count: the worker counts before its thread runs.
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

/// CPUs whose time the process may use: a control group may allow less than the affinity mask.
fn parallelism(cpus: usize) -> usize {
    std::thread::available_parallelism().map_or(cpus, |usable| usable.get().min(cpus))
}

impl Runtime {
    /// A runtime with a worker for each CPU that the process may use.
    ///
    /// # Errors
    /// The system has no thread for one of them.
    pub fn new() -> io::Result<Self> {
        Builder::default().build()
    }

    /// A builder for a runtime with other choices.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Workers: the number of tasks that run in parallel.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.threads.len() + 1
    }

    /// Bytes taken from the system for tasks.
    #[must_use]
    pub fn task_memory_bytes(&self) -> usize {
        self.shared.task_memory_bytes()
    }

    /// # Panics
    /// The process is a child of the one that created the runtime.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        assert!(self.has_threads(), "the threads of a runtime do not live on in a child process");
        &self.shared
    }

    pub(crate) fn has_threads(&self) -> bool {
        self.forks == forks()
    }

    /// The runtime that [`crate::scope()`] and [`crate::join()`] use outside of any other. Its
    /// first use in a process creates it, as [`Runtime::new`] does; a child process gets another.
    ///
    /// # Panics
    /// The system has no thread for one of its workers.
    pub fn global() -> &'static Self {
        static GLOBAL: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());
        static MAKING: Mutex<()> = Mutex::new(());
        let of_process = || {
            // SAFETY: the global runtime is never freed.
            unsafe { GLOBAL.load(Ordering::Acquire).as_ref() }.filter(|made| made.has_threads())
        };
        of_process().unwrap_or_else(|| {
            let _making = lock_std(&MAKING);
            of_process().unwrap_or_else(|| {
                tell_unknown();
                let watch = Watch::global();
                if watch.is_none() {
                    tell_unwritten();
                }
                let builder =
                    Builder { watch, placement: Placement::of_environment(), ..Builder::default() };
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
    /// Lets only `workers` workers run tasks from here on, counting the thread that calls a scope.
    /// That thread always runs tasks, so that 0 means 1; a larger number than [`Runtime::workers`]
    /// means all.
    ///
    /// A worker that is to rest ends its running task, gives its queued tasks to the other workers,
    /// and sleeps until called back to work. Tasks that wait on its thread go on there.
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

    /// Sets whether one worker runs tasks. Workers are numbered in the order of the machine's CPUs;
    /// number 0 is the thread that calls a scope, and always runs tasks.
    ///
    /// # Panics
    /// The number is 0, or is not below [`Runtime::workers`].
    #[track_caller]
    pub fn set_working(&self, worker: usize, works: bool) {
        let workers = self.workers();
        assert!((1..workers).contains(&worker), "worker {worker} of {workers}; 0 always works");
        self.shared().set_mode(worker, if works { WorkerMode::Work } else { WorkerMode::Rest });
    }

    /// Workers that run tasks and do not rest, counting the thread that calls a scope.
    #[must_use]
    pub fn working(&self) -> usize {
        let rests = |mode: &&CachePadded<AtomicU32>| {
            mode.load(Ordering::Relaxed) == WorkerMode::Rest as u32
        };
        self.workers() - self.shared().modes.iter().filter(rests).count()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.has_threads() {
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        for leaf in 1..self.workers() {
            self.shared.set_mode(leaf, WorkerMode::Stop);
        }
        for thread in self.threads.drain(..) {
            // The panic hook has reported a worker's panic; nothing can be done here.
            let _ = thread.join();
        }
    }
}

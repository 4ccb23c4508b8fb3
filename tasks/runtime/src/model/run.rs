//! One run: a program on virtual workers, and the cost.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};

use super::arena::{self, Arena};
use super::cost::Costs;
use super::ledger::{Ledger, Site};
use super::machine::{self, Machine, NS, Way};
use super::program::{Program, Tally, Work};
use crate::config::Config;
use crate::scope::scope_on;
use crate::shared::{Options, Order, Shared};
use crate::topology::Topology;
use crate::worker::Worker;

/// Bytes of a worker's first stack: the default of the standard library.
const STACK: usize = 2 << 20;
/// Part of a stack that is left for tasks that wait for nothing, as in `wait.rs`.
const RESERVE: usize = 4;
/// CPUs of a NUMA domain at most, where no machine is declared.
const DOMAIN_MAX: usize = 64;
/// Pause between two checks whether all workers sleep, and number of checks.
const SETTLE_NS: u64 = 20_000;
const SETTLES: u32 = 5_000;
/// Lines of code that are named.
const SITES: usize = 8;

/// The inputs that determine a run.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The program.
    pub program: Program,
    /// Virtual workers.
    pub workers: usize,
    /// Tasks, at least.
    pub tasks: u64,
    /// How long the body of a task takes.
    pub body_ns: u64,
    /// The scheduler.
    pub config: Config,
    /// The machine.
    pub costs: Costs,
    /// Times that the program runs before the measured run.
    pub warm: u32,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Tasks that ran in the measured time.
    pub tasks: u64,
    /// Those of them that have a body.
    pub bodies: u64,
    /// From the first task's creation until all had ended.
    pub makespan_ps: u64,
    /// All workers' time by its use.
    pub ledger: Ledger,
    /// Lines of code that waited longest for cache lines.
    pub sites: Vec<Site>,
}

/// The machine for `workers` workers: domains of equal size, of 24 CPUs where the machine has 48
/// (N's machine), else of at most [`DOMAIN_MAX`].
fn topology(workers: usize) -> Topology {
    let domains = if workers == 48 { 2 } else { workers.div_ceil(DOMAIN_MAX) };
    let each = workers.div_ceil(domains);
    let machine: Topology = format!("{domains}x{each}").parse().expect("a machine that size");
    machine.resized(workers)
}

/// Results that the measuring worker leaves behind.
#[derive(Default)]
struct Measured {
    makespan_ps: u64,
    ledger: Ledger,
    sites: Vec<Site>,
    tally: Tally,
}

/// Runs a program.
///
/// # Panics
/// The setting has no worker. Or a task was lost, or all workers sleep: both are bugs of the
/// scheduler.
#[must_use]
pub fn run(setting: &Setting) -> Outcome {
    assert!(setting.workers > 0, "a model of no worker");
    machine::install();
    let work = Work {
        program: setting.program,
        tasks: setting.tasks,
        body_ns: setting.body_ns,
        workers: setting.workers as u64,
    };
    let machine = topology(setting.workers);
    let domain = |worker| u32::try_from(machine.domain_of(worker)).expect("few domains");
    let domains = (0..setting.workers).map(domain).collect();
    let mut model = Machine::new(setting.costs, domains);
    let model: *mut Machine = &raw mut model;
    let memory = Arena::new();
    let was_paused = arena::pause(false);
    let slots = (setting.workers, 0);
    let shared = Shared::new(&machine, setting.config, slots, Options::default(), (None, None));
    arena::pause(was_paused);
    let mut measured = Measured::default();
    drive(model, &shared, work, setting.warm, &mut measured);
    drop(shared);
    drop(memory);
    let (tasks, bodies) = (&measured.tally.tasks, &measured.tally.bodies);
    let (tasks, bodies) = (tasks.load(Ordering::Relaxed), bodies.load(Ordering::Relaxed));
    assert_eq!((tasks, bodies), (work.tasks(), work.bodies()), "every task runs once");
    let Measured { makespan_ps, ledger, sites, .. } = measured;
    Outcome { tasks, bodies, makespan_ps, ledger, sites }
}

/// Lets the workers live until all have ended.
fn drive(
    model: *mut Machine,
    shared: &Arc<Shared>,
    work: Work,
    warm: u32,
    measured: &mut Measured,
) {
    // SAFETY: the machine outlives this function; no other code uses it between two steps.
    let workers = unsafe { (*model).workers.len() };
    let measured: *mut Measured = measured;
    let mut lives: Vec<Coroutine<(), (), ()>> = (0..workers)
        .map(|leaf| {
            let stack = DefaultStack::new(STACK).expect("memory for a virtual worker's stack");
            let low = stack.limit().get() + (stack.base().get() - stack.limit().get()) / RESERVE;
            let shared = shared.clone();
            Coroutine::with_stack(stack, move |way: &Way, ()| {
                // SAFETY: the machine outlives this function; `measured` outlives the workers, and
                // only the first worker writes the results.
                unsafe {
                    (*model).begins(leaf, way, low);
                    arena::pause(false);
                    let worker = Worker::new(shared, leaf);
                    if leaf == 0 {
                        measure(model, &worker, work, warm, &mut *measured);
                    } else {
                        worker.enter(|| worker.work());
                    }
                    drop(worker);
                    arena::pause(true);
                }
            })
        })
        .collect();
    Machine::enter(model);
    let mut alive = workers;
    while alive > 0 {
        // SAFETY: the machine outlives this function, and no worker runs between two steps.
        let next = unsafe { (*model).choose() };
        let next = next.expect("somebody is awake, or a wake-up was lost");
        if let CoroutineResult::Return(()) = lives[next].resume(()) {
            alive -= 1;
        }
    }
    Machine::enter(std::ptr::null_mut());
}

/// The first worker: runs the program, and measures the run once the program is warm.
///
/// # Safety
/// The machine outlives the call, and no other reference to the machine is in use.
unsafe fn measure(
    model: *mut Machine,
    worker: &Worker,
    work: Work,
    warm: u32,
    measured: &mut Measured,
) {
    let shared = &worker.shared;
    for _ in 0..SETTLES {
        if machine::asleep() + 1 == work.workers as usize {
            break;
        }
        machine::sleep_for(SETTLE_NS * NS);
    }
    worker.enter(|| {
        for _ in 0..warm {
            let (tally, data) = (Tally::default(), work.data());
            scope_on(worker, |s| work.run(s, &tally, &data), Location::caller());
        }
    });
    let begin_ps = machine::now_ps();
    // SAFETY: the machine outlives the call, and no other reference is in use between two steps.
    let before = unsafe {
        (*model).sites.clear();
        ledger_at(&*model, begin_ps)
    };
    let (tally, data) = (Tally::default(), work.data());
    worker.enter(|| scope_on(worker, |s| work.run(s, &tally, &data), Location::caller()));
    let end_ps = machine::now_ps();
    arena::pause(true);
    // SAFETY: the machine outlives the call, and no other reference is in use between two steps.
    unsafe {
        measured.ledger = ledger_at(&*model, end_ps).since(&before);
        measured.sites = (*model).sites.worst(SITES);
    }
    arena::pause(false);
    measured.makespan_ps = end_ps - begin_ps;
    measured.tally = tally;
    for order in &shared.orders {
        order.store(Order::Stop as u32, crate::sync::Ordering::SeqCst);
    }
    (0..work.workers as usize).for_each(|leaf| shared.scheduler.leaf(leaf).parker.unpark());
}

/// All workers' time up to now; those that sleep have slept until now.
fn ledger_at(model: &Machine, now_ps: u64) -> Ledger {
    let mut sum = Ledger::default();
    for worker in &model.workers {
        let mut ledger = worker.ledger;
        if worker.is_asleep {
            let since_ps = now_ps.saturating_sub(worker.clock_ps);
            let on = if worker.wants_lock { super::Spent::Locks } else { super::Spent::Sleeping };
            ledger.spend(on, since_ps);
        }
        sum.add(&ledger);
    }
    sum
}

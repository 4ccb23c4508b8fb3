//! One run: a program on virtual workers, and the cost.

use std::sync::atomic::Ordering;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};
use evenkeel_runtime::internal::Worker;
use evenkeel_runtime::internal::virtual_workers::{self, Workers};
use evenkeel_runtime::{Config, Topology};

use crate::arena::{self, Arena};
use crate::cost::Costs;
use crate::ledger::{Ledger, Site, Spent};
use crate::machine::{self, Machine, NS, Way};
use crate::program::{Program, Tally, Work};

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
    format!("{domains}x{each}").parse().expect("a machine that size")
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
    let memory = Arena::new();
    let was_paused = arena::pause(false);
    let all = Workers::new(&machine, setting.workers, setting.config);
    arena::pause(was_paused);
    let domain = |&domain: &usize| u32::try_from(domain).expect("few domains");
    let mut model = Machine::new(setting.costs, all.domains().iter().map(domain).collect());
    let model: *mut Machine = &raw mut model;
    let mut measured = Measured::default();
    drive(model, &all, work, setting.warm, &mut measured);
    drop(all);
    drop(memory);
    let (tasks, bodies) = (&measured.tally.tasks, &measured.tally.bodies);
    let (tasks, bodies) = (tasks.load(Ordering::Relaxed), bodies.load(Ordering::Relaxed));
    assert_eq!((tasks, bodies), (work.tasks(), work.bodies()), "every task runs once");
    let Measured { makespan_ps, ledger, sites, .. } = measured;
    Outcome { tasks, bodies, makespan_ps, ledger, sites }
}

/// Lets the workers live until all have ended.
fn drive(model: *mut Machine, all: &Workers, work: Work, warm: u32, measured: &mut Measured) {
    // SAFETY: the machine outlives this function; no other code uses it between two steps.
    let workers = unsafe { (*model).workers.len() };
    let measured: *mut Measured = measured;
    let mut lives: Vec<Coroutine<(), (), ()>> = (0..workers)
        .map(|leaf| {
            let stack = DefaultStack::new(STACK).expect("memory for a virtual worker's stack");
            let low = stack.limit().get() + (stack.base().get() - stack.limit().get()) / RESERVE;
            let all = all.clone();
            Coroutine::with_stack(stack, move |way: &Way, ()| {
                // SAFETY: the machine outlives this function; `measured` outlives the workers, and
                // only the first worker writes the results.
                unsafe {
                    (*model).begins(leaf, way, low);
                    arena::pause(false);
                    let worker = all.worker(leaf);
                    if leaf == 0 {
                        measure(model, (&all, &worker), work, warm, &mut *measured);
                    } else {
                        virtual_workers::work(&worker);
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
    (all, worker): (&Workers, &Worker),
    work: Work,
    warm: u32,
    measured: &mut Measured,
) {
    for _ in 0..SETTLES {
        if machine::asleep() + 1 == work.workers as usize {
            break;
        }
        machine::sleep_for(SETTLE_NS * NS);
    }
    for _ in 0..warm {
        let (tally, data) = (Tally::default(), work.data());
        virtual_workers::scope(worker, &mut |s| work.run(s, &tally, &data));
    }
    let begin_ps = machine::now_ps();
    // SAFETY: the machine outlives the call, and no other reference is in use between two steps.
    let before = unsafe {
        (*model).sites.clear();
        ledger_at(&*model, begin_ps)
    };
    let (tally, data) = (Tally::default(), work.data());
    virtual_workers::scope(worker, &mut |s| work.run(s, &tally, &data));
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
    all.stop();
}

/// All workers' time up to now; those that sleep have slept until now.
fn ledger_at(model: &Machine, now_ps: u64) -> Ledger {
    let mut sum = Ledger::default();
    for worker in &model.workers {
        let mut ledger = worker.ledger;
        if worker.is_asleep {
            let since_ps = now_ps.saturating_sub(worker.clock_ps);
            let on = if worker.wants_lock { Spent::Locks } else { Spent::Sleeping };
            ledger.spend(on, since_ps);
        }
        sum.add(&ledger);
    }
    sum
}

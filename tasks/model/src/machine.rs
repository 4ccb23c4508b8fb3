//! The virtual machine: each worker has a clock, and the worker whose clock is lowest runs.
//!
//! A worker suspends itself before each step that other workers may observe, unless its clock is
//! the lowest (among equals, its number). So steps happen in the order of virtual time, and a run
//! is a function of its inputs.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::panic::Location;
use std::ptr;

use corosensei::Yielder;
use evenkeel_runtime::internal::virtual_workers::{self, Steps, Use, replace_current};
use rustc_hash::FxHashMap;

use crate::arena;
use crate::cost::Costs;
use crate::ledger::{Ledger, Sites, Spent};
use crate::lines::Lines;

/// Picoseconds of a nanosecond.
pub(crate) const NS: u64 = 1000;
/// Cycles of the time stamp counter in ten nanoseconds: that of N's machine has 2.1 GHz.
const CYCLES_IN_10_NS: u64 = 21;

/// Gives the thread back to the loop that drives the machine.
pub(crate) type Way = Yielder<(), ()>;

thread_local! {
    static MACHINE: Cell<*mut Machine> = const { Cell::new(ptr::null_mut()) };
}

/// One worker.
pub(crate) struct Virtual {
    pub(crate) clock_ps: u64,
    /// When all its stores have reached their lines.
    drained_ps: u64,
    /// Cost of interrupts that the worker has not spent yet.
    owes_ps: u64,
    /// Changes when the worker falls asleep or wakes: an entry of `next` with an older epoch is
    /// ignored.
    epoch: u32,
    pub(crate) is_asleep: bool,
    pub(crate) ledger: Ledger,
    /// Whether the worker wants a lock: all its time then counts as spent on the lock.
    pub(crate) wants_lock: bool,
    way: *const Way,
    /// Where its first stack gets low.
    stack_low: usize,
}

/// All workers and their shared state.
pub(crate) struct Machine {
    pub(crate) costs: Costs,
    pub(crate) workers: Vec<Virtual>,
    /// The next workers to run: time, worker and epoch.
    next: BinaryHeap<Reverse<(u64, usize, u32)>>,
    current: usize,
    lines: Lines,
    /// The sleeping workers by address.
    sleepers: FxHashMap<usize, VecDeque<usize>>,
    /// When the kernel's lock around membarrier(2) is free.
    membarrier_free_ps: u64,
    pub(crate) sites: Sites,
}

impl Virtual {
    pub(crate) fn new() -> Self {
        Self {
            clock_ps: 0,
            drained_ps: 0,
            owes_ps: 0,
            epoch: 0,
            is_asleep: false,
            ledger: Ledger::default(),
            wants_lock: false,
            way: ptr::null(),
            stack_low: 0,
        }
    }

    pub(crate) fn spend(&mut self, on: Spent, time_ps: u64) {
        self.clock_ps += time_ps;
        self.ledger.spend(if self.wants_lock { Spent::Locks } else { on }, time_ps);
    }
}

impl Machine {
    /// Workers in these NUMA domains, all at time 0.
    pub(crate) fn new(costs: Costs, domains: Vec<u32>) -> Self {
        let workers = domains.len();
        Self {
            costs,
            workers: (0..workers).map(|_| Virtual::new()).collect(),
            next: (0..workers).map(|worker| Reverse((0, worker, 0))).collect(),
            current: 0,
            lines: Lines::new(domains),
            sleepers: FxHashMap::default(),
            membarrier_free_ps: 0,
            sites: Sites::default(),
        }
    }

    /// Makes `machine`, or none, the machine of this thread.
    pub(crate) fn enter(machine: *mut Self) {
        MACHINE.set(machine);
    }

    /// A worker begins, on a stack of its own.
    pub(crate) fn begins(&mut self, worker: usize, way: *const Way, stack_low: usize) {
        let virt = &mut self.workers[worker];
        (virt.way, virt.stack_low) = (way, stack_low);
    }

    /// Chooses the worker that runs now; none where all are asleep or have ended.
    pub(crate) fn choose(&mut self) -> Option<usize> {
        loop {
            let Reverse((time_ps, worker, epoch)) = self.next.pop()?;
            let virt = &mut self.workers[worker];
            if virt.epoch != epoch {
                continue;
            }
            if virt.is_asleep {
                // Its time is over.
                virt.spend(Spent::Sleeping, time_ps - virt.clock_ps);
                virt.is_asleep = false;
                virt.epoch += 1;
            }
            self.current = worker;
            return Some(worker);
        }
    }

    fn me(&mut self) -> &mut Virtual {
        &mut self.workers[self.current]
    }

    fn wake(&mut self, worker: usize, at_ps: u64) {
        let virt = &mut self.workers[worker];
        virt.spend(Spent::Sleeping, at_ps.saturating_sub(virt.clock_ps));
        virt.is_asleep = false;
        virt.epoch += 1;
        self.next.push(Reverse((virt.clock_ps, worker, virt.epoch)));
    }
}

/// The virtual machine that this code runs on, if any, with the arena paused meanwhile.
struct Inside(*mut Machine);

impl Inside {
    #[inline]
    fn enter() -> Option<Self> {
        let machine = MACHINE.get();
        // The code that drives the machine, and code before and after a run, is not on the machine.
        (!machine.is_null() && !arena::pause(true)).then(|| Self(machine))
    }

    /// For the time of an expression.
    #[expect(clippy::mut_from_ref, reason = "one thread; no caller keeps it past a step")]
    fn machine(&self) -> &mut Machine {
        // SAFETY: the machine lives as long as its workers run, and no other reference is in use.
        unsafe { &mut *self.0 }
    }

    /// Leaves the thread to other workers until this worker's turn comes.
    fn leave(&self) {
        let way = self.machine().me().way;
        let worker = replace_current(None);
        // SAFETY: `way` belongs to this worker, which runs.
        unsafe { (*way).suspend(()) };
        replace_current(worker);
    }

    /// Waits until no worker is further behind.
    fn wait_for_turn(&self) {
        let machine = self.machine();
        let current = machine.current;
        let owed_ps = std::mem::take(&mut machine.me().owes_ps);
        machine.me().spend(Spent::Membarrier, owed_ps);
        let (clock_ps, epoch) = (machine.me().clock_ps, machine.me().epoch);
        if machine.next.peek().is_some_and(|first| {
            first.0.0 < clock_ps || first.0.0 == clock_ps && first.0.1 < current
        }) {
            machine.next.push(Reverse((clock_ps, current, epoch)));
            self.leave();
        }
    }

    /// Falls asleep; returns after a wake-up, or at a time.
    fn sleep(&self, until_ps: Option<u64>) {
        let machine = self.machine();
        let current = machine.current;
        let virt = machine.me();
        virt.is_asleep = true;
        virt.epoch += 1;
        let epoch = virt.epoch;
        if let Some(until_ps) = until_ps {
            machine.next.push(Reverse((until_ps, current, epoch)));
        }
        self.leave();
    }

    fn drain(&self) {
        let virt = self.machine().me();
        let left_ps = virt.drained_ps.saturating_sub(virt.clock_ps);
        if left_ps > 0 {
            virt.spend(Spent::Transfers, left_ps);
            self.wait_for_turn();
        }
    }

    fn access(&self, address: usize, how: Use, at: &'static Location<'static>) {
        let code_ps = self.machine().costs.code_ps;
        self.machine().me().spend(Spent::Code, code_ps);
        self.wait_for_turn();
        if how == Use::Change {
            self.drain();
        }
        let machine = self.machine();
        let (current, now_ps) = (machine.current, machine.me().clock_ps);
        let took = machine.lines.access(address, how, current, now_ps, &machine.costs);
        if took.moved_ps > 0 {
            machine.sites.waited(at, took.moved_ps, took.queued_ps);
        }
        let here_ps =
            if how == Use::Change { machine.costs.atomic_ps } else { machine.costs.hit_ps };
        let virt = machine.me();
        virt.spend(Spent::Code, here_ps);
        if how == Use::Store {
            // The store waits in the store buffer; the worker goes on.
            let there_ps = now_ps + took.queued_ps + took.moved_ps;
            virt.drained_ps = virt.drained_ps.max(there_ps);
        } else {
            virt.spend(Spent::Queues, took.queued_ps);
            virt.spend(Spent::Transfers, took.moved_ps);
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        arena::pause(false);
    }
}

/// Has the runtime charge its steps to the machine of the thread that takes them.
pub(crate) fn install() {
    virtual_workers::install(Steps {
        access,
        fence,
        spin_loop: || spend(Spent::Spinning, |costs| costs.pause_ps),
        // A system call: no virtual CPU has two workers.
        yield_now: || spend(Spent::Spinning, |costs| costs.call_ps),
        sleep_for,
        wait_at,
        wake_at,
        membarrier_everywhere,
        now_ps,
        cycles,
        stack_low,
        wants_lock,
        has_lock,
    });
}

/// One step on an atomic.
fn access(address: usize, how: Use, at: &'static Location<'static>) {
    if let Some(inside) = Inside::enter() {
        inside.access(address, how, at);
    }
}

/// Waits for its own stores.
fn fence() {
    if let Some(inside) = Inside::enter() {
        inside.wait_for_turn();
        inside.drain();
        let cost_ps = inside.machine().costs.atomic_ps;
        inside.machine().me().spend(Spent::Code, cost_ps);
    }
}

/// Spends time.
pub(crate) fn spend(on: Spent, cost: impl FnOnce(&Costs) -> u64) {
    if let Some(inside) = Inside::enter() {
        let cost_ps = cost(&inside.machine().costs);
        inside.machine().me().spend(on, cost_ps);
    }
}

/// The worker wants a lock from here on; returns when that was.
fn wants_lock() -> u64 {
    Inside::enter().map_or(0, |inside| {
        inside.machine().me().wants_lock = true;
        inside.machine().me().clock_ps
    })
}

/// The worker has the lock.
fn has_lock(since_ps: u64, at: &'static Location<'static>) {
    if let Some(inside) = Inside::enter() {
        let machine = inside.machine();
        machine.me().wants_lock = false;
        let locked_ps = machine.me().clock_ps - since_ps;
        machine.sites.locked(at, locked_ps);
    }
}

/// Sleeps at an address while `is_so` holds, at most for a while.
fn wait_at(address: usize, at_most_ps: Option<u64>, is_so: &dyn Fn() -> bool) {
    let Some(inside) = Inside::enter() else { return };
    let call_ps = inside.machine().costs.call_ps;
    inside.machine().me().spend(Spent::Sleeping, call_ps);
    inside.wait_for_turn();
    if !is_so() {
        return;
    }
    let machine = inside.machine();
    let current = machine.current;
    let until_ps = at_most_ps.map(|time_ps| machine.me().clock_ps + time_ps);
    machine.sleepers.entry(address).or_default().push_back(current);
    inside.sleep(until_ps);
    if let Some(sleepers) = inside.machine().sleepers.get_mut(&address) {
        sleepers.retain(|&sleeper| sleeper != current);
    }
}

/// Wakes the first worker that sleeps at an address.
fn wake_at(address: usize) {
    let Some(inside) = Inside::enter() else { return };
    inside.wait_for_turn();
    let machine = inside.machine();
    let Some(first) = machine.sleepers.get_mut(&address).and_then(VecDeque::pop_front) else {
        let call_ps = machine.costs.call_ps;
        return machine.me().spend(Spent::Sleeping, call_ps);
    };
    let at_ps = machine.me().clock_ps + machine.costs.woken_ps;
    machine.wake(first, at_ps);
    let wake_ps = machine.costs.wake_ps;
    machine.me().spend(Spent::Sleeping, wake_ps);
}

/// Sleeps for a while.
pub(crate) fn sleep_for(time_ps: u64) {
    let Some(inside) = Inside::enter() else { return };
    inside.wait_for_turn();
    let until_ps = inside.machine().me().clock_ps + time_ps;
    inside.sleep(Some(until_ps));
}

/// membarrier(2): one caller at a time interrupts every other worker that is not asleep.
fn membarrier_everywhere() {
    let Some(inside) = Inside::enter() else { return };
    inside.wait_for_turn();
    inside.drain();
    let machine = inside.machine();
    let (current, costs) = (machine.current, machine.costs);
    let mut others = 0;
    for (number, other) in machine.workers.iter_mut().enumerate() {
        if number != current && !other.is_asleep {
            other.owes_ps += costs.interrupted_ps;
            others += 1;
        }
    }
    let now_ps = machine.me().clock_ps;
    let begin_ps = now_ps.max(machine.membarrier_free_ps);
    let end_ps = begin_ps + costs.membarrier_ps + others * costs.interrupt_each_ps;
    machine.membarrier_free_ps = end_ps;
    machine.me().spend(Spent::Membarrier, end_ps - now_ps);
}

/// The worker's clock; 0 outside.
pub(crate) fn now_ps() -> u64 {
    Inside::enter().map_or(0, |inside| inside.machine().me().clock_ps)
}

/// The worker's time stamp counter.
fn cycles() -> u64 {
    now_ps() / NS * CYCLES_IN_10_NS / 10
}

/// Where its first stack ends; 0 outside.
fn stack_low() -> usize {
    Inside::enter().map_or(0, |inside| inside.machine().me().stack_low)
}

/// How many workers are asleep.
pub(crate) fn asleep() -> usize {
    Inside::enter().map_or(0, |inside| {
        inside.machine().workers.iter().filter(|worker| worker.is_asleep).count()
    })
}

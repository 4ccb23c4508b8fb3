//! CFS as of Linux 5.9 and 6.1: the task with the least virtual runtime of its CPU's queue.
//!
//! Numbers and rules are those of `kernel/sched/fair.c` and `features.h` of 5.9; differences of
//! 6.1.192 are marked. The random choice of `NI_RANDOM`, which 6.1 makes when newly idle, is left
//! out: without the measured cost of balancing the model is worse with than without. Virtual
//! time is comparable within a queue only; a task that changes queues keeps its distance
//! to the least virtual time.

use std::collections::BTreeSet;

use crate::config::CfsKernel;
use crate::sched::delta::{scaled, size_factor, virtual_ns};
use crate::sched::domains::Era;
use crate::sched::percpu::{Choice, Discipline, Enqueue, MIGRATION_COST_NS};
use crate::task::Stop;
use crate::world::World;

/// `sysctl_sched_latency` on one CPU.
const LATENCY_NS: u64 = 6_000_000;
/// `sysctl_sched_min_granularity` on one CPU.
const MIN_GRANULARITY_NS: u64 = 750_000;
/// `sysctl_sched_wakeup_granularity` on one CPU.
const WAKEUP_GRANULARITY_NS: u64 = 1_000_000;
/// `sched_nr_latency`: number of tasks up to which each runs once in the latency.
const LATENCY_TASKS: u64 = 8;

/// A task is picked a little after the tick that stops its predecessor, so that after n
/// ticks the task has run a little less than n periods; a slice of whole periods ends a tick
/// later. Linux shortened EEVDF's base slice for that reason (2ae891b82695). Our choice.
const TICK_TO_SWITCH_NS: u64 = 2_000;

/// Balancing in 5.9.
pub(crate) const ERA_5_9: Era = Era {
    busy_factor: 32,
    numa_imbalance_pct: 125,
    shortened_interval: false,
    newidle_after_ns: MIGRATION_COST_NS,
    newidle_by_success: false,
    scan_by_util: false,
    halves_by_failure: false,
    careful: false,
    sleepers_apart: false,
    eligible_first: false,
};

/// Balancing in 6.1.
const ERA_6_1: Era = Era {
    busy_factor: 16,
    numa_imbalance_pct: 117,
    shortened_interval: true,
    scan_by_util: true,
    halves_by_failure: true,
    ..ERA_5_9
};

/// The balancing rules of a kernel.
pub(crate) fn era(kernel: CfsKernel) -> Era {
    match kernel {
        CfsKernel::V5_9 => ERA_5_9,
        CfsKernel::V6_1 => ERA_6_1,
    }
}

#[derive(Clone, Copy, Debug)]
struct Task {
    weight: u64,
    vruntime: i64,
    order: u64,
    cpu: usize,
    ran_ns: u64,
    /// `ran_ns` when the task was last picked after another one.
    picked_at_ns: u64,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// By virtual runtime; of equal ones the first queued. The running task is not in the tree.
    tree: BTreeSet<(i64, u64, usize)>,
    running: Option<usize>,
    since_ns: u64,
    /// Comes off the time that the running task is charged next.
    credit_ns: u64,
    weight: u64,
    min_vruntime: i64,
    /// Woken by preemption: runs next unless that is unfair.
    next: Option<usize>,
    /// Preempted: gets the CPU back after the next, unless that is unfair.
    last: Option<usize>,
    must_choose: bool,
}

impl Queue {
    fn nr(&self) -> u64 {
        self.tree.len() as u64 + u64::from(self.running.is_some())
    }

    fn forget_buddy(&mut self, task: usize) {
        if self.next == Some(task) {
            self.next = None;
        }
        if self.last == Some(task) {
            self.last = None;
        }
    }
}

/// The order of CFS.
pub(crate) struct Cfs {
    tasks: Vec<Task>,
    queues: Vec<Queue>,
    latency_ns: u64,
    min_granularity_ns: u64,
    /// No slice is shorter (`BASE_SLICE`, since 5.13).
    slice_min_ns: u64,
    wakeup_granularity_ns: u64,
    orders: u64,
}

impl Cfs {
    pub(crate) fn new(world: &World, kernel: CfsKernel) -> Self {
        let factor = size_factor(world.topology.cpus) * u64::from(world.config.slice_factor);
        let weights = world.tasks.iter().map(|task| u64::from(task.weight));
        Self::with(world.topology.cpus, weights, factor, kernel)
    }

    fn with(
        cpus: usize,
        weights: impl Iterator<Item = u64>,
        factor: u64,
        kernel: CfsKernel,
    ) -> Self {
        let task =
            |weight| Task { weight, vruntime: 0, order: 0, cpu: 0, ran_ns: 0, picked_at_ns: 0 };
        Self {
            tasks: weights.map(task).collect(),
            queues: vec![Queue::default(); cpus],
            latency_ns: LATENCY_NS * factor,
            min_granularity_ns: MIN_GRANULARITY_NS * factor,
            slice_min_ns: match kernel {
                CfsKernel::V5_9 => 0,
                CfsKernel::V6_1 => MIN_GRANULARITY_NS * factor,
            },
            wakeup_granularity_ns: WAKEUP_GRANULARITY_NS * factor,
            orders: 0,
        }
    }

    /// `sched_slice` of a task that is or will be one of `nr` with that weight in all.
    fn slice_ns(&self, weight: u64, nr: u64, total: u64) -> u64 {
        let period_ns =
            if nr > LATENCY_TASKS { nr * self.min_granularity_ns } else { self.latency_ns };
        scaled(period_ns, weight, total).max(self.slice_min_ns)
    }

    /// Takes a time off what the running task of a CPU is charged next.
    pub(crate) fn credit(&mut self, cpu: usize, ns: u64) {
        self.queues[cpu].credit_ns += ns;
    }

    fn update_min_vruntime(&mut self, cpu: usize) {
        let queue = &mut self.queues[cpu];
        let running = queue.running.map(|task| self.tasks[task].vruntime);
        let first = queue.tree.first().map(|&(vruntime, ..)| vruntime);
        if let Some(least) = running.into_iter().chain(first).min() {
            queue.min_vruntime = queue.min_vruntime.max(least);
        }
    }

    fn insert(&mut self, cpu: usize, task: usize) {
        self.orders += 1;
        let entity = &mut self.tasks[task];
        entity.order = self.orders;
        self.queues[cpu].tree.insert((entity.vruntime, entity.order, task));
    }

    fn extract(&mut self, cpu: usize, task: usize) {
        let entity = &self.tasks[task];
        self.queues[cpu].tree.remove(&(entity.vruntime, entity.order, task));
    }

    /// Whether `other` is behind `vruntime` by more than the granularity, and so should have
    /// the CPU first (`wakeup_preempt_entity`).
    fn is_far_behind(&self, vruntime: i64, other: usize) -> bool {
        let other = &self.tasks[other];
        let granularity = virtual_ns(self.wakeup_granularity_ns, other.weight);
        vruntime - other.vruntime > granularity
    }

    /// The buddy, if the first task of the queue is not too far behind the buddy.
    fn is_fair(&self, buddy: Option<usize>, first: usize) -> Option<usize> {
        buddy.filter(|&buddy| !self.is_far_behind(self.tasks[buddy].vruntime, first))
    }

    /// `place_entity`: a new task starts one of its slices after the minimum (`START_DEBIT`),
    /// a sleeper is credited half the latency at most (`GENTLE_FAIR_SLEEPERS`).
    fn place(&mut self, cpu: usize, task: usize, how: Enqueue) {
        let entity = self.tasks[task];
        let queue = &self.queues[cpu];
        let least = queue.min_vruntime;
        self.tasks[task].vruntime = match how {
            Enqueue::New => {
                let total = queue.weight + entity.weight;
                let slice_ns = self.slice_ns(entity.weight, queue.nr() + 1, total);
                least + virtual_ns(slice_ns, entity.weight)
            }
            Enqueue::Woken => {
                let away = least - self.queues[entity.cpu].min_vruntime;
                let credit = (self.latency_ns / 2) as i64;
                (entity.vruntime + away).max(least - credit)
            }
            // `dequeue` made the virtual time relative.
            Enqueue::Moved => entity.vruntime + least,
        };
    }
}

/// What core scheduling asks of a queue, of which it takes other tasks than the first.
impl Cfs {
    /// Virtual runtime and number of the first task that is accepted, the running one included.
    pub(crate) fn first_of(
        &self,
        cpu: usize,
        accept: impl Fn(usize) -> bool,
    ) -> Option<(i64, usize)> {
        let queue = &self.queues[cpu];
        let waiting = queue.tree.iter().map(|&(_, _, task)| task).find(|&task| accept(task));
        let running = queue.running.filter(|&task| accept(task));
        let both = running.into_iter().chain(waiting);
        both.map(|task| (self.tasks[task].vruntime, task)).min_by_key(|&(vruntime, _)| vruntime)
    }

    /// The first task that is accepted runs; `None`: there is none, and none runs.
    pub(crate) fn pick_of(
        &mut self,
        cpu: usize,
        now_ns: u64,
        accept: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let first = self.first_of(cpu, accept).map(|(_, task)| task);
        match first {
            Some(task) => self.begin(cpu, task, now_ns),
            None => {
                if let Some(stopped) = self.queues[cpu].running.take() {
                    self.insert(cpu, stopped);
                }
            }
        }
        first
    }

    pub(crate) fn least_vruntime(&self, cpu: usize) -> i64 {
        self.queues[cpu].min_vruntime
    }

    /// Whether the running task has run for half of its slice (`__entity_slice_used`).
    pub(crate) fn has_used_half_a_slice(&self, cpu: usize) -> bool {
        let queue = &self.queues[cpu];
        queue.running.is_some_and(|running| {
            let entity = &self.tasks[running];
            let slice_ns = self.slice_ns(entity.weight, queue.nr(), queue.weight);
            2 * (entity.ran_ns - entity.picked_at_ns) > slice_ns
        })
    }

    /// A task of the queue begins to run; one that was stopped goes back.
    fn begin(&mut self, cpu: usize, chosen: usize, now_ns: u64) {
        self.queues[cpu].forget_buddy(chosen);
        self.queues[cpu].must_choose = false;
        self.queues[cpu].since_ns = now_ns;
        let stopped = self.queues[cpu].running;
        if stopped != Some(chosen) {
            if let Some(stopped) = stopped {
                self.insert(cpu, stopped);
            }
            self.extract(cpu, chosen);
            self.tasks[chosen].picked_at_ns = self.tasks[chosen].ran_ns;
            self.queues[cpu].running = Some(chosen);
        }
    }
}

impl Discipline for Cfs {
    fn update(&mut self, cpu: usize, now_ns: u64) {
        let queue = &mut self.queues[cpu];
        let Some(running) = queue.running else { return };
        let delta_ns = now_ns - queue.since_ns;
        let credit_ns = std::mem::take(&mut queue.credit_ns);
        queue.since_ns = now_ns;
        let entity = &mut self.tasks[running];
        entity.ran_ns = (entity.ran_ns + delta_ns).saturating_sub(credit_ns);
        entity.vruntime += virtual_ns(delta_ns, entity.weight);
        entity.vruntime -= virtual_ns(credit_ns, entity.weight);
        self.update_min_vruntime(cpu);
    }

    fn enqueue(&mut self, cpu: usize, task: usize, how: Enqueue) {
        self.place(cpu, task, how);
        self.tasks[task].cpu = cpu;
        self.queues[cpu].weight += self.tasks[task].weight;
        self.insert(cpu, task);
        self.update_min_vruntime(cpu);
    }

    fn dequeue(&mut self, cpu: usize, task: usize) {
        self.queues[cpu].forget_buddy(task);
        if self.queues[cpu].running == Some(task) {
            self.queues[cpu].running = None;
        } else {
            self.extract(cpu, task);
        }
        self.queues[cpu].weight -= self.tasks[task].weight;
        self.tasks[task].vruntime -= self.queues[cpu].min_vruntime;
        self.update_min_vruntime(cpu);
    }

    fn put(&mut self, cpu: usize, task: usize, stop: Stop) -> bool {
        if stop == Stop::Preempted {
            // The task stays beside the tree, to be compared with the tree's head.
            return true;
        }
        let queue = &mut self.queues[cpu];
        queue.forget_buddy(task);
        queue.running = None;
        queue.weight -= self.tasks[task].weight;
        self.update_min_vruntime(cpu);
        false
    }

    fn pick(&mut self, cpu: usize, now_ns: u64) -> Choice {
        let queue = &self.queues[cpu];
        let stopped = queue.running;
        let head = queue.tree.first().map(|&(_, _, task)| task);
        let first = match (stopped, head) {
            (Some(stopped), Some(head)) => {
                if self.tasks[stopped].vruntime < self.tasks[head].vruntime {
                    stopped
                } else {
                    head
                }
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Choice::Nothing,
        };
        let chosen = self
            .is_fair(queue.next, first)
            .or_else(|| self.is_fair(queue.last, first))
            .unwrap_or(first);
        self.begin(cpu, chosen, now_ns);
        Choice::Run(chosen)
    }

    /// `check_preempt_wakeup`.
    fn preempts(&mut self, cpu: usize, task: usize) -> bool {
        let Some(running) = self.queues[cpu].running else { return true };
        if self.queues[cpu].must_choose {
            return true;
        }
        if !self.is_far_behind(self.tasks[running].vruntime, task) {
            return false;
        }
        let queue = &mut self.queues[cpu];
        queue.must_choose = true;
        queue.next = Some(task);
        if queue.nr() >= LATENCY_TASKS {
            queue.last = Some(running);
        }
        true
    }

    /// `check_preempt_tick`.
    fn tick(&mut self, cpu: usize) -> bool {
        let queue = &self.queues[cpu];
        let (Some(running), Some(&(first, ..))) = (queue.running, queue.tree.first()) else {
            return false;
        };
        let entity = &self.tasks[running];
        let slice_ns = self.slice_ns(entity.weight, queue.nr(), queue.weight);
        let ran_ns = (entity.ran_ns - entity.picked_at_ns).saturating_sub(TICK_TO_SWITCH_NS);
        let used_up = ran_ns > slice_ns;
        let ahead = ran_ns >= self.min_granularity_ns && entity.vruntime - first > slice_ns as i64;
        if used_up {
            self.queues[cpu].forget_buddy(running);
        }
        self.queues[cpu].must_choose |= used_up || ahead;
        self.queues[cpu].must_choose
    }

    fn is_buddy(&self, cpu: usize, task: usize) -> bool {
        self.queues[cpu].next == Some(task) || self.queues[cpu].last == Some(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUS: usize = 8;
    const MS: u64 = 1_000_000;

    fn cfs(weights: &[u64]) -> Cfs {
        Cfs::with(CPUS, weights.iter().copied(), size_factor(CPUS), CfsKernel::V5_9)
    }

    /// Runs task 0 alone on CPU 0 for that time.
    fn run_first(cfs: &mut Cfs, ms: u64) {
        cfs.enqueue(0, 0, Enqueue::New);
        assert_eq!(cfs.pick(0, 0), Choice::Run(0));
        cfs.update(0, ms * MS);
    }

    #[test]
    fn a_sleeper_is_credited_half_the_latency_at_most() {
        let mut cfs = cfs(&[1024, 1024]);
        run_first(&mut cfs, 500);
        cfs.enqueue(0, 1, Enqueue::Woken);
        let ahead = cfs.tasks[0].vruntime - cfs.tasks[1].vruntime;
        assert_eq!(ahead, 12 * MS as i64);
    }

    #[test]
    fn a_short_sleeper_keeps_its_virtual_time() {
        let mut cfs = cfs(&[1024, 1024]);
        run_first(&mut cfs, 5);
        cfs.tasks[1].vruntime = cfs.tasks[0].vruntime - 3;
        cfs.enqueue(0, 1, Enqueue::Woken);
        assert_eq!(cfs.tasks[0].vruntime - cfs.tasks[1].vruntime, 3);
    }

    #[test]
    fn a_new_task_waits_for_a_slice() {
        let mut cfs = cfs(&[1024, 1024]);
        run_first(&mut cfs, 1);
        cfs.enqueue(0, 1, Enqueue::New);
        let debit = cfs.tasks[1].vruntime - cfs.tasks[0].vruntime;
        assert!((debit - 12 * MS as i64).abs() < 100, "{debit}");
    }

    #[test]
    fn a_waker_preempts_only_from_more_than_the_granularity_behind() {
        for (behind_ns, preempts) in [(4 * MS as i64, false), (4 * MS as i64 + 1, true)] {
            let mut cfs = cfs(&[1024, 1024]);
            run_first(&mut cfs, 100);
            cfs.tasks[1].vruntime = cfs.tasks[0].vruntime - behind_ns;
            cfs.enqueue(0, 1, Enqueue::Woken);
            assert_eq!(cfs.preempts(0, 1), preempts, "{behind_ns}");
        }
    }

    #[test]
    fn a_preempted_task_gets_the_cpu_back_when_many_wait() {
        let weights = [1024; 9];
        let mut cfs = cfs(&weights);
        for task in 0..8 {
            cfs.enqueue(0, task, Enqueue::New);
        }
        let Choice::Run(running) = cfs.pick(0, 0) else { panic!("a task") };
        cfs.update(0, MS);
        // All tasks have the virtual time of the running one, so that only the buddy decides.
        cfs.enqueue(0, 8, Enqueue::Woken);
        assert!(cfs.preempts(0, 8));
        assert!(cfs.put(0, running, Stop::Preempted));
        assert_eq!(cfs.pick(0, MS), Choice::Run(8));
        cfs.update(0, MS + 100);
        assert!(!cfs.put(0, 8, Stop::Blocked));
        assert_eq!(cfs.pick(0, MS + 100), Choice::Run(running));
    }

    #[test]
    fn a_task_that_changes_queues_keeps_its_distance_to_the_least() {
        let mut cfs = cfs(&[1024, 1024, 1024]);
        run_first(&mut cfs, 300);
        cfs.enqueue(0, 1, Enqueue::Woken);
        let before = cfs.tasks[1].vruntime - cfs.queues[0].min_vruntime;
        cfs.dequeue(0, 1);
        cfs.enqueue(3, 1, Enqueue::Moved);
        assert_eq!(cfs.tasks[1].vruntime - cfs.queues[3].min_vruntime, before);
        assert!(cfs.queues[0].min_vruntime > 100 * MS as i64);
        assert!(cfs.tasks[1].vruntime <= 0);
    }

    #[test]
    fn the_least_virtual_time_never_falls() {
        let mut cfs = cfs(&[1024, 335, 88761, 15, 1024, 2048]);
        let mut draws = crate::random::Stream::new(7, crate::random::Purpose::Scheduler, 0);
        let mut queued = [false; 6];
        let mut now_ns = 0;
        let mut least = i64::MIN;
        for _ in 0..5_000 {
            now_ns += draws.below(3 * MS);
            cfs.update(0, now_ns);
            let task = draws.below(6) as usize;
            let running = cfs.queues[0].running;
            if !queued[task] {
                cfs.enqueue(0, task, Enqueue::Woken);
                queued[task] = true;
            } else if running == Some(task) {
                queued[task] = cfs.put(0, task, Stop::Blocked);
            }
            let _ = cfs.pick(0, now_ns);
            assert!(cfs.queues[0].min_vruntime >= least);
            least = cfs.queues[0].min_vruntime;
        }
        assert!(least > 0);
    }
}

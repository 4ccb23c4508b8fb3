//! EEVDF as of Linux 6.12 and 6.18: of the tasks that are owed time, the one whose request
//! is due first.
//!
//! Numbers and rules are those of `kernel/sched/fair.c` and `features.h` of 6.12.117 and
//! 6.18, for tasks that all ask for the base slice, so that `PREEMPT_SHORT` never applies
//! and the shortest slice of a queue is everyone's. Averages are exact here (128 bits),
//! where the kernel keeps them relative to a moving origin.

use std::collections::BTreeSet;

use crate::config::EevdfKernel;
use crate::sched::delta::{size_factor, virtual_ns};
use crate::sched::domains::Era;
use crate::sched::percpu::{Choice, Discipline, Enqueue};
use crate::task::Stop;
use crate::world::World;

/// `sysctl_sched_base_slice` on one CPU: 0.70 ms since 6.15 ("sched: Reduce the default
/// slice to avoid tasks getting an extra tick", 2ae891b82695) and in stable 6.12; 0.75 ms
/// in 6.6 and in the first releases of 6.12.
const BASE_SLICE_NS: u64 = 700_000;

/// What balancing does in 6.12. `NI_RANDOM` is in stable 6.12.69 and later and in stable 6.18.
const ERA_6_12: Era = Era {
    busy_factor: 16,
    numa_imbalance_pct: 117,
    shortened_interval: true,
    newidle_after_ns: 0,
    newidle_by_success: true,
    scan_by_util: true,
    halves_by_failure: true,
    careful: true,
    sleepers_apart: false,
    owed_first: false,
};

/// What balancing does in a kernel.
pub(crate) fn era(kernel: EevdfKernel) -> Era {
    match kernel {
        EevdfKernel::V6_12 => ERA_6_12,
        EevdfKernel::V6_18 => Era { sleepers_apart: true, owed_first: true, ..ERA_6_12 },
    }
}

#[derive(Clone, Copy, Debug)]
struct Task {
    weight: u64,
    vruntime: i64,
    deadline: i64,
    /// Distance to the average when it left its queue.
    lag: i64,
    /// The deadline is relative to the virtual runtime (`PLACE_REL_DEADLINE`).
    relative: bool,
    /// Virtual time up to which it is not preempted (`RUN_TO_PARITY`).
    protected_to: i64,
    /// It sleeps but stays until it is owed time again (`DELAY_DEQUEUE`).
    delayed: bool,
    order: u64,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// By deadline. The running task is not in it.
    tree: BTreeSet<(i64, u64, usize)>,
    /// Weight, and weight times virtual runtime, of the tasks in the tree.
    weight: u64,
    sum: i128,
    running: Option<usize>,
    since_ns: u64,
    /// The average when the queue was last not empty.
    average: i64,
    must_choose: bool,
}

/// The order of EEVDF.
pub(crate) struct Eevdf {
    tasks: Vec<Task>,
    queues: Vec<Queue>,
    kernel: EevdfKernel,
    slice_ns: u64,
    tick_ns: u64,
    orders: u64,
}

impl Eevdf {
    pub(crate) fn new(world: &World, kernel: EevdfKernel) -> Self {
        let weights = world.tasks.iter().map(|task| u64::from(task.weight));
        let tick_ns = 1_000_000_000 / u64::from(world.config.hz.max(1));
        let cpus = world.topology.cpus;
        let slice_ns = BASE_SLICE_NS * size_factor(cpus) * u64::from(world.config.slice_factor);
        Self::with(cpus, weights, kernel, slice_ns, tick_ns)
    }

    fn with(
        cpus: usize,
        weights: impl Iterator<Item = u64>,
        kernel: EevdfKernel,
        slice_ns: u64,
        tick_ns: u64,
    ) -> Self {
        let task = |weight| Task {
            weight,
            vruntime: 0,
            deadline: 0,
            lag: 0,
            relative: false,
            protected_to: 0,
            delayed: false,
            order: 0,
        };
        Self {
            tasks: weights.map(task).collect(),
            queues: vec![Queue::default(); cpus],
            kernel,
            slice_ns,
            tick_ns,
            orders: 0,
        }
    }

    /// Weight, and weight times virtual runtime, of all tasks of the queue.
    fn totals(&self, cpu: usize) -> (u64, i128) {
        let queue = &self.queues[cpu];
        match queue.running.map(|task| &self.tasks[task]) {
            Some(running) => (queue.weight + running.weight, queue.sum + weighted(running)),
            None => (queue.weight, queue.sum),
        }
    }

    /// `avg_vruntime`, rounded down.
    fn average(&self, cpu: usize) -> i64 {
        let (weight, sum) = self.totals(cpu);
        if weight == 0 {
            return self.queues[cpu].average;
        }
        sum.div_euclid(i128::from(weight)) as i64
    }

    /// `entity_eligible`: its virtual runtime is not above the average.
    fn is_eligible(&self, cpu: usize, task: usize) -> bool {
        let (weight, sum) = self.totals(cpu);
        sum >= i128::from(self.tasks[task].vruntime) * i128::from(weight)
    }

    /// `entity_lag`, bounded by two slices or a tick.
    fn lag(&self, cpu: usize, task: usize) -> i64 {
        let entity = &self.tasks[task];
        let limit = virtual_ns((2 * self.slice_ns).max(self.tick_ns), entity.weight);
        (self.average(cpu) - entity.vruntime).clamp(-limit, limit)
    }

    fn insert(&mut self, cpu: usize, task: usize) {
        self.orders += 1;
        let entity = &mut self.tasks[task];
        entity.order = self.orders;
        let queue = &mut self.queues[cpu];
        queue.tree.insert((entity.deadline, entity.order, task));
        queue.weight += entity.weight;
        queue.sum += weighted(entity);
    }

    fn extract(&mut self, cpu: usize, task: usize) {
        let entity = &self.tasks[task];
        let queue = &mut self.queues[cpu];
        queue.tree.remove(&(entity.deadline, entity.order, task));
        queue.weight -= entity.weight;
        queue.sum -= weighted(entity);
    }

    /// Takes a task away from the queue and notes its lag.
    fn leave(&mut self, cpu: usize, task: usize) {
        let average = self.average(cpu);
        self.tasks[task].lag = self.lag(cpu, task);
        if self.queues[cpu].running == Some(task) {
            self.queues[cpu].running = None;
        } else {
            self.extract(cpu, task);
        }
        self.queues[cpu].average = average;
    }

    /// `place_entity`: at its lag, which joining must not change (`PLACE_LAG`); a new
    /// task has half a slice at first (`PLACE_DEADLINE_INITIAL`).
    fn place(&mut self, cpu: usize, task: usize, how: Enqueue) {
        let average = self.average(cpu);
        let (weight, _) = self.totals(cpu);
        let slice_ns = self.slice_ns;
        let entity = &mut self.tasks[task];
        let mut lag = 0;
        if weight > 0 {
            let inflated = i128::from(entity.lag) * i128::from(weight + entity.weight);
            lag = (inflated / i128::from(weight)) as i64;
        }
        entity.vruntime = average - lag;
        if std::mem::take(&mut entity.relative) {
            entity.deadline += entity.vruntime;
            return;
        }
        let mut request = virtual_ns(slice_ns, entity.weight);
        if how == Enqueue::New {
            request /= 2;
        }
        entity.deadline = entity.vruntime + request;
    }

    /// `protect_slice`: 6.12 protects until the deadline is renewed, 6.18 until the
    /// virtual time of the deadline at its start.
    fn is_protected(&self, task: usize) -> bool {
        let entity = &self.tasks[task];
        match self.kernel {
            EevdfKernel::V6_12 => entity.protected_to == entity.deadline,
            EevdfKernel::V6_18 => entity.vruntime < entity.protected_to,
        }
    }

    /// `pick_eevdf`.
    fn best(&self, cpu: usize) -> Option<usize> {
        let queue = &self.queues[cpu];
        let first = queue.tree.first().map(|&(_, _, task)| task);
        match (queue.running, first) {
            (None, None) => return None,
            (Some(only), None) => return Some(only),
            (None, Some(only)) if queue.tree.len() == 1 => return Some(only),
            _ => {}
        }
        let (weight, sum) = self.totals(cpu);
        let weight = i128::from(weight);
        let eligible = |task: usize| sum >= i128::from(self.tasks[task].vruntime) * weight;
        let running = queue.running.filter(|&task| eligible(task));
        if let Some(running) = running
            && self.is_protected(running)
        {
            return Some(running);
        }
        let best = queue.tree.iter().map(|&(_, _, task)| task).find(|&task| eligible(task));
        match (running, best) {
            (Some(running), Some(best)) => {
                let sooner = self.tasks[running].deadline < self.tasks[best].deadline;
                Some(if sooner { running } else { best })
            }
            (running, best) => running.or(best),
        }
    }
}

fn weighted(task: &Task) -> i128 {
    i128::from(task.vruntime) * i128::from(task.weight)
}

impl Discipline for Eevdf {
    /// `update_curr`, `update_deadline`.
    fn update(&mut self, cpu: usize, now_ns: u64) {
        let queue = &mut self.queues[cpu];
        let Some(running) = queue.running else { return };
        let delta_ns = now_ns - queue.since_ns;
        queue.since_ns = now_ns;
        if delta_ns == 0 {
            return;
        }
        let entity = &mut self.tasks[running];
        entity.vruntime += virtual_ns(delta_ns, entity.weight);
        let done = entity.vruntime >= entity.deadline;
        if done {
            entity.deadline = entity.vruntime + virtual_ns(self.slice_ns, entity.weight);
        }
        let unprotected = self.kernel == EevdfKernel::V6_18 && !self.is_protected(running);
        let queue = &mut self.queues[cpu];
        queue.must_choose |= !queue.tree.is_empty() && (done || unprotected);
    }

    fn enqueue(&mut self, cpu: usize, task: usize, how: Enqueue) {
        self.place(cpu, task, how);
        self.insert(cpu, task);
    }

    fn dequeue(&mut self, cpu: usize, task: usize) {
        self.leave(cpu, task);
        let entity = &mut self.tasks[task];
        entity.deadline -= entity.vruntime;
        entity.relative = true;
    }

    /// `requeue_delayed_entity` with `DELAY_ZERO`.
    fn revive(&mut self, cpu: usize, task: usize) {
        self.tasks[task].delayed = false;
        if self.lag(cpu, task) > 0 {
            self.leave(cpu, task);
            self.tasks[task].lag = 0;
            self.enqueue(cpu, task, Enqueue::Woken);
        }
    }

    fn put(&mut self, cpu: usize, task: usize, stop: Stop) -> bool {
        match stop {
            // It stays beside the tree, with its protection.
            Stop::Preempted => true,
            Stop::Blocked if !self.is_eligible(cpu, task) => {
                self.tasks[task].delayed = true;
                self.queues[cpu].running = None;
                self.insert(cpu, task);
                true
            }
            Stop::Blocked | Stop::Ended => {
                self.leave(cpu, task);
                false
            }
        }
    }

    fn pick(&mut self, cpu: usize, now_ns: u64) -> Choice {
        let Some(best) = self.best(cpu) else { return Choice::Nothing };
        if self.tasks[best].delayed {
            self.leave(cpu, best);
            let entity = &mut self.tasks[best];
            entity.delayed = false;
            entity.lag = entity.lag.min(0);
            return Choice::Drop(best);
        }
        self.queues[cpu].must_choose = false;
        self.queues[cpu].since_ns = now_ns;
        if self.queues[cpu].running != Some(best) {
            if let Some(stopped) = self.queues[cpu].running.take() {
                self.insert(cpu, stopped);
            }
            self.extract(cpu, best);
            self.tasks[best].protected_to = self.tasks[best].deadline;
            self.queues[cpu].running = Some(best);
        }
        Choice::Run(best)
    }

    /// `check_preempt_wakeup_fair`: whether it would be picked now.
    fn preempts(&mut self, cpu: usize, task: usize) -> bool {
        let chosen = self.queues[cpu].must_choose || self.best(cpu) == Some(task);
        self.queues[cpu].must_choose = chosen;
        chosen
    }

    fn tick(&mut self, cpu: usize) -> bool {
        self.queues[cpu].must_choose
    }

    fn is_owed(&self, cpu: usize, task: usize) -> bool {
        self.is_eligible(cpu, task)
    }
}

#[cfg(test)]
mod tests;

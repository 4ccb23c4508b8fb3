//! EEVDF as of Linux 6.12 and 6.18: the eligible task with the earliest virtual deadline.
//!
//! Numbers and rules are those of `kernel/sched/fair.c` and `features.h` of 6.12.117 and
//! 6.18, for tasks that all ask for the base slice, so that `PREEMPT_SHORT` never applies
//! and all slices of a queue are equal. Averages are exact here (128 bits),
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

/// Balancing in 6.12. `NI_RANDOM` is in stable 6.12.69 and later and in stable 6.18.
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
    eligible_first: false,
};

/// The balancing rules of a kernel.
pub(crate) fn era(kernel: EevdfKernel) -> Era {
    match kernel {
        EevdfKernel::V6_12 => ERA_6_12,
        EevdfKernel::V6_18 => Era { sleepers_apart: true, eligible_first: true, ..ERA_6_12 },
    }
}

#[derive(Clone, Copy, Debug)]
struct Task {
    weight: u64,
    vruntime: i64,
    deadline: i64,
    /// Distance to the average when the task left its queue.
    lag: i64,
    /// The deadline is relative to the virtual runtime (`PLACE_REL_DEADLINE`).
    relative: bool,
    /// Virtual time up to which the task is not preempted (`RUN_TO_PARITY`).
    protected_to: i64,
    /// The task sleeps, but stays queued until eligible again (`DELAY_DEQUEUE`).
    delayed: bool,
    order: u64,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// By deadline. The running task is not in the tree.
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
            // The task stays beside the tree, with its protection.
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

    /// `check_preempt_wakeup_fair`: whether the task would be picked now.
    fn preempts(&mut self, cpu: usize, task: usize) -> bool {
        let chosen = self.queues[cpu].must_choose || self.best(cpu) == Some(task);
        self.queues[cpu].must_choose = chosen;
        chosen
    }

    fn tick(&mut self, cpu: usize) -> bool {
        self.queues[cpu].must_choose
    }

    fn is_eligible_to_move(&self, cpu: usize, task: usize) -> bool {
        self.is_eligible(cpu, task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Stream};

    const CPUS: usize = 8;
    const MS: u64 = 1_000_000;
    const TICK_NS: u64 = 4 * MS;
    const SLICE: i64 = 2_800_000;

    fn eevdf(kernel: EevdfKernel, weights: &[u64]) -> Eevdf {
        Eevdf::with(CPUS, weights.iter().copied(), kernel, SLICE as u64, TICK_NS)
    }

    fn run_first(eevdf: &mut Eevdf, ns: u64) {
        eevdf.enqueue(0, 0, Enqueue::New);
        assert_eq!(eevdf.pick(0, 0), Choice::Run(0));
        eevdf.update(0, ns);
    }

    fn stop_and_pick(eevdf: &mut Eevdf, task: usize, stop: Stop, now_ns: u64) -> Choice {
        eevdf.update(0, now_ns);
        eevdf.put(0, task, stop);
        eevdf.pick(0, now_ns)
    }

    #[test]
    fn a_new_task_has_half_a_slice_at_first() {
        let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024]);
        eevdf.enqueue(0, 0, Enqueue::New);
        assert_eq!(eevdf.tasks[0].deadline - eevdf.tasks[0].vruntime, SLICE / 2);
    }

    #[test]
    fn lag_survives_joining_a_queue() {
        let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 335]);
        run_first(&mut eevdf, MS);
        eevdf.tasks[1].lag = 700_000;
        eevdf.enqueue(0, 1, Enqueue::Woken);
        let lag = eevdf.average(0) - eevdf.tasks[1].vruntime;
        assert!((lag - 700_000).abs() <= 2, "{lag}");
    }

    #[test]
    fn an_eligible_task_preempts_immediately_and_another_waits_for_the_request() {
        for kernel in [EevdfKernel::V6_12, EevdfKernel::V6_18] {
            for (lag, preempts) in [(500_000, true), (0, false)] {
                let mut eevdf = eevdf(kernel, &[1024, 1024]);
                run_first(&mut eevdf, 1);
                eevdf.tasks[1].lag = lag;
                eevdf.enqueue(0, 1, Enqueue::Woken);
                assert_eq!(eevdf.preempts(0, 1), preempts, "{kernel:?} {lag}");
            }
        }
    }

    #[test]
    fn requests_end_at_the_first_tick_after_the_slice() {
        let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024]);
        eevdf.enqueue(0, 0, Enqueue::Woken);
        eevdf.enqueue(0, 1, Enqueue::Woken);
        let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
        eevdf.update(0, SLICE as u64 - 1);
        assert!(!eevdf.tick(0));
        eevdf.update(0, TICK_NS);
        assert!(eevdf.tick(0));
        let next = stop_and_pick(&mut eevdf, first, Stop::Preempted, TICK_NS);
        assert_eq!(next, Choice::Run(1 - first));
    }

    #[test]
    fn an_ineligible_sleeper_stays_queued_until_eligible() {
        let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024]);
        eevdf.enqueue(0, 0, Enqueue::Woken);
        eevdf.enqueue(0, 1, Enqueue::Woken);
        let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
        let other = 1 - first;
        assert_eq!(stop_and_pick(&mut eevdf, first, Stop::Blocked, MS), Choice::Run(other));
        assert!(eevdf.tasks[first].delayed);
        // The other has caught up after a millisecond and is done with its request at 3.8 ms.
        assert_eq!(stop_and_pick(&mut eevdf, other, Stop::Preempted, 5 * MS), Choice::Drop(first));
        assert!(eevdf.tasks[first].lag <= 0, "waiting in the queue earns nothing");
        assert_eq!(eevdf.pick(0, 5 * MS), Choice::Run(other));
    }

    #[test]
    fn a_delayed_sleeper_that_wakes_keeps_its_place_without_credit() {
        let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024]);
        eevdf.enqueue(0, 0, Enqueue::Woken);
        eevdf.enqueue(0, 1, Enqueue::Woken);
        let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
        stop_and_pick(&mut eevdf, first, Stop::Blocked, MS);
        eevdf.update(0, 3 * MS);
        assert!(eevdf.lag(0, first) > 0);
        eevdf.revive(0, first);
        assert!(eevdf.lag(0, first).abs() <= 1);
        assert!(!eevdf.tasks[first].delayed);
    }

    #[test]
    fn an_ended_task_leaves_even_if_ineligible() {
        let mut eevdf = eevdf(EevdfKernel::V6_18, &[1024, 1024]);
        eevdf.enqueue(0, 0, Enqueue::Woken);
        eevdf.enqueue(0, 1, Enqueue::Woken);
        let Choice::Run(first) = eevdf.pick(0, 0) else { panic!("a task") };
        eevdf.update(0, MS);
        assert!(!eevdf.put(0, first, Stop::Ended));
    }

    #[test]
    fn a_moved_task_keeps_its_lag_and_the_rest_of_its_request() {
        let mut eevdf = eevdf(EevdfKernel::V6_12, &[1024, 1024, 1024]);
        run_first(&mut eevdf, 2 * MS);
        eevdf.enqueue(0, 1, Enqueue::Woken);
        eevdf.enqueue(1, 2, Enqueue::Woken);
        let request = eevdf.tasks[1].deadline - eevdf.tasks[1].vruntime;
        let lag = eevdf.lag(0, 1);
        eevdf.dequeue(0, 1);
        eevdf.enqueue(1, 1, Enqueue::Moved);
        assert_eq!(eevdf.tasks[1].deadline - eevdf.tasks[1].vruntime, request);
        assert!((eevdf.lag(1, 1) - lag).abs() <= 2);
    }

    #[test]
    fn an_unprotected_task_of_6_18_gives_way_at_every_tick() {
        let due_again = |kernel| {
            let mut eevdf = eevdf(kernel, &[1024, 1024]);
            eevdf.enqueue(0, 1, Enqueue::Woken);
            eevdf.tasks[0].lag = 20 * MS as i64;
            eevdf.enqueue(0, 0, Enqueue::Woken);
            assert_eq!(eevdf.pick(0, 0), Choice::Run(0));
            // The task's lag is large enough that its next request is due first again.
            assert_eq!(stop_and_pick(&mut eevdf, 0, Stop::Preempted, TICK_NS), Choice::Run(0));
            eevdf.update(0, TICK_NS + MS);
            eevdf.tick(0)
        };
        assert!(!due_again(EevdfKernel::V6_12));
        assert!(due_again(EevdfKernel::V6_18));
    }

    #[test]
    fn lags_sum_to_nothing_and_stay_within_two_slices_or_a_tick() {
        for kernel in [EevdfKernel::V6_12, EevdfKernel::V6_18] {
            let weights = [1024, 335, 9548, 1024, 110, 1024];
            let mut eevdf = eevdf(kernel, &weights);
            let mut draws = Stream::new(3, Purpose::Scheduler, 0);
            for task in 0..weights.len() {
                eevdf.enqueue(0, task, Enqueue::New);
            }
            let mut seen = [false; 6];
            let mut now_ns = 0;
            let Choice::Run(mut running) = eevdf.pick(0, 0) else { panic!("a task") };
            for _ in 0..5_000 {
                now_ns += TICK_NS;
                eevdf.update(0, now_ns);
                if eevdf.tick(0) || draws.chance(100) {
                    let next = stop_and_pick(&mut eevdf, running, Stop::Preempted, now_ns);
                    let Choice::Run(next) = next else { panic!("a task") };
                    running = next;
                }
                seen[running] = true;
                let average = eevdf.average(0);
                let sum: i64 = (0..weights.len())
                    .map(|task| weights[task] as i64 * (average - eevdf.tasks[task].vruntime))
                    .sum();
                let total: i64 = weights.iter().map(|&weight| weight as i64).sum();
                assert!((-total..=0).contains(&sum), "{sum}: rounded down by less than one each");
                for (task, &weight) in weights.iter().enumerate() {
                    let lag = (average - eevdf.tasks[task].vruntime) * weight as i64 / 1024;
                    assert!(lag.unsigned_abs() <= 2 * SLICE as u64 + TICK_NS, "{task}: {lag}");
                }
            }
            assert_eq!(seen, [true; 6]);
        }
    }
}

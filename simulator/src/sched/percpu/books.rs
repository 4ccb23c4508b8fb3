//! Accounts for tasks in queues: loads, counts and idle times.

use super::{AVG_IDLE_MAX_NS, Discipline, Enqueue, PerCpu};
use crate::sched::Pick;
use crate::sched::pelt::{CAPACITY, Input, Signal};
use crate::task::Stop;
use crate::world::World;

impl<D: Discipline> PerCpu<D> {
    pub(super) fn jiffies(&self, world: &World) -> u64 {
        world.now_ns / self.tick_ns
    }

    pub(super) fn is_idle(&self, cpu: usize) -> bool {
        self.queues[cpu].nr == 0
    }

    pub(super) fn sync_queue(&mut self, cpu: usize, now_ns: u64) {
        let queue = &mut self.queues[cpu];
        let input = Input {
            load: queue.weight,
            runnable: queue.nr - queue.sleeping,
            running: queue.running.is_some(),
        };
        queue.signal.advance(now_ns, input);
    }

    pub(super) fn sync_task(&mut self, task: usize, now_ns: u64) {
        let entity = &mut self.entities[task];
        let load = if entity.queued { entity.weight } else { 0 };
        let runnable = u64::from(entity.queued && !entity.sleeping);
        entity.signal.advance(now_ns, Input { load, runnable, running: entity.running });
    }

    /// Makes the task the newest of its queue.
    pub(super) fn restamp(&mut self, task: usize) {
        self.stamp += 1;
        let entity = &mut self.entities[task];
        let tasks = &mut self.queues[entity.cpu].tasks;
        tasks.remove(&(entity.stamp, task));
        entity.stamp = self.stamp;
        tasks.insert((entity.stamp, task));
    }

    /// Books a task in; its and the queue's signals are of this instant.
    pub(super) fn add(&mut self, world: &World, cpu: usize, task: usize) {
        let entity = &mut self.entities[task];
        entity.cpu = cpu;
        entity.queued = true;
        let queue = &mut self.queues[cpu];
        queue.nr += 1;
        queue.sleeping += u64::from(entity.sleeping);
        queue.weight += entity.weight;
        self.overloaded |= queue.nr > 1;
        if queue.nr == 1 {
            self.idle.remove(cpu);
            self.busy[world.topology.package_of(cpu)] += 1;
        }
        self.restamp(task);
    }

    pub(super) fn remove(&mut self, world: &World, cpu: usize, task: usize) {
        let entity = &mut self.entities[task];
        entity.queued = false;
        let queue = &mut self.queues[cpu];
        queue.tasks.remove(&(entity.stamp, task));
        queue.nr -= 1;
        queue.sleeping -= u64::from(entity.sleeping);
        queue.weight -= entity.weight;
        if queue.nr == 0 {
            self.idle.insert(cpu);
            self.busy[world.topology.package_of(cpu)] -= 1;
        }
    }

    /// Removes the running task from the counts, unless its queue keeps the task.
    pub(super) fn note_stop(&mut self, world: &World, cpu: usize, task: usize, stop: Stop) {
        self.queues[cpu].running = None;
        self.entities[task].running = false;
        if !self.discipline.put(cpu, task, stop) {
            self.remove(world, cpu, task);
        } else if stop != Stop::Preempted {
            self.entities[task].sleeping = true;
            self.queues[cpu].sleeping += 1;
        }
        if stop == Stop::Ended {
            // `task_dead_fair`: a CPU that short programs keep busy counts as little loaded.
            let signal = self.entities[task].signal;
            self.queues[cpu].signal.detach(&signal);
        }
    }

    /// A task of the CPU's queue begins to run.
    pub(super) fn note_run(&mut self, cpu: usize, task: usize, now_ns: u64) -> Pick {
        self.sync_task(task, now_ns);
        self.queues[cpu].running = Some(task);
        self.entities[task].running = true;
        self.entities[task].last_ran_ns = Some(now_ns);
        self.restamp(task);
        Pick { task, slice_ns: None }
    }

    /// Takes a task that does not run to another CPU's queue.
    pub(super) fn migrate(&mut self, world: &World, task: usize, to: usize) {
        let from = self.entities[task].cpu;
        self.sync_queue(from, world.now_ns);
        self.sync_queue(to, world.now_ns);
        self.sync_task(task, world.now_ns);
        self.discipline.update(from, world.now_ns);
        self.discipline.dequeue(from, task);
        self.remove(world, from, task);
        let signal = self.entities[task].signal;
        self.queues[from].signal.detach(&signal);
        self.queues[to].signal.attach(&signal);
        self.entities[task].last_ran_ns = None;
        self.discipline.update(to, world.now_ns);
        self.add(world, to, task);
        self.discipline.enqueue(to, task, Enqueue::Moved);
    }

    /// Whether the CPU must choose again because of the queued task.
    pub(super) fn must_choose(&mut self, cpu: usize, task: usize) -> bool {
        self.queues[cpu].running.is_none() || self.discipline.preempts(cpu, task)
    }

    /// Signals of a new task: full load, and a share of the CPU's spare utilisation
    /// (`post_init_entity_util_avg`).
    pub(super) fn introduce(&mut self, cpu: usize, task: usize, now_ns: u64) {
        let weight = self.entities[task].weight;
        let queue = &self.queues[cpu].signal;
        let spare = CAPACITY.saturating_sub(queue.util()) / 2;
        let util = match queue.util() {
            0 => spare,
            busy => (busy * weight / (queue.load() + 1)).min(spare),
        };
        self.entities[task].signal = Signal::settled(weight, util, util, now_ns);
        self.entities[task].known = true;
    }

    pub(super) fn note_end_of_idling(&mut self, cpu: usize, now_ns: u64) {
        let queue = &mut self.queues[cpu];
        if let Some(since_ns) = queue.idle_since_ns.take() {
            let idled = (now_ns - since_ns) as i64;
            let avg = queue.avg_idle_ns as i64;
            queue.avg_idle_ns = (avg + (idled - avg) / 8).min(AVG_IDLE_MAX_NS as i64) as u64;
        }
    }

    /// The running task, now stopped, goes to the CPU that balancing chose.
    pub(super) fn push_stopped(&mut self, world: &World, cpu: usize) {
        let Some((task, to)) = self.queues[cpu].push_to.take() else { return };
        let entity = &self.entities[task];
        if !entity.queued || entity.cpu != cpu || entity.running {
            return;
        }
        self.migrate(world, task, to);
        if self.queues[to].running.is_some() && self.discipline.preempts(to, task) {
            self.kicked.push(to);
        }
    }

    pub(super) fn go_idle(&mut self, world: &World, cpu: usize) {
        self.queues[cpu].idle_since_ns = Some(world.now_ns);
        let core = world.topology.core_of(cpu);
        if world.topology.cpus_of_core(core).all(|cpu| self.is_idle(cpu)) {
            self.maybe_idle_core[world.topology.package_of(cpu)] = true;
        }
    }
}

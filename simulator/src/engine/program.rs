//! What the steps of a program do that take no time: sleeping, waiting, waking, calling the kernel.

use super::Engine;
use crate::error::SimError;
use crate::sched::{By, Scheduler, Wake};
use crate::task::{Next, State, Stop};
use crate::timers::Timer;

/// Steps without time passing after which a program counts as a livelock.
const STEPS_AT_ONCE_MAX: u32 = 1_000_000;

impl<S: Scheduler> Engine<'_, S> {
    /// Runs steps until one takes time; `None`: the task has work to compute.
    pub(super) fn follow_program(
        &mut self,
        task: usize,
        cpu: usize,
    ) -> Result<Option<Stop>, SimError> {
        let woken = Wake::Woken(By::Task { cpu, sync: false });
        for _ in 0..STEPS_AT_ONCE_MAX {
            let next = self.world.tasks[task].advance(self.world.model, self.world.now_ns);
            if self.calls_kernel(next) {
                self.scheduler.system_call(&self.world, cpu, task);
                self.follow_scheduler();
            }
            match next {
                Next::Compute => {
                    if self.world.tasks[task].work_left > 0 {
                        return Ok(None);
                    }
                }
                Next::Sleep { ns: 0, .. } => {}
                Next::Sleep { ns, on } => {
                    self.world.tasks[task].interrupt_on = on;
                    let at_ns = self.world.now_ns.saturating_add(ns);
                    self.world.set_timer(Timer::TaskWakes(task), at_ns);
                    return Ok(Some(Stop::Blocked));
                }
                Next::Barrier(index) => {
                    if !self.passes_barrier(index, task, woken) {
                        return Ok(Some(Stop::Blocked));
                    }
                }
                Next::Lock(index) => {
                    let (owner, queue) = &mut self.locks[index];
                    if owner.is_some() {
                        queue.push_back(task);
                        return Ok(Some(Stop::Blocked));
                    }
                    *owner = Some(task);
                }
                Next::Unlock(index) => self.unlock(index, woken),
                Next::Wake { semaphore, sync } => {
                    self.wake_one(semaphore, Wake::Woken(By::Task { cpu, sync }));
                }
                Next::Send { channel, bytes } => self.send(cpu, channel, bytes),
                Next::Receive { channel, bytes } => {
                    if !self.channels[channel].receive(task, bytes) {
                        return Ok(Some(Stop::Blocked));
                    }
                }
                Next::Exec => self.exec(cpu, task),
                Next::Fork(index) => {
                    if self.world.tasks[index].state == State::Absent {
                        self.make_runnable(index, Wake::New { by_cpu: Some(cpu) });
                    }
                }
                Next::Wait(index) => {
                    let (count, queue) = &mut self.semaphores[index];
                    if *count == 0 {
                        queue.push_back(task);
                        return Ok(Some(Stop::Blocked));
                    }
                    *count -= 1;
                }
                Next::SystemCall => {}
                Next::End => return Ok(Some(Stop::Ended)),
            }
        }
        let thread = self.workload.threads[task].name.clone();
        Err(SimError::Livelock { thread, at_ns: self.world.now_ns })
    }

    /// Gives a lock to the task that waits longest for it.
    fn unlock(&mut self, lock: usize, woken: Wake) {
        let (owner, queue) = &mut self.locks[lock];
        *owner = queue.pop_front();
        if let Some(next) = *owner {
            self.make_runnable(next, woken);
        }
    }

    /// Wakes the task that waits longest for a semaphore, or adds one to its count.
    fn wake_one(&mut self, semaphore: usize, woken: Wake) {
        let (count, queue) = &mut self.semaphores[semaphore];
        match queue.pop_front() {
            Some(waiter) => self.make_runnable(waiter, woken),
            None => *count += 1,
        }
    }

    /// Pipes and sockets promise that the writer waits soon.
    fn send(&mut self, cpu: usize, channel: usize, bytes: u64) {
        let woken = Wake::Woken(By::Task { cpu, sync: true });
        self.channels[channel].bytes += i128::from(bytes);
        while let Some(reader) = self.channels[channel].next_reader() {
            self.make_runnable(reader, woken);
        }
    }

    /// The scheduler may choose another CPU for the new program.
    fn exec(&mut self, cpu: usize, task: usize) {
        if self.scheduler.exec(&self.world, cpu, task) {
            self.reschedule_now(cpu);
        }
    }

    /// A task arrives at a barrier; the last one wakes the other tasks, and passes.
    fn passes_barrier(&mut self, index: usize, task: usize, woken: Wake) -> bool {
        self.barriers[index].push(task);
        if self.barriers[index].len() < self.workload.barriers[index].threads as usize {
            return false;
        }
        let mut arrived = std::mem::take(&mut self.barriers[index]);
        for other in arrived.drain(..).filter(|&other| other != task) {
            self.make_runnable(other, woken);
        }
        self.barriers[index] = arrived;
        true
    }

    /// Whether a step is a system call: steps that neither sleep nor wait nor wake are none.
    fn calls_kernel(&self, next: Next) -> bool {
        match next {
            Next::Compute | Next::End => false,
            Next::Sleep { ns, .. } => ns > 0,
            Next::Lock(index) => self.locks[index].0.is_some(),
            Next::Unlock(index) => !self.locks[index].1.is_empty(),
            Next::Wake { semaphore, sync } => sync || !self.semaphores[semaphore].1.is_empty(),
            Next::Wait(index) => self.semaphores[index].0 == 0,
            Next::Barrier(_)
            | Next::Send { .. }
            | Next::Receive { .. }
            | Next::Exec
            | Next::Fork(_)
            | Next::SystemCall => true,
        }
    }
}

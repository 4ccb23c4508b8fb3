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
                    if !self.takes_lock(index, task) {
                        return Ok(Some(Stop::Blocked));
                    }
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
                    if !self.takes_from_semaphore(index, task) {
                        return Ok(Some(Stop::Blocked));
                    }
                }
                Next::SystemCall => {}
                Next::End => return Ok(Some(Stop::Ended)),
            }
        }
        let thread = self.workload.threads[task].name.clone();
        Err(SimError::Livelock { thread, at_ns: self.world.now_ns })
    }

    /// Whether the task takes the lock; otherwise it waits, and tries again when it is woken.
    fn takes_lock(&mut self, lock: usize, task: usize) -> bool {
        let (owner, queue) = &mut self.locks[lock];
        if owner.is_some() {
            queue.push_back(task);
            self.world.tasks[task].retries_step();
            return false;
        }
        *owner = Some(task);
        true
    }

    /// Whether the semaphore has a count for the task; otherwise as with a lock.
    fn takes_from_semaphore(&mut self, semaphore: usize, task: usize) -> bool {
        let (count, queue) = &mut self.semaphores[semaphore];
        if *count == 0 {
            queue.push_back(task);
            self.world.tasks[task].retries_step();
            return false;
        }
        *count -= 1;
        true
    }

    /// Frees a lock and wakes the task that waits longest for it, which then tries again: a task
    /// that runs can take the lock before it. So does the default mutex of glibc
    /// (`nptl/pthread_mutex_lock.c` and `sysdeps/nptl/lowlevellock.h`, 2.36).
    fn unlock(&mut self, lock: usize, woken: Wake) {
        let (owner, queue) = &mut self.locks[lock];
        *owner = None;
        if let Some(next) = queue.pop_front() {
            self.make_runnable(next, woken);
        }
    }

    /// Adds one to a semaphore's count and wakes the task that waits longest, which then tries
    /// again, as with a lock (`nptl/sem_waitcommon.c`, glibc 2.36).
    fn wake_one(&mut self, semaphore: usize, woken: Wake) {
        let (count, queue) = &mut self.semaphores[semaphore];
        *count += 1;
        if let Some(waiter) = queue.pop_front() {
            self.make_runnable(waiter, woken);
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

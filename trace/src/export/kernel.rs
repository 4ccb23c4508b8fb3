//! A history as events of the kernel's tracer: each with its CPU and the task running on that CPU.

use std::collections::HashMap;
use std::io;

use crate::{Event, Header, SwitchState};

/// Something that a kernel notes on one CPU.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The CPU that traces the event.
    pub cpu: u32,
    /// The task running on that CPU.
    pub current: u32,
    /// Whether the event happened in an interrupt, if known.
    pub interrupt: Option<bool>,
    /// The event. The core of a frequency is a CPU here.
    pub event: Event,
}

/// Follows the running task of each CPU.
pub struct Tracer {
    by_cpu: Vec<u32>,
    by_task: HashMap<u32, u32>,
    /// CPU that each task left last.
    left: HashMap<u32, u32>,
    threads_per_core: u32,
    interrupt: Option<bool>,
}

impl Tracer {
    /// Every CPU idles.
    pub fn new(header: &Header) -> Self {
        Self {
            by_cpu: vec![0; header.cpus as usize],
            by_task: HashMap::new(),
            left: HashMap::new(),
            threads_per_core: header.threads_per_core.unwrap_or(1).max(1),
            interrupt: header.interrupts_known().then_some(false),
        }
    }

    /// The running task of a CPU.
    pub fn on(&self, cpu: u32) -> u32 {
        self.by_cpu.get(cpu as usize).copied().unwrap_or(0)
    }

    /// Gives `each` what a record becomes: frequencies of a core one for each of its CPUs, all
    /// else one.
    ///
    /// # Errors
    /// The first of `each`.
    pub fn trace(
        &mut self,
        event: &Event,
        mut each: impl FnMut(Traced) -> io::Result<()>,
    ) -> io::Result<()> {
        let event = event.clone();
        match event {
            Event::Switch { cpu, prev, next, .. } => {
                each(Traced { cpu, current: prev, interrupt: self.interrupt, event })?;
                self.switch(cpu, prev, next);
                Ok(())
            }
            Event::Wake { by, cpu, on, .. } => match self.by_task.get(&by) {
                Some(&here) => each(self.noted(here, event)),
                None => {
                    let here = on.unwrap_or(cpu);
                    each(Traced { interrupt: Some(true), ..self.noted(here, event) })
                }
            },
            Event::Registers { task, .. } => {
                let cpu = self.place(task);
                each(Traced { current: task, ..self.noted(cpu, event) })
            }
            Event::Frequency { core, khz } => {
                for cpu in self.cpus_of(core) {
                    each(self.noted(cpu, Event::Frequency { core: cpu, khz }))?;
                }
                Ok(())
            }
            Event::License { core, .. } => {
                each(self.noted(core.saturating_mul(self.threads_per_core), event))
            }
            Event::Migrate { to: cpu, .. }
            | Event::Overhead { cpu, .. }
            | Event::Decision { cpu, .. } => each(self.noted(cpu, event)),
            // Neither are the promises of wakers carried.
            Event::Exec { .. }
            | Event::Send { .. }
            | Event::Unsent { .. }
            | Event::Receive { .. }
            | Event::Stack { .. }
            | Event::Counters { .. }
            | Event::Pause { .. } => Ok(()),
            Event::Fork { by: task, .. }
            | Event::Phase { task, .. }
            | Event::Runtime { task, .. } => each(self.noted(self.place(task), event)),
        }
    }

    fn noted(&self, cpu: u32, event: Event) -> Traced {
        Traced { cpu, current: self.on(cpu), interrupt: self.interrupt, event }
    }

    /// The CPU a task runs on, or ran on last.
    fn place(&self, task: u32) -> u32 {
        self.by_task.get(&task).or_else(|| self.left.get(&task)).copied().unwrap_or(0)
    }

    /// The CPUs of a core that exist.
    fn cpus_of(&self, core: u32) -> std::ops::Range<u32> {
        let first = core.saturating_mul(self.threads_per_core);
        first..first.saturating_add(self.threads_per_core).min(self.by_cpu.len() as u32)
    }

    fn switch(&mut self, cpu: u32, prev: u32, next: u32) {
        if let Some(running) = self.by_cpu.get_mut(cpu as usize) {
            *running = next;
        }
        if prev != 0 {
            self.by_task.remove(&prev);
            self.left.insert(prev, cpu);
        }
        if next != 0 {
            self.by_task.insert(next, cpu);
        }
    }
}

/// Bit of the kernel's `prev_state` and its letter (`task_state_to_char`,
/// include/linux/sched.h, 6.18).
pub fn state_of(state: SwitchState) -> (u64, char) {
    match state {
        SwitchState::Runnable => (0, 'R'),
        SwitchState::Blocked => (1, 'S'),
        SwitchState::Dead => (16, 'X'),
    }
}

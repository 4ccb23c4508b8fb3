//! Whether an event happened within an interrupt.
//!
//! Lines of ftrace say so themselves. Lines of perf do not; there the events with which
//! interrupts begin and end tell, if they were recorded (`irq:*`, `irq_vectors:*`). A softirq that
//! a task raised, as one does that sends to its own machine, counts as the task
//! (`irq:softirq_raise`).

use std::collections::HashMap;

use crate::import::entry::{Entry, Interrupt, Payload};

/// A softirq, an interrupt and an NMI nest; more are events whose end was lost.
const NESTED_MAX: usize = 8;

/// There are ten softirqs (include/linux/interrupt.h, 6.18).
fn bit(vector: u32) -> u32 {
    1u32.checked_shl(vector).unwrap_or(0)
}

#[derive(Default)]
pub struct Interrupts {
    /// Those nested on a CPU, the last one innermost: whether each was raised by a task.
    nested: HashMap<u32, Vec<bool>>,
    /// By CPU: pending softirqs that a task raised, by number.
    raised: HashMap<u32, u32>,
    /// Whether the line itself says that the event happened in an interrupt.
    said: Option<bool>,
    /// Wake-ups whose line tells a task from an interrupt.
    told: bool,
    soft: bool,
    timer: bool,
}

impl Interrupts {
    /// Takes note of a line.
    pub fn follow(&mut self, cpu: Option<u32>, entry: &Entry) {
        self.said = entry.head.interrupt;
        match entry.payload {
            Payload::Waking { .. } | Payload::Wakeup { .. } => {
                self.told |= self.said == Some(false);
            }
            Payload::Interrupt { begins, of, vector } => {
                self.soft |= of == Interrupt::Soft;
                self.timer |= of == Interrupt::Timer;
                let Some(cpu) = cpu else { return };
                let by_task = begins && self.take_raised(cpu, vector);
                let nested = self.nested.entry(cpu).or_default();
                if !begins {
                    nested.pop();
                } else if nested.len() < NESTED_MAX {
                    nested.push(by_task);
                }
            }
            Payload::Raised { vector } => {
                let Some(cpu) = cpu else { return };
                let by_task = match self.nested.get(&cpu).and_then(|nested| nested.last()) {
                    Some(&by_task) => by_task,
                    None => self.said != Some(true) && entry.head.tid != Some(0),
                };
                if by_task {
                    *self.raised.entry(cpu).or_default() |= bit(vector);
                }
            }
            // No interrupt switches tasks: an event of its end was lost.
            Payload::Switch { .. } => {
                cpu.and_then(|cpu| self.nested.remove(&cpu));
            }
            _ => {}
        }
    }

    /// Whether the line just followed happened within an interrupt.
    pub fn runs(&self, cpu: Option<u32>) -> bool {
        let nested = cpu.and_then(|cpu| self.nested.get(&cpu)?.last());
        match nested {
            Some(true) => false,
            _ => self.said.unwrap_or(nested.is_some()),
        }
    }

    /// Whether a task raised the softirq that begins; it is pending no longer.
    fn take_raised(&mut self, cpu: u32, vector: Option<u32>) -> bool {
        let Some((raised, vector)) = self.raised.get_mut(&cpu).zip(vector) else { return false };
        let by_task = *raised & bit(vector) != 0;
        *raised &= !bit(vector);
        by_task
    }

    /// Whether every wake-up by an interrupt was recognised: without events of timers and
    /// softirqs most of them look like wake-ups by the running task.
    pub fn known(&self) -> bool {
        self.told || (self.soft && self.timer)
    }
}

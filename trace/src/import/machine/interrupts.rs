//! Whether an event happened within an interrupt.
//!
//! Lines of ftrace say so themselves. Lines of perf do not; there the events with which
//! interrupts begin and end tell, if they were recorded (`irq:*`, `irq_vectors:*`).

use std::collections::HashMap;

use crate::import::entry::{Entry, Interrupt, Payload};

#[derive(Default)]
pub struct Interrupts {
    /// How many are nested on a CPU.
    depth: HashMap<u32, u32>,
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
            Payload::Interrupt { begins, of } => {
                self.soft |= of == Interrupt::Soft;
                self.timer |= of == Interrupt::Timer;
                let Some(cpu) = cpu else { return };
                let depth = self.depth.entry(cpu).or_default();
                *depth = if begins { depth.saturating_add(1) } else { depth.saturating_sub(1) };
            }
            // No interrupt switches tasks: an event of its end was lost.
            Payload::Switch { .. } => {
                cpu.and_then(|cpu| self.depth.remove(&cpu));
            }
            _ => {}
        }
    }

    /// Whether the line just followed happened within an interrupt.
    pub fn runs(&self, cpu: Option<u32>) -> bool {
        let nested = cpu.is_some_and(|cpu| self.depth.get(&cpu).is_some_and(|&depth| depth > 0));
        self.said.unwrap_or(nested)
    }

    /// Whether every wake-up by an interrupt was recognised: without events of timers and
    /// softirqs most of them look like wake-ups by the running task.
    pub fn known(&self) -> bool {
        self.told || (self.soft && self.timer)
    }
}

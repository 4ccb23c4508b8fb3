//! Events that only exports of this project have.

use super::Machine;
use crate::import::tasks::IDLE;
use crate::{Event, Sink};

impl<S: Sink> Machine<'_, S> {
    /// An event of ours with this history's tasks and the CPU of its line.
    pub(super) fn own(&mut self, cpu: Option<u32>, event: &Event) -> Option<Event> {
        match *event {
            Event::Phase { task, class, rate_permille, stall_permille } => {
                let task = self.numbered(task)?;
                Some(Event::Phase { task, class, rate_permille, stall_permille })
            }
            Event::Decision { victim, culprit, slice_ns, refund_ns, bill_ns, .. } => {
                let (cpu, victim) = (cpu?, self.numbered(victim)?);
                let culprit = self.numbered(culprit).unwrap_or(0);
                Some(Event::Decision { cpu, victim, culprit, slice_ns, refund_ns, bill_ns })
            }
            Event::Overhead { ns, .. } => Some(Event::Overhead { cpu: cpu?, ns }),
            Event::Registers { task, xfeatures } => {
                let task = self.numbered(task)?;
                Some(Event::Registers { task, xfeatures })
            }
            Event::Runtime { task, ns } => {
                let task = self.numbered(task)?;
                Some(Event::Runtime { task, ns })
            }
            _ => Some(event.clone()),
        }
    }

    /// The id of the task of that number; none for idle tasks.
    fn numbered(&mut self, pid: u32) -> Option<u32> {
        let index = self.tasks.known(pid).unwrap_or_else(|| self.tasks.begin(pid));
        (index != IDLE).then(|| self.tasks.id(index))
    }
}

//! Runs that come to no end.

use super::Engine;
use crate::config::Config;
use crate::error::SimError;
use crate::sched::Scheduler;
use crate::task::State;

impl<S: Scheduler> Engine<'_, S> {
    pub(super) fn too_many_events(&self) -> SimError {
        let Config { events_max, limit_ns, .. } = *self.world.config;
        SimError::TooManyEvents { events: events_max, at_ns: self.world.now_ns, limit_ns }
    }

    pub(super) fn deadlock(&self) -> SimError {
        const NAMED_MAX: usize = 4;
        let is_blocked = |&(index, _): &(usize, &crate::task::Task)| {
            self.world.tasks[index].state == State::Blocked
        };
        let on = |task: usize| {
            if let Some(i) = self.barriers.iter().position(|all| all.contains(&task)) {
                format!("barrier {i}")
            } else if let Some(i) = self.locks.iter().position(|(_, all)| all.contains(&task)) {
                format!("lock {i}")
            } else if let Some(i) = self.semaphores.iter().position(|(_, all)| all.contains(&task))
            {
                format!("semaphore {i}")
            } else if let Some(i) =
                self.channels.iter().position(|channel| channel.has_reader(task))
            {
                format!("channel {i}")
            } else {
                "nothing".to_owned()
            }
        };
        let waiting: Vec<String> = self
            .world
            .tasks
            .iter()
            .enumerate()
            .filter(is_blocked)
            .take(NAMED_MAX)
            .map(|(index, _)| {
                format!("{} waits for {}", self.workload.threads[index].name, on(index))
            })
            .collect();
        SimError::Deadlock { at_ns: self.world.now_ns, waiting: waiting.join(", ") }
    }
}

//! An operator who switches core specialization while a run goes on.

use super::Engine;
use crate::error::SimError;
use crate::sched::Scheduler;
use crate::timers::{NEVER, Timer};

impl<S: Scheduler> Engine<'_, S> {
    /// Sets the timer of the operator.
    pub(super) fn await_operator(&mut self) {
        if let Some(operator) = &self.operator {
            let acts_ns = operator.acts_ns().unwrap_or(NEVER);
            self.world.set_timer(Timer::Operator, acts_ns);
        }
    }

    /// The operator reads the work done and switches.
    pub(super) fn operate(&mut self) -> Result<(), SimError> {
        let done = self.ref_cycles_done().iter().sum();
        let Some(operator) = &mut self.operator else { return Ok(()) };
        let is_on = operator.act(self.world.now_ns, done);
        if !self.scheduler.switch_specialization(&self.world, is_on) {
            return Err(SimError::NotSpecialized);
        }
        self.follow_scheduler();
        self.await_operator();
        Ok(())
    }
}

//! An operator who reads counters, pauses CPUs and switches core specialization.

use super::Engine;
use crate::cpu::Counted;
use crate::error::SimError;
use crate::operator::{Operated, Reading, SliceCounts};
use crate::sched::Scheduler;
use crate::task::Slice;
use crate::timers::{NEVER, Timer};

const E6: u64 = 1_000_000;
const E9: u64 = 1_000_000_000;

impl<S: Scheduler> Engine<'_, S> {
    /// Sets the timer of the operator.
    pub(super) fn await_operator(&mut self) {
        if let Some(operator) = &self.operator {
            let acts_ns = operator.acts_ns().unwrap_or(NEVER);
            self.world.set_timer(Timer::Operator, acts_ns);
        }
    }

    /// The operator acts.
    pub(super) fn operate(&mut self) -> Result<(), SimError> {
        let Some(operator) = self.operator.take() else { return Ok(()) };
        operator.act(self);
        self.operator = Some(operator);
        self.await_operator();
        self.refused.take().map_or(Ok(()), Err)
    }

    /// Books the slice that the end of the run cuts off, and shows it to the operator.
    pub(super) fn cut_slice(&mut self, cpu: usize) {
        self.world.close(cpu);
        if let Some(task) = self.world.cpus[cpu].running {
            let slice = std::mem::take(&mut self.world.tasks[task].slice);
            self.show_slice(cpu, task, &slice);
        }
    }

    /// Shows the operator that a CPU goes over to another task, or to none.
    pub(super) fn show_switch(&mut self, cpu: usize, next: Option<usize>) {
        if let Some(operator) = &mut self.operator {
            let waited_ns = next.map_or(0, |task| self.world.tasks[task].slice.waited_ns);
            let next = next.map(|task| task as u32);
            operator.switched(self.world.now_ns, cpu as u32, next, waited_ns);
        }
    }

    /// Shows the operator a slice that was accounted, and keeps its counts for later readings.
    pub(super) fn show_slice(&mut self, cpu: usize, task: usize, slice: &Slice) {
        let Some(operator) = &mut self.operator else { return };
        let mut counted = Counted::default();
        counted.add_slice(slice);
        let place = &mut self.world.cpus[cpu];
        place.counted.add_slice(slice);
        operator.slice_ended(&SliceCounts {
            task: task as u32,
            cpu: cpu as u32,
            began_ns: place.since_ns,
            ended_ns: self.world.now_ns,
            waited_ns: slice.waited_ns,
            counts: policy::Slice {
                time_ns: slice.time_ns,
                ..counted.counts(self.world.model.turbo.ref_khz)
            },
            throttled_cycles: slice.throttled_cycles_e6 / E6,
            retired: slice.retired_e9.map(|retired| retired / E9),
        });
    }
}

impl<S: Scheduler> Operated for Engine<'_, S> {
    fn now_ns(&self) -> u64 {
        self.world.now_ns
    }

    fn ref_cycles_done(&mut self) -> u64 {
        Engine::ref_cycles_done(self).iter().sum()
    }

    fn read(&mut self, cpu: u32) -> Reading {
        let at = cpu as usize;
        self.world.close(at);
        let place = &self.world.cpus[at];
        let mut counted = place.counted;
        if let Some(task) = place.running {
            counted.add_slice(&self.world.tasks[task].slice);
        }
        Reading {
            task: place.running.map(|task| task as u32),
            switches: place.switches,
            counts: counted.counts(self.world.model.turbo.ref_khz),
            throttled_cycles: (counted.throttled_cycles_e6 / u128::from(E6)) as u64,
        }
    }

    fn pause(&mut self, cpu: u32) {
        let at = cpu as usize;
        if self.world.recorder.is_some() {
            self.refused = Some(SimError::PausedHistory);
        }
        if !self.world.cpus[at].is_paused {
            self.world.step_changes(at);
            self.world.cpus[at].is_paused = true;
            self.world.claim(at);
        }
    }

    fn resume(&mut self, cpu: u32) {
        let at = cpu as usize;
        if !self.world.cpus[at].is_paused {
            return;
        }
        self.world.step_changes(at);
        let place = &mut self.world.cpus[at];
        place.is_paused = false;
        // An idle CPU chooses too: whatever the scheduler placed there has waited.
        if std::mem::take(&mut place.must_choose) || place.running.is_none() {
            self.reschedule_now(at);
        }
    }

    fn specialize(&mut self, is_on: bool) {
        if self.scheduler.switch_specialization(&self.world, is_on) {
            self.follow_scheduler();
        } else {
            self.refused = Some(SimError::NotSpecialized);
        }
    }
}

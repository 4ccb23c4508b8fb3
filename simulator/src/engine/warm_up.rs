//! The part of a run that rates of work leave out.

use super::Engine;
use crate::outcome::WarmUp;
use crate::sched::Scheduler;
use crate::task;

impl<S: Scheduler> Engine<'_, S> {
    /// Before the clock goes on to `next_ns`: notes the work done so far where the warm-up ends
    /// meanwhile.
    pub(super) fn end_warm_up(&mut self, next_ns: u64) {
        let ended_ns = self.world.config.start.counts_from_ns();
        if ended_ns == 0 || self.warm_up.is_some() || next_ns < ended_ns {
            return;
        }
        self.world.now_ns = ended_ns;
        let ref_cycles = self.ref_cycles_done();
        self.warm_up = Some(WarmUp { ended_ns, ref_cycles });
    }

    /// By task: the reference cycles that it has done until now.
    pub(super) fn ref_cycles_done(&mut self) -> Vec<u64> {
        for cpu in 0..self.world.topology.cpus {
            self.world.close(cpu);
        }
        let ref_khz = self.world.model.turbo.ref_khz;
        self.world.tasks.iter().map(|task| task::ref_cycles(task.done, ref_khz)).collect()
    }
}

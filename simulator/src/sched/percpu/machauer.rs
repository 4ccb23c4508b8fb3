//! The earlier prototype (M): CFS that gives back time after AVX-512 code, on each CPU alone.
//!
//! Whenever a CPU picks a task it reads a counter of cycles at the highest level (M 3.1.1, Fig.
//! 3.2). While traps on AVX-512 are off, a changed counter means that the task that ran used
//! AVX-512; traps go on. While they are on, such a task has trapped; a changed counter without a
//! trap means that the task ran slowly only since the hold of an earlier one lasted, and its factor
//! against the base frequency comes off its `delta_exec` (M 3.1.2, 3.2), so that the kernel also
//! shows less CPU time than it used. An unchanged counter switches the traps off.
//!
//! M reads the base frequency off the TSC, so that turbo has to be off; with turbo the mean
//! frequency is above it, and nothing is given back. M does not say which task gets the time of a
//! task that went to sleep, whose `delta_exec` is accounted before the pick; here that task does.

use super::PerCpu;
use crate::sched::cfs::Cfs;
use crate::sched::{Charged, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::world::World;

/// CFS with M's change.
pub(crate) struct Machauer {
    kernel: PerCpu<Cfs>,
    /// By CPU: whether AVX-512 traps.
    traps: Vec<bool>,
    /// Whether the time is given back; else it is computed alone, for M's measure of the overhead.
    applies: bool,
    /// The level whose cycles are counted.
    top_level: usize,
}

impl Machauer {
    pub(crate) fn new(world: &World, kernel: PerCpu<Cfs>, applies: bool) -> Self {
        let top_level = world.model.turbo.levels as usize - 1;
        Self { kernel, traps: vec![false; world.topology.cpus], applies, top_level }
    }

    /// The time to give back to the task that a CPU ran.
    fn refund_ns(&mut self, cpu: usize, observed: &Observed) -> u64 {
        let slice = &observed.slice;
        let has_changed = slice.level_cycles[self.top_level] > 0;
        let has_trapped = usize::from(observed.own_level) >= self.top_level;
        let trapped = std::mem::replace(&mut self.traps[cpu], has_changed);
        if !trapped || !has_changed || has_trapped || slice.ref_cycles == 0 {
            return 0;
        }
        let slow = slice.ref_cycles.saturating_sub(slice.cycles);
        (u128::from(slice.time_ns) * u128::from(slow) / u128::from(slice.ref_cycles)) as u64
    }
}

impl Scheduler for Machauer {
    fn tick_ns(&self) -> Option<u64> {
        self.kernel.tick_ns()
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        self.kernel.wake(world, task, wake)
    }

    fn exec(&mut self, world: &World, cpu: usize, task: usize) -> bool {
        self.kernel.exec(world, cpu, task)
    }

    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        observed: &Observed,
        stop: Stop,
    ) -> Charged {
        let refund_ns = self.refund_ns(cpu, observed);
        let refund_ns = if self.applies { refund_ns } else { 0 };
        self.kernel.discipline.credit(cpu, refund_ns);
        self.kernel.stop(world, cpu, task, observed, stop);
        Charged { refund_ns, ..Charged::default() }
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        self.kernel.pick(world, cpu)
    }

    fn tick(&mut self, world: &World, cpu: usize, reschedule: &mut Vec<usize>) {
        self.kernel.tick(world, cpu, reschedule);
    }

    fn reschedules(&mut self, cpus: &mut Vec<usize>) {
        self.kernel.reschedules(cpus);
    }

    fn idle_cpu_for(&self, world: &World, task: usize) -> Option<usize> {
        self.kernel.idle_cpu_for(world, task)
    }
}

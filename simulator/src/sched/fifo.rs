//! First come, first served: one queue for all CPUs, and nothing preempts.
//!
//! No kernel schedules like this. Comparing a recording with this deliberately wrong model
//! shows that the figures can tell schedulers apart.

use std::collections::VecDeque;

use crate::sched::{Charged, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::world::World;

/// Tasks that wait, those that came first in front.
#[derive(Default)]
pub(crate) struct Fifo {
    waiting: VecDeque<usize>,
}

impl Fifo {
    pub(crate) fn new(_world: &World) -> Self {
        Self::default()
    }
}

impl Scheduler for Fifo {
    fn tick_ns(&self) -> Option<u64> {
        None
    }

    fn wake(&mut self, world: &World, task: usize, _wake: Wake) -> Placed {
        self.waiting.push_back(task);
        let last = world.tasks[task].last_cpu.unwrap_or(0);
        let idle = world.idle_cpu_near(task, last);
        Placed { cpu: idle.unwrap_or(last), reschedule: idle }
    }

    fn stop(
        &mut self,
        _world: &World,
        _cpu: usize,
        task: usize,
        _observed: &Observed,
        stop: Stop,
    ) -> Charged {
        if stop == Stop::Preempted {
            self.waiting.push_front(task);
        }
        Charged::default()
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        let may_run = |&task: &usize| {
            let mask = world.tasks[task].mask;
            world.affinities.masks[mask].contains(cpu)
        };
        let place = self.waiting.iter().position(may_run)?;
        let task = self.waiting.remove(place)?;
        Some(Pick { task, slice_ns: None })
    }

    fn tick(&mut self, _world: &World, _cpu: usize, _reschedule: &mut Vec<usize>) {}
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Scheduler};
    use crate::testing::{machine, skylake, sleeper, spinner, workload};

    const S: u64 = 1_000_000_000;

    #[test]
    fn the_first_keeps_the_cpu_and_the_second_gets_nothing() {
        let threads = vec![spinner(0, &[0]), spinner(0, &[0])];
        let work = workload(machine(1, 2, 1), threads);
        let outcome =
            crate::run(&skylake(), &work, &Config::plain(Scheduler::Fifo, 5 * S)).unwrap();
        assert_eq!(outcome.tasks[0].cpu_time_ns, 5 * S);
        assert_eq!(outcome.tasks[1].cpu_time_ns, 0);
    }

    #[test]
    fn a_sleeper_finds_the_idle_cpu_and_waits_for_it_as_long_as_that_takes_to_wake() {
        let threads = vec![spinner(0, &[0]), sleeper(2_000_000, 1_000_000, &[])];
        let work = workload(machine(1, 2, 1), threads);
        let mut config = Config::plain(Scheduler::Fifo, 3 * S);
        config.costs.idle_exit_ns = 30_000;
        let outcome = crate::run(&skylake(), &work, &config).unwrap();
        let sleeper = &outcome.tasks[1];
        assert!(sleeper.slices > 900, "{}", sleeper.slices);
        assert_eq!(sleeper.waited_ns, sleeper.slices * 30_000);
    }
}

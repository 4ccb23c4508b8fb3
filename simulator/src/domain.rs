//! A license domain: its state machine, and the tasks that hold each level.

use std::ops::Range;

use cpu_model::{CpuModel, Demand, Effect, LEVELS_MAX, License, LicenseDomain};

use crate::holds::Holds;
use crate::timers::NEVER;
use crate::topology::{Topology, is_in_share};

/// A license and the tasks that demand its levels.
#[derive(Clone, Debug)]
pub(crate) struct Domain {
    /// Whether nothing lowers its clock.
    is_steady: bool,
    pub license: License,
    /// The demand that the license was last updated with.
    pub demand: Demand,
    /// Level and rate that the license allows now.
    pub effect: Effect,
    /// The level in force or that a transition leads to, whichever is higher.
    pub level_in_question: u8,
    /// Whether a register file that widens throttles the domain.
    pub is_widening: bool,
    /// When [`Self::advance`] is due; [`NEVER`]: not before a demand.
    pub due_ns: u64,
    /// Since when its holds stand still.
    stopped_at_ns: Option<u64>,
    /// Running tasks, ordered by CPU.
    runners: Vec<Runner>,
    /// The tasks with the widest registers of those that run.
    widest: Vec<u32>,
    /// By level: the tasks that demand the level or, when none does, those that did last.
    holders: [Vec<u32>; LEVELS_MAX],
}

/// How busy the package of a domain is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub active_cores: u32,
    /// The row of the turbo table that applies.
    pub turbo_row: usize,
}

/// A running task, its demand on its domain, and what it stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Runner {
    pub task: u32,
    pub cpu: u32,
    pub core: u32,
    pub rate_permille: u32,
    pub stall_permille: u32,
    pub class: cpu_model::Class,
    /// Level that class and rate demand alone.
    pub own_level: u8,
}

impl Runner {
    /// Stands for the spinning loop on a paused CPU.
    const SPINNER: u32 = u32::MAX;

    /// A loop of `pause` instructions: scalar, and the sibling keeps nearly the whole core.
    pub(crate) fn spinner(cpu: u32, core: u32) -> Self {
        Self {
            task: Self::SPINNER,
            cpu,
            core,
            rate_permille: 0,
            stall_permille: 1000,
            class: cpu_model::Class::Scalar,
            own_level: 0,
        }
    }

    pub(crate) fn is_spinner(&self) -> bool {
        self.task == Self::SPINNER
    }
}

impl Domain {
    /// Those of a machine; `steady_permille` of its cores, if each is one, keep their clock.
    pub(crate) fn of_machine(
        cpu: &CpuModel,
        topology: &Topology,
        steady_permille: u32,
    ) -> Vec<Self> {
        let domains = match cpu.license_domain {
            LicenseDomain::Core => topology.cores,
            LicenseDomain::Package => topology.packages,
        };
        (0..domains).map(|it| Self::new(cpu, is_in_share(it, steady_permille))).collect()
    }

    fn new(cpu: &CpuModel, is_steady: bool) -> Self {
        let license = License::new();
        Self {
            is_steady,
            effect: license.effect(&cpu.license),
            license,
            demand: Demand::default(),
            level_in_question: 0,
            is_widening: false,
            due_ns: NEVER,
            stopped_at_ns: None,
            runners: Vec::new(),
            widest: Vec::new(),
            holders: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Updates the license's demand to that of `runners`, which are ordered by CPU.
    pub(crate) fn update(
        &mut self,
        cpu: &CpuModel,
        holds: &Holds<'_>,
        runners: &[Runner],
        load: Load,
        now_ns: u64,
    ) {
        if self.runners == runners {
            return;
        }
        self.runners.clear();
        self.runners.extend_from_slice(runners);
        let demand = self.note_holders(cpu, runners);
        let resumed = self.stopped_at_ns.take();
        if let Some(stopped_ns) = resumed {
            self.license.postpone(now_ns - stopped_ns);
        }
        if holds.stop_when_idle() && runners.is_empty() {
            self.stopped_at_ns = Some(now_ns);
        }
        if demand != self.demand || resumed.is_some() || self.stopped_at_ns.is_some() {
            self.demand = demand;
            let table = holds.table(self.license.granted(), load.turbo_row);
            self.license.demand(table, demand, load.active_cores, now_ns);
            self.refresh(cpu);
        }
    }

    /// Notes the tasks that hold each level and the widest registers. Returns their demand.
    fn note_holders(&mut self, cpu: &CpuModel, runners: &[Runner]) -> Demand {
        self.widest.clear();

        let mut width = 0;
        let mut top = 0;
        let mut is_heavy = false;
        for runner in runners {
            let own_width = runner.class.width();
            if own_width > width {
                width = own_width;
                self.widest.clear();
            }
            if own_width == width {
                self.widest.push(runner.task);
            }
            let level = level_among(cpu, runners, runner);
            if level > top {
                // From here on new holders replace the tasks that held these levels last.
                for holders in &mut self.holders[usize::from(top) + 1..=usize::from(level)] {
                    holders.clear();
                }
                top = level;
                is_heavy = false;
            }
            is_heavy |= level == top && runner.class.is_heavy();
            for holders in &mut self.holders[1..=usize::from(level)] {
                holders.push(runner.task);
            }
        }
        if self.is_steady { Demand::default() } else { Demand::new(top, width, is_heavy) }
    }

    /// The tasks that ran at the last update, ordered by CPU.
    pub(crate) fn runners(&self) -> &[Runner] {
        &self.runners
    }

    /// Those of a core, as a range of [`Self::runners`].
    #[inline]
    pub(crate) fn range_of(&self, core: usize) -> Range<usize> {
        let is_before = |last: u32| move |runner: &Runner| runner.core < last;
        let (core, end) = (core as u32, self.runners.len());
        let is_alone = self.runners.first().is_none_or(|first| first.core == core)
            && self.runners.last().is_none_or(|last| last.core == core);
        if is_alone {
            return 0..end;
        }
        self.runners.partition_point(is_before(core))
            ..self.runners.partition_point(is_before(core + 1))
    }

    /// Ends the stage, transition or hold that is due.
    pub(crate) fn advance(&mut self, cpu: &CpuModel, active: u32, now_ns: u64) {
        self.license.advance(&cpu.license, active, now_ns);
        self.refresh(cpu);
    }

    fn refresh(&mut self, cpu: &CpuModel) {
        let license = &self.license;
        self.effect = license.effect(&cpu.license);
        self.level_in_question =
            self.effect.level.max(license.heading_for()).max(license.granted());
        self.is_widening = license.is_widening();
        let stands_still = self.stopped_at_ns.is_some() && license.is_steady();
        self.due_ns = license.next_ns().filter(|_| !stands_still).unwrap_or(NEVER);
    }

    /// The culprits of a task's losses: the tasks that hold a level above its own, else the tasks
    /// for whose registers the domain is throttled.
    pub(crate) fn culprits(&self, own_level: u8) -> &[u32] {
        if self.level_in_question > own_level {
            &self.holders[usize::from(self.level_in_question)]
        } else {
            &self.widest
        }
    }
}

/// The level a runner's class demands with the rates of its core added up.
fn level_among(cpu: &CpuModel, runners: &[Runner], runner: &Runner) -> u8 {
    let beside = runners.iter().filter(|other| other.core == runner.core);
    let is_alone = beside.clone().all(|other| other == runner || other.class != runner.class);
    if is_alone {
        return runner.own_level;
    }
    cpu.level_beside(runner.class, beside.map(|other| (other.class, other.rate_permille)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Scheduler};
    use cpu_model::Class;

    const BUSY: Load = Load { active_cores: 16, turbo_row: 4 };
    const ALONE: Load = Load { active_cores: 1, turbo_row: 0 };

    fn skylake() -> CpuModel {
        crate::testing::skylake()
    }

    impl Domain {
        fn advance_to(&mut self, cpu: &CpuModel, now_ns: u64) {
            while let Some(due_ns) = self.license.next_ns().filter(|&due_ns| due_ns <= now_ns) {
                self.advance(cpu, 16, due_ns);
            }
        }
    }

    fn runner(task: u32, class: Class, rate_permille: u32) -> Runner {
        let own_level = skylake().level_demanded(class, rate_permille);
        Runner { task, cpu: task, core: 0, rate_permille, stall_permille: 0, class, own_level }
    }

    #[test]
    fn siblings_reach_together_the_rate_that_neither_reaches_alone() {
        let cpu = skylake();
        let holds = Holds::new(&cpu, &Config::plain(Scheduler::Fifo, 0));
        let mut domain = Domain::new(&cpu, false);
        domain.update(&cpu, &holds, &[runner(1, Class::Avx512Heavy, 300)], BUSY, 0);
        assert_eq!(domain.license.demanded(), 1);
        let both = [runner(1, Class::Avx512Heavy, 300), runner(2, Class::Avx512Heavy, 300)];
        domain.update(&cpu, &holds, &both, BUSY, 0);
        assert_eq!(domain.license.demanded(), 2);
        assert_eq!(domain.culprits(1), [1, 2]);
    }

    /// Heavy 512-bit code of a millisecond, then 100 us of scalar code, then nothing, then scalar
    /// code: the level falls when scalar code has run for its break-even time of 171 us.
    #[test]
    fn adaptive_holds_count_busy_time_and_depend_on_the_turbo_row() {
        let cpu = skylake();
        let adaptive = Config { adaptive_holds: true, ..Config::plain(Scheduler::Fifo, 0) };
        let holds = Holds::new(&cpu, &adaptive);
        let mut domain = Domain::new(&cpu, false);
        let scalar = [runner(2, Class::Scalar, 0)];
        domain.update(&cpu, &holds, &[runner(1, Class::Avx512Heavy, 1000)], BUSY, 0);
        domain.advance_to(&cpu, 1_000_000);
        domain.update(&cpu, &holds, &scalar, BUSY, 1_000_000);
        domain.update(&cpu, &holds, &[], BUSY, 1_100_000);
        assert_eq!(domain.due_ns, NEVER);
        domain.update(&cpu, &holds, &scalar, BUSY, 9_100_000);
        let break_even_ns = cpu.break_even_ns(16, 2, 0).unwrap();
        assert_eq!(domain.due_ns, 9_000_000 + break_even_ns);
        domain.advance_to(&cpu, 10_000_000);
        assert_eq!(domain.license.granted(), 0);
        // With one active core the clock falls by less.
        domain.update(&cpu, &holds, &[runner(1, Class::Avx512Heavy, 1000)], ALONE, 10_000_000);
        domain.advance_to(&cpu, 11_000_000);
        domain.update(&cpu, &holds, &scalar, ALONE, 11_000_000);
        assert_eq!(domain.due_ns, 11_000_000 + cpu.break_even_ns(1, 2, 0).unwrap());
    }

    #[test]
    fn the_last_to_demand_a_level_answers_for_it_after_leaving() {
        let cpu = skylake();
        let holds = Holds::new(&cpu, &Config::plain(Scheduler::Fifo, 0));
        let mut domain = Domain::new(&cpu, false);
        domain.update(&cpu, &holds, &[runner(1, Class::Avx512Heavy, 1000)], BUSY, 0);
        let raised_ns = 60_000;
        domain.advance_to(&cpu, raised_ns);
        domain.update(&cpu, &holds, &[runner(2, Class::Avx2Heavy, 1000)], BUSY, raised_ns);
        assert_eq!(domain.culprits(0), [1]);
    }
}

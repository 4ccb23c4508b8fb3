//! A license domain: its state machine, and the tasks that hold each level.

use std::ops::Range;

use cpu_model::{CpuModel, Demand, Effect, LEVELS_MAX, License, LicenseDomain};

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
    /// Running tasks, ordered by CPU.
    runners: Vec<Runner>,
    /// The tasks with the widest registers of those that run.
    widest: Vec<u32>,
    /// By level: the tasks that demand the level or, when none does, those that did last.
    holders: [Vec<u32>; LEVELS_MAX],
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
            runners: Vec::new(),
            widest: Vec::new(),
            holders: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// Updates the license's demand to that of `runners`, which are ordered by CPU.
    pub(crate) fn update(&mut self, cpu: &CpuModel, runners: &[Runner], active: u32, now_ns: u64) {
        if self.runners == runners {
            return;
        }
        self.runners.clear();
        self.runners.extend_from_slice(runners);
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
        let demand =
            if self.is_steady { Demand::default() } else { Demand::new(top, width, is_heavy) };
        if demand != self.demand {
            self.demand = demand;
            self.license.demand(&cpu.license, demand, active, now_ns);
            self.refresh(cpu);
        }
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
        self.due_ns = license.next_ns().unwrap_or(NEVER);
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
    let is_beside = |other: &&Runner| other.core == runner.core && other.class == runner.class;
    let sum: u32 = runners.iter().filter(is_beside).map(|other| other.rate_permille).sum();
    if sum == runner.rate_permille {
        return runner.own_level;
    }
    cpu.level_demanded(runner.class, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpu_model::Class;

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
        let mut domain = Domain::new(&cpu, false);
        domain.update(&cpu, &[runner(1, Class::Avx512Heavy, 300)], 16, 0);
        assert_eq!(domain.license.demanded(), 1);
        let both = [runner(1, Class::Avx512Heavy, 300), runner(2, Class::Avx512Heavy, 300)];
        domain.update(&cpu, &both, 16, 0);
        assert_eq!(domain.license.demanded(), 2);
        assert_eq!(domain.culprits(1), [1, 2]);
    }

    #[test]
    fn the_last_to_demand_a_level_answers_for_it_after_leaving() {
        let cpu = skylake();
        let mut domain = Domain::new(&cpu, false);
        domain.update(&cpu, &[runner(1, Class::Avx512Heavy, 1000)], 16, 0);
        let raised_ns = 60_000;
        domain.advance_to(&cpu, raised_ns);
        domain.update(&cpu, &[runner(2, Class::Avx2Heavy, 1000)], 16, raised_ns);
        assert_eq!(domain.culprits(0), [1]);
    }
}

//! A workload to profile: a case of a scenario on its CPU, as D 4.5 ran it.

use std::collections::BTreeMap;

use cpu_model::{CpuModel, CpuTable, TurboMode};
use profiler::{Plan, Profile, Truth, simulated};
use scenarios::{Case, MachineDefaults, Scenario, Workload};
use simulator::{CfsKernel, Config, Costs, Scheduler};

/// What an experiment returns; errors are of bad scenarios or refused runs.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Samples a second of the whole machine (D 4.2.1).
pub const SAMPLES_A_SECOND: f64 = 50.0;

/// A case of a scenario.
pub struct Work {
    pub cpu: CpuModel,
    pub workload: Workload,
    scenario: Scenario,
}

impl Work {
    /// A case of the scenario in `text`, with changed parameters.
    pub fn new(
        text: &str,
        program: &str,
        background: &str,
        parameters: &[(&str, f64)],
    ) -> Result<Self> {
        let scenario = Scenario::parse(text, "scenario")?;
        let mut programs = scenario.foreground_names();
        let mut backgrounds = scenario.background_names();
        let case = Case {
            foreground: Some(programs.position(|it| it == program).ok_or("no such program")?),
            background: backgrounds.position(|it| it == background).ok_or("no such background")?,
        };
        drop((programs, backgrounds));
        let cpu = CpuTable::by_name(&scenario.cpu)?.model(TurboMode::On)?;
        let changes: BTreeMap<String, f64> =
            parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let defaults = MachineDefaults::from(&cpu);
        let workload = scenario.workload(case, Some(0), &changes, &defaults)?;
        Ok(Self { cpu, workload, scenario })
    }

    /// A case of a shipped scenario.
    pub fn shipped(name: &str, program: &str, background: &str) -> Result<Self> {
        let (_, text) = scenarios::by_name(name).ok_or("no such scenario")?;
        Self::new(text, program, background, &[])
    }

    /// How to run it: as D 4.5, with CFS.
    pub fn config(&self, seed: u64) -> Config {
        let run = &self.scenario.run;
        Config {
            seed,
            start: run.start,
            costs: Costs::USUAL,
            ..Config::plain(Scheduler::Cfs(CfsKernel::V5_9), run.limit_ns)
        }
    }

    /// The index of an application.
    pub fn group(&self, name: &str) -> Result<usize> {
        let position = self.workload.applications.iter().position(|it| it.name == name);
        Ok(position.ok_or("no such application")?)
    }

    /// What is true without a profiler, of runs with these seeds together.
    pub fn truth(&self, runs: u64) -> Result<Truth> {
        let mut truth = Truth::default();
        for seed in 1..=runs {
            let outcome = simulator::run(&self.cpu, &self.workload, &self.config(seed))?;
            truth.add(&Truth::of(&self.workload, &outcome));
        }
        Ok(truth)
    }

    /// The profile of runs with these seeds together, and what is true of them.
    pub fn profile(&self, runs: u64, plan: impl Fn(u64) -> Plan) -> Result<(Profile, Truth)> {
        let mut truth = Truth::default();
        let mut all: Option<Profile> = None;
        for seed in 1..=runs {
            let config = self.config(seed);
            let plan = Some(plan(seed));
            let (profile, outcome) = simulated::profile(&self.cpu, &self.workload, &config, plan)?;
            truth.add(&Truth::of(&self.workload, &outcome));
            match &mut all {
                Some(all) => all.merge(profile),
                None => all = Some(profile),
            }
        }
        Ok((all.ok_or("no run")?, truth))
    }
}

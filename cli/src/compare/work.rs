//! The work of a comparison: the runs of a scenario, or a recording.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use scenarios::{Case, MachineDefaults, Scenario, Start, Workload};

use super::recording::Recording;
use crate::files;
use crate::run_options::{AVOIDING, SCHEDULERS, Sensors, TO_COMPARE_WITH};
use crate::settings::{Settings, replay};

/// The work of a comparison.
pub enum Work {
    /// A scenario file.
    Scenario(Box<Scenario>),
    /// A recording and its control, the same with every class scalar.
    Recording(Box<Recording>),
}

impl Work {
    /// The random program mix of a seed.
    pub fn mix(seed: u64) -> Result<Self> {
        let scenario = Scenario::parse(&scenarios::mix(seed), &format!("mix {seed}"))?;
        Ok(Self::Scenario(Box::new(scenario)))
    }

    /// Reads the scenario or the recording.
    pub fn read(
        scenario: Option<&str>,
        trace: Option<&Path>,
        class: &[String],
        settings: &Settings,
    ) -> Result<Self> {
        match (scenario, trace) {
            (_, Some(path)) => {
                settings.refuse_parameters()?;
                let set = &settings.simulation;
                ensure!(
                    set.warm_up_ms.is_none() && set.arrival_window_ms.is_none(),
                    "--set warm-up-ms, arrival-window-ms: a recording says when threads begin"
                );
                let recording = Recording::read(path, class, &settings.replay)?;
                Ok(Self::Recording(Box::new(recording)))
            }
            (Some(name), None) => {
                settings.refuse(replay::GROUP, "only a recording (--trace) is replayed")?;
                let scenario = read_scenario(name)?;
                settings.refuse_ambiguous(&scenario)?;
                Ok(Self::Scenario(Box::new(scenario)))
            }
            (None, None) => bail!(
                "name a scenario (evenkeel scenarios lists them), or a recording with --trace"
            ),
        }
    }

    /// Name in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Scenario(scenario) => &scenario.name,
            Self::Recording(recording) => &recording.name,
        }
    }

    /// CPU table that the work is meant for.
    pub fn cpu(&self) -> &str {
        match self {
            Self::Scenario(scenario) => &scenario.cpu,
            Self::Recording(recording) => &recording.cpu,
        }
    }

    /// Every run that belongs to one scheduler and replicate.
    pub fn cases(&self) -> Vec<Case> {
        match self {
            Self::Scenario(scenario) => scenario.cases(),
            Self::Recording(_) => {
                (0..2).map(|background| Case { foreground: None, background }).collect()
            }
        }
    }

    /// Name of a background, and whether the background is the control.
    pub fn background(&self, index: usize) -> (String, bool) {
        match self {
            Self::Scenario(scenario) => {
                let name = scenario.background_names().nth(index).unwrap_or_default();
                (name.to_owned(), index == scenario.control())
            }
            Self::Recording(_) if index == 0 => ("scalar".to_owned(), true),
            Self::Recording(_) => ("recorded".to_owned(), false),
        }
    }

    /// Names of the backgrounds besides the control.
    pub fn compared_backgrounds(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for case in self.cases() {
            let (name, is_control) = self.background(case.background);
            if !is_control && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Name of the foreground program of a case, where programs run one by one.
    pub fn program(&self, case: Case) -> Option<String> {
        match self {
            Self::Scenario(scenario) => {
                case.foreground.and_then(|i| scenario.foreground_names().nth(i)).map(str::to_owned)
            }
            Self::Recording(_) => None,
        }
    }

    /// The case with a program and a background, by default the last ones.
    pub fn case(&self, program: Option<&str>, background: Option<&str>) -> Result<Case> {
        let cases = self.cases();
        let has_program = |case: &&Case| match (program, self.program(**case)) {
            (Some(wanted), Some(name)) => is_meant(wanted, &name),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let has_background = |case: &&Case| {
            let (name, is_control) = self.background(case.background);
            background.map_or(!is_control, |wanted| is_meant(wanted, &name))
        };
        if let Some(case) = cases.iter().filter(has_program).rfind(has_background) {
            return Ok(*case);
        }
        let mut programs: Vec<String> =
            cases.iter().filter_map(|&case| self.program(case)).collect();
        programs.dedup();
        let backgrounds = self.compared_backgrounds();
        bail!(
            "--program, --background: no such run; programs: {}; backgrounds: {}",
            if programs.is_empty() { "all together".to_owned() } else { programs.join(", ") },
            backgrounds.join(", ")
        )
    }

    /// The name of the work of a case.
    pub fn name_of(&self, case: Case) -> String {
        let (background, _) = self.background(case.background);
        let program = self.program(case).map(|name| format!("{name} ")).unwrap_or_default();
        match self {
            Self::Scenario(_) => format!("{}, {program}beside {background}", self.name()),
            Self::Recording(_) => self.name().to_owned(),
        }
    }

    /// The workload of a case in a replicate, or its placebo.
    pub fn workload(
        &self,
        case: Case,
        replicate: u32,
        overrides: &BTreeMap<String, f64>,
        machine: &MachineDefaults,
        is_placebo: bool,
    ) -> Result<Workload> {
        let is_control = self.background(case.background).1;
        match self {
            Self::Scenario(scenario) => {
                let fit = Some(replicate as usize);
                Ok(if is_placebo && !is_control {
                    scenario.placebo(case, fit, overrides, machine)?
                } else {
                    scenario.workload(case, fit, overrides, machine)?
                })
            }
            Self::Recording(recording) if is_control || is_placebo => Ok(recording.control.clone()),
            Self::Recording(recording) => Ok(recording.workload.clone()),
        }
    }

    /// When threads begin, besides what a recording says of it.
    pub fn start(&self) -> Start {
        match self {
            Self::Scenario(scenario) => scenario.run.start,
            Self::Recording(_) => Start::default(),
        }
    }

    /// Whether the machine of the work has its turbo on.
    pub fn turbo(&self) -> bool {
        match self {
            Self::Scenario(scenario) => scenario.turbo(),
            Self::Recording(recording) => recording.workload.machine.turbo,
        }
    }

    /// Simulated time after the warm-up after which a run stops.
    pub fn limit_ns(&self) -> u64 {
        match self {
            Self::Scenario(scenario) => scenario.run.limit_ns,
            Self::Recording(recording) => recording.limit_ns,
        }
    }
}

/// A scenario by name or from a file.
pub fn read_scenario(name: &str) -> Result<Scenario> {
    if let Some(scenario) = Scenario::shipped(name) {
        return Ok(scenario?);
    }
    let path = Path::new(name);
    if !path.exists() && !name.contains(['.', '/']) {
        bail!(
            "no scenario {name:?}: expected a file or one of {}",
            scenarios::names().collect::<Vec<_>>().join(", ")
        );
    }
    ensure!(!files::is_packed(path), "{name}: a recording, no scenario: say --trace {name}");
    let scenario = Scenario::parse(&files::read_text(path)?, name)?;
    let schedulers = [&SCHEDULERS[..], &AVOIDING, &TO_COMPARE_WITH].concat();
    for (index, claim) in scenario.claims.iter().enumerate() {
        for figure in claim.figures() {
            one_of(name, index, "scheduler", &figure.scheduler, &schedulers)?;
            one_of(name, index, "sensors", &figure.sensors, &Sensors::names())?;
        }
    }
    Ok(scenario)
}

fn one_of(file: &str, claim: usize, field: &str, found: &str, known: &[&str]) -> Result<()> {
    let known_names = known.join(", ");
    ensure!(
        known.contains(&found),
        "{file}: `claim[{claim}].{field}`: {found:?} is not one of {known_names}"
    );
    Ok(())
}

/// Whether a background or program is meant: by its name, or by a usual spelling.
pub fn is_meant(wanted: &str, name: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "");
    [plain(name), plain(&report::variant(name))].contains(&plain(wanted))
}

//! Estimates of the profiler beside the truth of the simulator, as CSV.
//!
//!     accuracy published           the programs of D 4.5, and scenarios with short phases
//!     accuracy development FROM TO random mixes of the development half
//!     accuracy held-out TAG COUNT  random mixes of the held-out half of a release
//!
//! A profile is of several runs of a workload, one after the other.

use std::collections::BTreeSet;
use std::process::ExitCode;

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use profiler::matrix::{Entry, Matrix};
use profiler::{Method, Plan, Profile, Truth, recorded, simulated};
use scenarios::{Case, MachineDefaults, Role, Scenario, Workload};
use simulator::{
    CfsKernel, Config, Costs, EevdfKernel, Outcome, Scheduler, SensorFaults, SimError,
};
use trace::{Event, Record};

const SAMPLES_A_SECOND: f64 = 50.0;
/// Runs of about half a second each.
const RUNS: u64 = 20;
/// Losses below say nothing about culprits.
const LOSS_MIN_PCT: f64 = 2.0;

/// What is read of a machine.
#[derive(Clone, Copy)]
enum By {
    /// Counters, in pauses.
    Pauses(Method),
    /// Nothing, and scalar code is timed in pauses.
    Clock,
    /// Counters at switches.
    Counters,
    /// Registers at switches.
    Registers,
}

/// One way to estimate.
struct Estimator {
    name: &'static str,
    by: By,
    counter_noise_permille: u32,
    table_error_permille: i32,
}

const fn exact(name: &'static str, by: By) -> Estimator {
    Estimator { name, by, counter_noise_permille: 0, table_error_permille: 0 }
}

const OURS: Estimator = exact("pauses", By::Pauses(Method::Ours));
const ESTIMATORS: [Estimator; 8] = [
    OURS,
    exact("published", By::Pauses(Method::Published)),
    exact("counters", By::Counters),
    exact("clock", By::Clock),
    exact("registers", By::Registers),
    Estimator { name: "pauses, counters off by 2 %", counter_noise_permille: 20, ..OURS },
    Estimator { name: "pauses, counters off by 10 %", counter_noise_permille: 100, ..OURS },
    Estimator { name: "pauses, table off by 5 %", table_error_permille: 50, ..OURS },
];

/// A scenario to profile.
struct Work {
    scenario: Scenario,
    scheduler: Scheduler,
}

impl Work {
    fn rows(&self, case: Case) -> Result<(), Box<dyn std::error::Error>> {
        let scenario = &self.scenario;
        let table = CpuTable::by_name(&scenario.cpu)?;
        let cpu = table.model(TurboMode::On)?;
        let defaults = MachineDefaults::from(&cpu);
        let workload = scenario.workload(case, Some(0), &[].into(), &defaults)?;
        let mut without = Truth::default();
        for seed in 1..=RUNS {
            let outcome = simulator::run(&cpu, &workload, &self.config(seed))?;
            without.add(&Truth::of(&workload, &outcome));
        }
        for estimator in &ESTIMATORS {
            let mut with = Truth::default();
            let mut profile: Option<Profile> = None;
            for seed in 1..=RUNS {
                let config = Config {
                    sensor_faults: SensorFaults {
                        counter_noise_permille: estimator.counter_noise_permille,
                        table_error_permille: estimator.table_error_permille,
                        ..SensorFaults::default()
                    },
                    ..self.config(seed)
                };
                let plan = match estimator.by {
                    By::Pauses(Method::Ours) | By::Clock => Some(Plan::ours(&cpu, seed)),
                    By::Pauses(Method::Published) => Some(Plan::published(&cpu, seed)),
                    By::Counters | By::Registers => None,
                };
                let plan = plan.map(|plan| plan.with_rate(SAMPLES_A_SECOND));
                let (run, outcome) = match estimator.by {
                    By::Registers => with_registers(&cpu, &workload, config)?,
                    _ => simulated::profile(&cpu, &workload, &config, plan)?,
                };
                with.add(&Truth::of(&workload, &outcome));
                match &mut profile {
                    Some(profile) => profile.merge(run),
                    None => profile = Some(run),
                }
            }
            let profile = profile.ok_or("no run")?;
            let matrix = match estimator.by {
                By::Pauses(method) => Matrix::of_samples(&profile, method, 1),
                By::Clock => Matrix::of_clocks(&profile, 1),
                By::Counters | By::Registers => Matrix::of_slices(&profile, 1),
            };
            for group in 0..workload.applications.len() {
                if workload.applications[group].role == Role::Foreground {
                    self.row(case, estimator, group, &profile, &matrix, [&with, &without]);
                }
            }
        }
        Ok(())
    }

    fn config(&self, seed: u64) -> Config {
        let run = &self.scenario.run;
        Config {
            seed,
            start: run.start,
            costs: Costs::USUAL,
            ..Config::plain(self.scheduler.clone(), run.limit_ns)
        }
    }

    fn row(
        &self,
        case: Case,
        estimator: &Estimator,
        group: usize,
        profile: &Profile,
        matrix: &Matrix,
        [with, without]: [&Truth; 2],
    ) {
        let program = case.foreground.and_then(|it| self.scenario.foreground_names().nth(it));
        let background = self.scenario.background_names().nth(case.background);
        let victim = &matrix.victims[group];
        let overhead = victim.overhead_pct;
        let truth = with.overhead_pct(group);
        let entries = matrix.entries.iter().filter(|it| it.victim == group);
        let lost_ns = |entry: &&Entry| entry.lost_ns.value;
        let most = entries.max_by(|a, b| lost_ns(a).total_cmp(&lost_ns(b)));
        let is_right = most.and_then(|entry| entry.culprit) == with.culprit(group);
        let culprit = match (truth > LOSS_MIN_PCT, is_right) {
            (false, _) => "",
            (true, true) => "right",
            (true, false) => "wrong",
        };
        let longer = 100.0 * (with.simulated_ns as f64 / without.simulated_ns as f64 - 1.0);
        println!(
            "{},{},{},\"{}\",{},{:.3},{:.3},{:.3},{truth:.3},{:.3},{culprit},{},{longer:.3}",
            self.scenario.name,
            program.unwrap_or("all"),
            background.unwrap_or(""),
            estimator.name,
            profile.groups[group],
            overhead.value,
            overhead.low,
            overhead.high,
            without.overhead_pct(group),
            victim.samples,
        );
    }
}

/// The profile of a run of which a recorder shows switches and the registers that tasks left their
/// CPU with: those of 512 bits where the task was in 512-bit code.
fn with_registers(
    cpu: &CpuModel,
    workload: &Workload,
    config: Config,
) -> Result<(Profile, Outcome), SimError> {
    const ZMM: u64 = 1 << 6;
    let config = Config { history: true, ..config };
    let mut outcome = simulator::run(cpu, workload, &config)?;
    let mut history = outcome.history.take().expect("a history was asked for");
    let mut is_wide = BTreeSet::new();
    let mut records = Vec::new();
    for record in history.records.drain(..) {
        match record.event {
            Event::Phase { task, class, .. } if class.width() == 2 && class != Class::Amx => {
                is_wide.insert(task);
            }
            Event::Phase { task, .. } => {
                is_wide.remove(&task);
            }
            Event::Switch { prev: task, .. } if is_wide.contains(&task) => {
                let time_ns = record.time_ns;
                records.push(record);
                let event = Event::Registers { task, xfeatures: ZMM };
                records.push(Record { time_ns, event });
            }
            _ => records.push(record),
        }
    }
    history.records = records;
    let reading = recorded::Reading {
        active_cores: workload.machine.turbo_cores,
        seed: config.seed,
        ..recorded::Reading::default()
    };
    Ok((in_order(workload, recorded::profile(cpu, &history, &reading)), outcome))
}

/// A profile whose groups are numbered as the applications of the workload.
fn in_order(workload: &Workload, profile: Profile) -> Profile {
    let names: Vec<_> = workload.applications.iter().map(|it| it.name.clone()).collect();
    let position = |group: &u32| {
        let name = &profile.groups[*group as usize];
        names.iter().position(|it| it == name).expect("a group is an application") as u32
    };
    let group_of = profile.group_of.iter().map(position).collect();
    Profile { group_of, groups: names, ..profile }
}

fn works(args: &[&str]) -> Result<Vec<Work>, Box<dyn std::error::Error>> {
    let published = || Scheduler::Cfs(CfsKernel::V5_9);
    let mix = |seed: u64| -> Result<Work, Box<dyn std::error::Error>> {
        let scenario = Scenario::parse(&scenarios::mix(seed), "mix")?;
        Ok(Work { scenario, scheduler: Scheduler::Eevdf(EevdfKernel::V6_12) })
    };
    match *args {
        ["published"] => ["parsec-x265", "nginx-crypto", "light512", "memory-bound-phases"]
            .into_iter()
            .map(|name| {
                let (_, text) = scenarios::by_name(name).ok_or("no such scenario")?;
                let scenario = Scenario::parse(text, name)?;
                Ok(Work { scenario, scheduler: published() })
            })
            .collect(),
        ["development", from, to] => (from.parse::<u32>()?..to.parse()?)
            .map(|index| mix(scenarios::development_seed(index)))
            .collect(),
        ["held-out", tag, count] => (0..count.parse::<u32>()?)
            .map(|index| mix(scenarios::held_out_seed(tag, index)))
            .collect(),
        _ => Err("usage: accuracy published | development FROM TO | held-out TAG COUNT".into()),
    }
}

fn all(args: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "work,program,background,estimator,victim,estimate_pct,low_pct,high_pct,true_pct,\
         unprofiled_pct,culprit,samples,longer_pct"
    );
    for work in works(args)? {
        for case in work.scenario.cases() {
            work.rows(case)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match all(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

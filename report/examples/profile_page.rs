//! The page of a profile on standard output, to look at without a machine that can be profiled:
//! what is true of a simulated run, as an estimator without error would find it. Call stacks and
//! waits by culprit are no part of a run:
//! `cargo run --release -p report --example profile_page -- pingpong`.

use std::collections::BTreeMap;

use cpu_model::{CpuTable, TurboMode};
use report::profile::{Core, Interval, Lane, Loss, Span, TimeLine, Victim, View};
use report::profile_page;
use scenarios::{MachineDefaults, Scenario, Workload};
use simulator::{Config, EevdfKernel, Outcome, Scheduler};
use trace::{Event, History};

/// How much of a run is simulated, and shown in the time line.
const LIMIT_NS: u64 = 1_000_000_000;
const SHOWN_S: f64 = 0.2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "parsec-x265".to_owned());
    let scenario = Scenario::shipped(&name).ok_or("no scenario of that name is shipped")??;
    let cpu = CpuTable::by_name("xeon-gold-6130")?.model(TurboMode::On)?;
    let case = *scenario.cases().last().ok_or("the scenario has no case")?;
    let workload = scenario.workload(case, None, &BTreeMap::new(), &MachineDefaults::from(&cpu))?;
    let scheduler = Scheduler::Eevdf(EevdfKernel::V6_18);
    let config = Config { history: true, ..Config::plain(scheduler, LIMIT_NS) };
    let outcome = simulator::run(&cpu, &workload, &config)?;
    let history = outcome.history.as_ref().ok_or("the run has no history")?;
    let names: Vec<String> = workload.applications.iter().map(|it| it.name.clone()).collect();
    let view = View {
        title: format!("{name}, simulated, {:.3} s", outcome.simulated_ns as f64 / 1e9),
        facts: vec![
            ("CPU".to_owned(), cpu.name.clone()),
            ("scheduler".to_owned(), "eevdf".to_owned()),
        ],
        has_clock: true,
        estimator: "Taken from the simulation itself: these are no estimates.".to_owned(),
        victims: victims(&workload, &outcome),
        losses: losses(&names, &outcome),
        time_line: time_line(&workload, history, names.clone()),
        ..View::default()
    };
    print!("{}", profile_page(&view));
    Ok(())
}

fn victims(workload: &Workload, outcome: &Outcome) -> Vec<Victim> {
    let of = |(application, named): (usize, &scenarios::Application)| {
        let threads = workload.threads.iter().zip(&outcome.tasks);
        let own = threads.filter(|(thread, _)| thread.application as usize == application);
        let sum = own.fold([0; 3], |[ran, waited, lost], (_, it)| {
            [ran + it.cpu_time_ns, waited + it.waited_ns, lost + it.lost_ns]
        });
        let [cpu_time_s, waited_s, lost_s] = sum.map(|ns| ns as f64 / 1e9);
        Victim {
            name: named.name.clone(),
            cpu_time_s,
            waited_s,
            lost_s: Interval::unbounded(lost_s),
            overhead_pct: Interval::unbounded(100.0 * lost_s / (cpu_time_s - lost_s)),
            basis: "measured",
            demands: Some(named.class.name().to_owned()),
            ..Victim::default()
        }
    };
    workload.applications.iter().enumerate().map(of).collect()
}

fn losses(names: &[String], outcome: &Outcome) -> Vec<Loss> {
    let of = |loss: &simulator::Loss| Loss {
        victim: names[loss.victim as usize].clone(),
        culprit: Some(names[loss.culprit as usize].clone()),
        lost_s: Interval::unbounded(loss.lost_ns as f64 / 1e9),
        ..Loss::default()
    };
    outcome.losses.iter().map(of).collect()
}

fn time_line(workload: &Workload, history: &History, groups: Vec<String>) -> TimeLine {
    let threads_per_core = workload.machine.threads_per_core;
    let lane = |cpu| Lane { cpu, spans: Vec::new() };
    let core = |core: u32| Core {
        name: format!("core {core}"),
        cpus: (core * threads_per_core..(core + 1) * threads_per_core).map(lane).collect(),
        levels: Vec::new(),
    };
    let mut cores: Vec<Core> = (0..workload.machine.cpus() / threads_per_core).map(core).collect();
    let group = |tid: u32| {
        let task = history.header.tasks.iter().find(|task| task.tid == tid)?;
        groups.iter().position(|group| *group == task.app)
    };
    let end_ns = history.header.start_ns + (SHOWN_S * 1e9) as u64;
    let shown = history.records.iter().take_while(|record| record.time_ns < end_ns);
    let mut running: BTreeMap<u32, (u32, f64)> = BTreeMap::new();
    let mut levels: BTreeMap<u32, (u8, f64)> = BTreeMap::new();
    let mut ran = |cpu: u32, (tid, from_s): (u32, f64), to_s| {
        let core = &mut cores[(cpu / threads_per_core) as usize];
        let spans = &mut core.cpus[(cpu % threads_per_core) as usize].spans;
        spans.extend(group(tid).map(|group| Span { from_s, to_s, group }));
    };
    let mut was = Vec::new();
    for record in shown {
        let now_s = (record.time_ns - history.header.start_ns) as f64 / 1e9;
        match record.event {
            Event::Switch { cpu, next, .. } => {
                let before = running.insert(cpu, (next, now_s));
                before.into_iter().for_each(|stretch| ran(cpu, stretch, now_s));
            }
            Event::License { core, level, .. } => {
                let before = levels.insert(core, (level, now_s));
                was.extend(before.map(|(level, from_s)| (core, (from_s, now_s, level))));
            }
            _ => {}
        }
    }
    running.into_iter().for_each(|(cpu, stretch)| ran(cpu, stretch, SHOWN_S));
    was.extend(levels.into_iter().map(|(core, (level, from_s))| (core, (from_s, SHOWN_S, level))));
    was.into_iter().for_each(|(core, stretch)| cores[core as usize].levels.push(stretch));
    TimeLine { length_s: SHOWN_S, cores, groups }
}

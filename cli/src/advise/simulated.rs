//! Advice from a simulated machine.

use anyhow::{Context, Result, bail};
use scenarios::{Case, MachineDefaults};
use silicon::advice::{self, Simulated};
use simulator::{KernelMode, Scheduler};

use super::{Args, Report, WINDOW_SIMULATED_MS, WholeRuns};
use crate::compare::{Work, is_meant};
use crate::parallel::in_order;
use crate::terminal;

/// Simulates the work of a scenario or a recording.
pub fn run(args: &Args) -> Result<Report> {
    let options = &args.run;
    let scheduler = options.scheduler(&args.scheduler)?;
    refuse_unspecialized(&scheduler, &args.scheduler)?;
    let trace = args.trace.as_deref();
    let work = Work::read(args.scenario.as_deref(), trace, &args.classes.class, &options.set)?;
    let case = case(&work, args)?;
    let cpu_name = options.cpu.clone().unwrap_or_else(|| work.cpu().to_owned());
    let file = args.scenario.as_deref().unwrap_or_else(|| work.name());
    let cpu = options.cpu_model(&cpu_name, work.turbo()).context(options.named_cpu_by(file))?;
    let Some(&sensors) = options.sensors.first() else { bail!("--sensors: name one set") };
    let window_ms = args.window.unwrap_or(WINDOW_SIMULATED_MS);
    // Pairs of all seeds are judged together, so no run ends because its own suffice.
    let pairs_max = args.pairs.map_or(usize::MAX, |pairs| pairs as usize);
    let machine = MachineDefaults::from(&cpu);
    let is_placebo = options.set.simulation.placebo;
    let bar = terminal::progress(args.replicates.into(), "simulating");
    let simulate = |&replicate: &u32| -> Result<Simulated> {
        let overrides = options.set.overrides();
        let workload = work.workload(case, replicate, &overrides, &machine, is_placebo)?;
        let (start, limit_ns) = (work.start(), work.limit_ns());
        let config = options.config(scheduler.clone(), sensors, replicate.into(), start, limit_ns);
        let plan = advice::Plan { seed: config.seed, ..args.plan(window_ms, pairs_max, 0.0) };
        let simulated = advice::simulate(&cpu, &workload, &config, &plan)
            .with_context(|| format!("{file}: {}, seed {}", args.scheduler, config.seed))?;
        bar.inc(1);
        Ok(simulated)
    };
    let replicates: Vec<u32> = (0..args.replicates).collect();
    let seeds = in_order(&replicates, simulate)?;
    bar.finish_and_clear();
    let pairs = seeds.iter().flat_map(|seed| seed.pairs.iter().copied()).collect();
    let switched = advice::advise(pairs);
    Ok(Report {
        schema: 1,
        work: Some(name(&work, case)),
        cpu: Some(cpu_name),
        scheduler: args.scheduler.clone(),
        counted: "reference cycles of all tasks".to_owned(),
        window_ms,
        seed: options.seed,
        not_switched: switched.as_ref().err().map(ToString::to_string),
        switched: switched.ok(),
        whole_runs: advice::whole_runs(&seeds)
            .map(|change_pct| WholeRuns { verdict: advice::judge(&change_pct), change_pct }),
    })
}

fn refuse_unspecialized(scheduler: &Scheduler, name: &str) -> Result<()> {
    match scheduler {
        Scheduler::Specialize(_)
        | Scheduler::FairSpecialize(_)
        | Scheduler::Scx(KernelMode::Specialize(_) | KernelMode::FairSpecialize(_)) => Ok(()),
        _ => bail!(
            "--scheduler: {name} has no core specialization to switch; specialize, \
             fair-specialize, scx:specialize and scx:fair-specialize have"
        ),
    }
}

/// The case with the program and the background that are meant.
fn case(work: &Work, args: &Args) -> Result<Case> {
    let cases = work.cases();
    let has_program = |case: &&Case| match (&args.program, work.program(**case)) {
        (Some(wanted), Some(name)) => is_meant(wanted, &name),
        (Some(_), None) => false,
        (None, _) => true,
    };
    let has_background = |case: &&Case| {
        let (name, is_control) = work.background(case.background);
        args.background.as_ref().map_or(!is_control, |wanted| is_meant(wanted, &name))
    };
    if let Some(case) = cases.iter().filter(has_program).rfind(has_background) {
        return Ok(*case);
    }
    let mut programs: Vec<String> = cases.iter().filter_map(|&case| work.program(case)).collect();
    programs.dedup();
    let backgrounds = work.compared_backgrounds();
    bail!(
        "--program, --background: no such run; programs: {}; backgrounds: {}",
        if programs.is_empty() { "all together".to_owned() } else { programs.join(", ") },
        backgrounds.join(", ")
    )
}

fn name(work: &Work, case: Case) -> String {
    let (background, _) = work.background(case.background);
    let program = work.program(case).map(|name| format!("{name} ")).unwrap_or_default();
    match work {
        Work::Scenario(_) => format!("{}, {program}beside {background}", work.name()),
        Work::Recording(_) => work.name().to_owned(),
    }
}

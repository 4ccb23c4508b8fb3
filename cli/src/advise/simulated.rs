//! Advice from a simulated machine.

use anyhow::{Context, Result, bail};
use scenarios::MachineDefaults;
use silicon::advice::{self, Simulated};
use simulator::{KernelMode, Scheduler};

use super::{Args, Report, WINDOW_SIMULATED_MS, WholeRuns};
use crate::compare::Work;
use crate::parallel::in_order;
use crate::terminal;

/// The scheduler of a scenario where the user does not say.
const SCHEDULER: &str = "fair-specialize";

/// Simulates the work of a scenario or a recording.
pub fn run(args: &Args) -> Result<Report> {
    let options = &args.run;
    let name = args.scheduler.as_deref().unwrap_or(SCHEDULER);
    let scheduler = options.scheduler(name)?;
    refuse_unspecialized(&scheduler, name)?;
    let trace = args.trace.as_deref();
    let work = Work::read(args.scenario.as_deref(), trace, &args.classes.class, &options.set)?;
    let case = work.case(args.program.as_deref(), args.background.as_deref())?;
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
            .with_context(|| format!("{file}: {name}, seed {}", config.seed))?;
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
        work: Some(work.name_of(case)),
        cpu: Some(cpu_name),
        scheduler: name.to_owned(),
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

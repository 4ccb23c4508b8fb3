//! `evenkeel compare`: several schedulers on the same work.

mod execute;
mod output;
mod recording;
mod work;

pub use execute::{Choice, Plan, command, with_jobs};
pub use recording::{Classes, REPLAY_CPU, annotated};
pub use work::{Work, is_meant, read_scenario};

use std::path::PathBuf;

use anyhow::{Result, ensure};
use report::{BusyPackage, Comparison};

use crate::run_options::{RunOptions, SCHEDULERS};
use crate::terminal;

const EXAMPLES: &str = "\
Examples:
  evenkeel compare parsec-x265 --page out/page.html
      a scenario that comes with evenkeel (all of them: evenkeel scenarios)
  evenkeel compare mine.toml --scheduler cfs,fair-isolation --json -
      a scenario of your own, results as JSON
  evenkeel compare --trace recording.ektrace --class 'x265*=avx512-heavy'
      a recording; names that match x265* are taken to run heavy 512-bit code";

/// Several schedulers on the same work.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, next_help_heading = "Work")]
pub struct Args {
    /// Scenario: a file, or a name of `evenkeel scenarios`
    #[arg(conflicts_with = "trace")]
    scenario: Option<String>,

    /// Replays a recording (.ektrace of `evenkeel trace record` or `import`) instead of a scenario
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    #[command(flatten)]
    classes: recording::Classes,

    /// Backgrounds to compare with the control [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    background: Vec<String>,

    /// Foreground programs, where the scenario runs them one by one [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    program: Vec<String>,

    /// Schedulers to compare; others are core-scheduling, which keeps programs on cores of their
    /// own, specialize and fair-specialize, which confine 512-bit code to as few cores as it
    /// needs, fair-cycles and fair-energy, which charge something else than time,
    /// even-without-PART (matching, placing, swaps, repayment, forced-switch-out), and scx:NAME,
    /// the kernel scheduler's own source (fair, fair-relative, fair-isolation, even,
    /// specialize, fair-specialize); scx:FILE.bpf.c is a sched_ext scheduler of yours, and
    /// scx:FILE.bpf.c:NAME=NUMBER:… the same with constants set
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values = SCHEDULERS,
        help_heading = "Simulation")]
    scheduler: Vec<String>,

    #[command(flatten)]
    run: RunOptions,

    /// Seeds (or fitted parameter sets) to average over [default: what the scenario says, 3 for a
    /// recording]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Simulation")]
    replicates: Option<u32>,

    /// Runs at a time; the results do not depend on it [default: one a CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Simulation")]
    jobs: Option<u16>,

    #[command(flatten)]
    output: output::Files,
}

/// Makes the runs of a plan and compares them; `label` stands beside the progress.
fn simulate(plan: &Plan, work: &Work, jobs: Option<u16>, label: &str) -> Result<Comparison> {
    let bar = terminal::progress(plan.runs() as u64, label);
    let samples = with_jobs(jobs, || plan.run(work, &bar))?;
    bar.finish_and_clear();
    Ok(report::compare(plan.setup(work), samples)?)
}

/// Fails where a placebo of the same runs has an effect: then no claim tells anything of classes.
fn check_placebo(
    work: &Work,
    file: &str,
    options: &RunOptions,
    choice: &Choice<'_>,
    jobs: Option<u16>,
) -> Result<()> {
    let mut options = options.clone();
    options.set.simulation.placebo = true;
    let plan = Plan::new(work, file, &options, choice)?;
    let comparison = simulate(&plan, work, jobs, "placebo")?;
    if let Some(run) = comparison.compared().find(|run| run.is_more_than_chance()) {
        anyhow::bail!(
            "under {} with {}, a placebo changes completions by {:.1} %: the control differs in \
             more than classes",
            run.scheduler,
            run.background,
            run.signed_slowdown_pct
        );
    }
    Ok(())
}

/// The slowdown of a recording of a part of a package, if all cores of that package were active.
fn busy_package(
    plan: &Plan,
    work: &Work,
    comparison: &Comparison,
    choice: &Choice<'_>,
    args: &Args,
) -> Result<Option<BusyPackage>> {
    let scheduler = report::baseline_scheduler(comparison);
    let Some(((work, cores), scheduler)) = plan.on_busy_package(work).zip(scheduler) else {
        return Ok(None);
    };
    let schedulers = [scheduler.to_owned()];
    let choice = Choice { schedulers: &schedulers, ..*choice };
    let plan = Plan::new(&work, work.name(), &args.run, &choice)?;
    let busy = simulate(&plan, &work, args.jobs, "busy package")?;
    Ok(busy.compared().next().map(|run| BusyPackage {
        cores,
        scheduler: run.scheduler.clone(),
        isolation_slowdown_pct: run.isolation_slowdown_pct,
    }))
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    let settings = &args.run.set;
    let trace = args.trace.as_deref();
    let work = Work::read(args.scenario.as_deref(), trace, &args.classes.class, settings)?;
    let choice = Choice {
        schedulers: &args.scheduler,
        backgrounds: &args.background,
        programs: &args.program,
        replicates: args.replicates,
    };
    let file = args.scenario.as_deref().unwrap_or_else(|| work.name());
    let plan = Plan::new(&work, file, &args.run, &choice)?;
    let output = output::Output::new(&args.output, settings.results.shown)?;
    output.refuse_unwritable()?;
    let mut comparison = simulate(&plan, &work, args.jobs, "simulating")?;
    comparison.busy_package = busy_package(&plan, &work, &comparison, &choice, &args)?;
    let histories = if output.show_histories() {
        plan.histories(&work, settings.results.shown.to_ns)?
    } else {
        Vec::new()
    };
    output.write(&comparison, &histories)?;
    let broken = comparison.claims.iter().filter(|claim| claim.is_unexpected()).count();
    if args.output.check {
        let judged = comparison.claims.iter().filter(|claim| claim.holds.is_some()).count();
        ensure!(judged > 0, "--check: no claim of the scenario is about what was run");
        ensure!(broken == 0, "{broken} of {judged} claims of the scenario do not hold");
        check_placebo(&work, file, &args.run, &choice, args.jobs)?;
    }
    Ok(())
}

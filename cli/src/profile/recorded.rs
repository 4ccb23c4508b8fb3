//! Profiles a recorded schedule: what tasks waited for, and what the CPU table says they lost.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use profiler::matrix::Matrix;
use profiler::recorded;
use trace::{Event, Source};

use super::{Args, Estimator, Report, losses, victims};
use crate::compare::{REPLAY_CPU, annotated};

/// Profiles a recording.
pub fn run(args: &Args, path: &Path) -> Result<Report> {
    refuse_simulation(args)?;
    let options = &args.run;
    options.set.refuse_parameters()?;
    let (history, annotation) = annotated(path, &args.classes.class, &options.set.replay)?;
    let header = &history.header;
    let cpu_name = options.cpu.clone().or_else(|| header.cpu.clone());
    let cpu_name = cpu_name.unwrap_or_else(|| REPLAY_CPU.to_owned());
    let file = path.display().to_string();
    let cpu = options.cpu_model(&cpu_name, true).context(options.named_cpu_by(&file))?;
    let reading = recorded::Reading {
        active_cores: options.set.replay.turbo_cores,
        threads_per_core: Some(options.set.replay.threads_per_core).filter(|&it| it > 1),
        seed: options.seed,
    };
    let profile = recorded::profile(&cpu, &history, &reading);
    ensure!(!profile.groups.is_empty(), "{file}: no task is recorded");
    let matrix = Matrix::of_slices(&profile, options.seed);
    let has_wide = matrix.victims.iter().any(|victim| victim.own_level > 0);
    let has_classes = annotation.wide_tasks > 0 || header.source == Source::Simulated;
    let has_registers =
        history.records.iter().any(|record| matches!(record.event, Event::Registers { .. }));
    let estimator = match (has_wide, has_classes) {
        (true, true) => Estimator::Classes,
        (true, false) => Estimator::Registers,
        (false, _) if has_registers => Estimator::NoneShown,
        (false, _) => Estimator::NotRecorded,
    };
    let has_topology = reading.threads_per_core.or(header.threads_per_core).is_some();
    Ok(Report {
        schema: 1,
        work: file,
        cpu: cpu_name,
        scheduler: None,
        seed: options.seed,
        runs: None,
        cpus: header.cpus,
        length_s: header.end_ns.saturating_sub(header.start_ns) as f64 / 1e9,
        unprofiled_s: None,
        estimator,
        samples: None,
        paused_pct: None,
        knows_siblings: has_topology,
        longer_by_profiling_pct: None,
        victims: victims(&profile, &matrix, None),
        losses: losses(&profile, &matrix, options.set.simulation.smt_share, None),
    })
}

/// Nothing is simulated here.
fn refuse_simulation(args: &Args) -> Result<()> {
    for (flag, is_given) in [
        ("--program", args.program.is_some()),
        ("--background", args.background.is_some()),
        ("--no-pauses", args.no_pauses),
        ("--split-causes", args.split_causes),
        ("--end-early", args.end_early),
        ("--set cpus", args.run.set.replay.cpus.is_some()),
        ("--limit", args.limit.is_some()),
        ("--rate", args.rate.is_some()),
        ("--runs", args.runs.is_some()),
        ("--method", args.method.is_some()),
        ("--scheduler", args.scheduler.is_some()),
    ] {
        if is_given {
            bail!("{flag}: a recording is profiled as it is; nothing is simulated or paused");
        }
    }
    Ok(())
}

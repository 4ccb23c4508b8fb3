//! Profiles a recorded schedule: what tasks waited for, and what the CPU table says they lost.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use profiler::matrix::Matrix;
use profiler::{Basis, recorded};

use super::{Args, Estimator, Report, losses, victims};
use crate::compare::{REPLAY_CPU, annotated};

/// Profiles a recording.
pub fn run(args: &Args, path: &Path) -> Result<Report> {
    refuse_simulation(args)?;
    let options = &args.run;
    let (history, annotation) = annotated(path, &args.classes.class, &options.set.replay)?;
    let header = &history.header;
    let cpu_name = options.cpu.clone().or_else(|| header.cpu.clone());
    let cpu_name = cpu_name.unwrap_or_else(|| REPLAY_CPU.to_owned());
    let file = path.display().to_string();
    let cpu = options.cpu_model(&cpu_name, true).context(options.named_cpu_by(&file))?;
    let profile = recorded::profile(&cpu, &history, options.set.replay.turbo_cores, options.seed);
    ensure!(!profile.groups.is_empty(), "{file}: no task is recorded");
    let matrix = Matrix::of_slices(&profile, options.seed);
    let has_wide = matrix.victims.iter().any(|victim| victim.basis == Basis::AtLeast);
    let estimator = match (has_wide, annotation.wide_tasks > 0) {
        (false, _) => Estimator::Waits,
        (true, true) => Estimator::Classes,
        (true, false) => Estimator::Registers,
    };
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
        rate_per_s: None,
        samples: None,
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
        ("--limit", args.limit.is_some()),
    ] {
        if is_given {
            bail!("{flag}: a recording is profiled as it is; nothing is simulated or paused");
        }
    }
    Ok(())
}

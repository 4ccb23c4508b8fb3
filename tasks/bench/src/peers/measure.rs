//! Runs every job once a round, each round in another order.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::plan::Job;
use super::sample::{Sample, judge};
use super::shuffle;
use commands::progress::Progress;

/// Time limit of one run.
const LIMIT_S: &str = "60";

/// How often, and on how many threads.
#[derive(clap::Args)]
pub struct Settings {
    /// How often everything is run.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Threads of every runtime.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: u32,
    /// Of the order within each round.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Run with real-time priority (SCHED_RR), for machines with other load; needs root.
    #[arg(long)]
    pub realtime: bool,
}

/// The command that starts a program with real-time priority.
const REALTIME: [&str; 3] = ["chrt", "--rr", "1"];

impl Settings {
    /// An error where programs cannot be run as is said.
    pub fn check(&self) -> Result<()> {
        let [chrt, order, priority] = REALTIME;
        let may = || Command::new(chrt).args([order, priority, "true"]).output();
        ensure!(
            !self.realtime || may().is_ok_and(|output| output.status.success()),
            "--realtime: this user may not run programs before others (chrt --rr 1 true fails)"
        );
        Ok(())
    }
}

/// All samples, in the order they were taken.
pub fn all(folder: &Path, jobs: &[Job], settings: &Settings) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    let mut progress = Progress::new("peers", jobs.len() * settings.rounds as usize, "runs");
    for round in 1..=settings.rounds {
        for index in shuffle::order(jobs.len(), settings.seed, round) {
            let job = &jobs[index];
            progress.say(&format!("{} on {}", job.work.program, job.runtime.name));
            let output = command(folder, job, settings)
                .output()
                .with_context(|| format!("starting {}", job.work.program))?;
            let outcome = judge(&output);
            let (work, runtime) = (job.work.clone(), job.runtime.name.clone());
            samples.push(Sample { round, work, runtime, outcome });
        }
    }
    progress.end();
    Ok(samples)
}

/// The program, with nothing in its environment that a runtime could be tuned by.
fn command(folder: &Path, job: &Job, settings: &Settings) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--foreground", "--kill-after=2", LIMIT_S]);
    command.args(if settings.realtime { &REALTIME[..] } else { &[] });
    command.args(["env", "-i"]);
    if let Some(library) = &job.runtime.library {
        let name = if library.is_dir() { "LD_LIBRARY_PATH" } else { "LD_PRELOAD" };
        command.arg(format!("{name}={}", library.display()));
    }
    command.arg(folder.join(job.runtime.model.executable(job.work.program)));
    command.args(job.work.parameters.iter().map(|(name, value)| format!("{name}={value}")));
    command.args(job.runtime.rules.map(|rules| format!("rules={rules}")));
    command
        .arg(format!("threads={}", settings.threads))
        .arg(format!("runtime={}", job.runtime.name));
    command
}

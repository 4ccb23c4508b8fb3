//! Runs every job once a round, each round in another order.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::plan::Job;
use super::sample::{Sample, judge};
use super::shuffle;

/// What one run may take; beyond it is no result anybody waits for.
const LIMIT_S: &str = "60";

/// All samples, in the order they were taken.
pub fn all(
    folder: &Path,
    jobs: &[Job],
    rounds: u32,
    threads: u32,
    seed: u64,
) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    let mut progress = Progress::new(jobs.len() * rounds as usize);
    for round in 1..=rounds {
        for index in shuffle::order(jobs.len(), seed, round) {
            let job = &jobs[index];
            progress.say(job);
            let output = command(folder, job, threads)
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
fn command(folder: &Path, job: &Job, threads: u32) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--foreground", "--kill-after=2", LIMIT_S, "env", "-i"]);
    if let Some(library) = &job.runtime.library {
        let name = if library.is_dir() { "LD_LIBRARY_PATH" } else { "LD_PRELOAD" };
        command.arg(format!("{name}={}", library.display()));
    }
    command.arg(folder.join(job.runtime.model.executable(job.work.program)));
    command.args(job.work.parameters.iter().map(|(name, value)| format!("{name}={value}")));
    command.arg(format!("threads={threads}")).arg(format!("runtime={}", job.runtime.name));
    command
}

/// How far it is, on a terminal.
struct Progress {
    all: usize,
    done: usize,
    begun: Instant,
    is_shown: bool,
}

impl Progress {
    fn new(all: usize) -> Self {
        let is_shown = std::io::stderr().is_terminal();
        if !is_shown {
            eprintln!("peers: {all} runs");
        }
        Self { all, done: 0, begun: Instant::now(), is_shown }
    }

    /// What runs next.
    fn say(&mut self, job: &Job) {
        if self.is_shown {
            let left = self.left().map_or(String::new(), |left| format!(", {left} left"));
            let (program, runtime) = (job.work.program, &job.runtime.name);
            eprint!("\r\x1b[K{}/{}{left}: {program} on {runtime}", self.done + 1, self.all);
            let _ = std::io::stderr().flush();
        }
        self.done += 1;
    }

    /// Once there is something to judge by.
    fn left(&self) -> Option<String> {
        let done = self.done.checked_sub(10)? + 10;
        let each = self.begun.elapsed() / u32::try_from(done).ok()?;
        Some(in_words(each * u32::try_from(self.all - done).ok()?))
    }

    fn end(&self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
        }
    }
}

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_as_coarsely_as_it_is_known() {
        assert_eq!(in_words(Duration::from_secs(99)), "99 s");
        assert_eq!(in_words(Duration::from_secs(121)), "3 min");
    }
}

//! `evenkeel characterize`: is this machine affected?

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use silicon::{Findings, Real, characterize, cpu_table, table};

use crate::seconds::seconds;
use crate::{files, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel characterize
  evenkeel characterize --page machine.html -o mine.toml
  evenkeel cpu check mine.toml
  evenkeel compare my-scenario.toml --cpu mine.toml

It needs no privileges. It runs wide instructions on one CPU and keeps the others busy for a part
of the time. Classes that this CPU or its kernel does not allow are never executed.";

/// Draws the order of the bursts; another order finds the same.
const SEED: u64 = 1;

/// Is this machine affected? Measures the effect of wide instructions on the clock of a CPU.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// How long to measure at most, such as 25s
    #[arg(long, value_name = "SECONDS", default_value = "25s",
        value_parser = |text: &str| seconds(text, 2.0..=600.0))]
    duration: Duration,

    /// Measures this CPU; else the last one that this process may use
    #[arg(long, value_name = "N")]
    cpu: Option<u32>,

    /// Writes a CPU table that `compare --cpu` can use
    #[arg(short, long, value_name = "TABLE.toml")]
    output: Option<PathBuf>,

    /// Writes a page with the curves
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,

    /// Writes the findings as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<()> {
    for path in [&args.output, &args.page, &args.json].into_iter().flatten() {
        files::refuse_unwritable(path)?;
    }
    let mut machine = Real::new(args.cpu, msr_event_source())?;
    let bar = progress();
    let mut tell = |share: f64| bar.set_position((share * STEPS as f64) as u64);
    let findings = characterize(&mut machine, args.duration.as_secs_f64(), SEED, &mut tell);
    bar.finish_and_clear();
    if let Some(path) = &args.output {
        files::write(path, cpu_table(&findings, &table_name(path)).as_bytes())?;
    }
    if let Some(path) = &args.page {
        files::write(path, report::machine_page(&findings).as_bytes())?;
    }
    print(args.json.as_deref(), &findings)
}

fn print(json: Option<&Path>, findings: &Findings) -> Result<()> {
    let took_stdout = json.map(|path| files::write_json(path, findings)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&report::fit(&table(findings), terminal::width()))
}

/// The number of the kernel's `msr` event source, if the kernel has one.
fn msr_event_source() -> Option<u32> {
    let number = std::fs::read_to_string("/sys/bus/event_source/devices/msr/type").ok()?;
    number.trim().parse().ok()
}

/// A table has the name of its file, in the letters that names of tables have.
fn table_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = stem.chars().map(plain).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "measured".to_owned() } else { name.to_owned() }
}

/// Steps of the progress bar.
const STEPS: u64 = 1000;

fn progress() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
    bar.set_style(
        ProgressStyle::with_template("measuring [{bar:30}] {eta} left at most")
            .expect("the template is a constant")
            .progress_chars("=> "),
    );
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_the_name_of_its_file() {
        let name = |path: &str| table_name(Path::new(path));
        assert_eq!(name("out/My machine.toml"), "my-machine");
        assert_eq!((name("-"), name("ä.toml")), ("measured".to_owned(), "measured".to_owned()));
    }
}

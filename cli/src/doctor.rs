//! `evenkeel doctor`: the abilities of this machine.

mod probe;
mod system;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use sensors::doctor::{Report, assess};

use crate::{files, terminal};

pub use probe::probe;

/// The form of the output.
#[derive(clap::Args)]
pub struct Args {
    /// Writes everything as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Looks, judges, prints.
pub fn run(args: Args) -> Result<()> {
    let report = assess(&probe());
    if let Some(json) = &args.json {
        files::write_json(json, &report)?;
        if json == Path::new("-") {
            return Ok(());
        }
    }
    terminal::print(&text(&report, terminal::width()))
}

fn text(report: &Report, width: usize) -> String {
    let mut text = report.sentence() + "\n\n";
    let rows = report.machine.iter();
    let longest = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:longest$}  {value}");
    }
    for ability in &report.abilities {
        let _ = write!(text, "\n{}: {}\n", ability.what, ability.answer.word());
        let _ = writeln!(text, "  {}", ability.found);
        if let Some(remedy) = &ability.remedy {
            let _ = writeln!(text, "  good for: {}\n  to get it: {remedy}", ability.good_for);
        }
    }
    for caveat in &report.caveats {
        let _ = write!(text, "\nnote: {caveat}\n");
    }
    ::report::fit(&text, width)
}

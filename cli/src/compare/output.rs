//! Where the results of a comparison go.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use report::{Comparison, Gantt};

use super::execute::Shown;
use crate::{files, terminal};

/// Files to write.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Results")]
pub struct Files {
    /// Writes the results as JSON; - is standard output, then without the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Writes a row a scheduler, background, program and application as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Writes a page with charts; it needs no network
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,

    /// Writes the bar chart alone as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Fails when a claim of the scenario does not hold
    #[arg(long)]
    pub check: bool,
}

impl Files {
    fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.json, &self.csv, &self.page, &self.svg].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Refuses before a long run what could not be written after it.
    pub fn refuse_unwritable(&self) -> Result<()> {
        let on_stdout = self.all().filter(|path| *path == Path::new("-")).count();
        ensure!(on_stdout <= 1, "standard output (-) can take one of --json, --csv, --page, --svg");
        self.all().try_for_each(files::refuse_unwritable)
    }
}

/// Writes all that was asked for, and the table.
pub fn write(comparison: &Comparison, histories: &[Shown], files: &Files) -> Result<()> {
    let on_stdout = files.all().any(|path| path == Path::new("-"));
    if !on_stdout {
        terminal::print(&report::table(comparison, terminal::width(), terminal::color()))?;
    }
    if let Some(path) = &files.json {
        files::write(path, comparison.to_json()?.as_bytes())?;
    }
    if let Some(path) = &files.csv {
        files::write(path, report::csv(comparison)?.as_bytes())?;
    }
    if let Some(path) = &files.svg {
        files::write(path, report::bars_svg(comparison).as_bytes())?;
    }
    if let Some(path) = &files.page {
        let gantts: Vec<Gantt> = histories.iter().map(gantt).collect();
        files::write(path, report::page(comparison, &gantts).as_bytes())?;
        if !on_stdout {
            terminal::print(&format!("\nThe page with all charts: {}\n", path.display()))?;
        }
    }
    Ok(())
}

fn gantt(shown: &Shown) -> Gantt<'_> {
    Gantt {
        scheduler: &shown.scheduler,
        background: &shown.background,
        program: shown.program.as_deref(),
        history: &shown.history,
    }
}

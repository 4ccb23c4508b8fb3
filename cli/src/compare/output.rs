//! Where the results of a comparison go.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Result, ensure};
use clap::Args;
use report::{Comparison, Gantt};

use super::execute::Looked;
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

    /// Writes the histories of the page for ui.perfetto.dev, which the page links to; with several
    /// schedulers one file each, NAME-SCHEDULER.pftrace
    #[arg(long, value_name = "FILE.pftrace")]
    pub perfetto: Option<PathBuf>,

    /// Which time of the runs the histories show, in seconds; the page's reader chooses within
    #[arg(long, value_name = "FROM..TO", default_value = "0..0.4")]
    pub shown: Shown,

    /// Writes the bar chart alone as SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// Fails when a claim of the scenario does not hold
    #[arg(long)]
    pub check: bool,
}

/// A time range of simulated runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its beginning.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

impl FromStr for Shown {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        const LONGEST_S: f64 = 1e6;
        let wrong = || format!("expected FROM..TO in seconds, 0 <= FROM < TO <= {LONGEST_S}");
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let time_ns = |text: &str| {
            let time_s = text.parse().ok().filter(|time_s| (0.0..=LONGEST_S).contains(time_s));
            time_s.map(|time_s: f64| (time_s * 1e9) as u64).ok_or_else(wrong)
        };
        let (from_ns, to_ns) = (time_ns(from)?, time_ns(to)?);
        if from_ns < to_ns { Ok(Self { from_ns, to_ns }) } else { Err(wrong()) }
    }
}

impl Files {
    fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.json, &self.csv, &self.page, &self.svg].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether a result shows histories.
    pub fn show_histories(&self) -> bool {
        self.page.is_some() || self.perfetto.is_some()
    }

    /// Refuses before a long run what could not be written after it.
    pub fn refuse_unwritable(&self) -> Result<()> {
        if let Some(path) = &self.perfetto {
            ensure!(path != Path::new("-"), "--perfetto: name a file, not standard output (-)");
            files::refuse_unwritable(path)?;
        }
        let on_stdout = self.all().filter(|path| *path == Path::new("-")).count();
        ensure!(on_stdout <= 1, "standard output (-) can take one of --json, --csv, --page, --svg");
        self.all().try_for_each(files::refuse_unwritable)
    }
}

/// Writes all that was asked for, and the table.
pub fn write(comparison: &Comparison, histories: &[Looked], files: &Files) -> Result<()> {
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
    let traces = perfetto(histories, files)?;
    if let Some(path) = &files.page {
        let links: Vec<Option<String>> =
            traces.iter().map(|trace| trace.as_ref().map(|file| link(path, file))).collect();
        let gantts: Vec<Gantt> = histories
            .iter()
            .zip(&links)
            .map(|(looked, link)| gantt(looked, files.shown, link.as_deref()))
            .collect();
        files::write(path, report::page(comparison, &gantts).as_bytes())?;
        if !on_stdout {
            terminal::print(&format!("\nThe page with all charts: {}\n", path.display()))?;
        }
    }
    Ok(())
}

/// Writes the traces that were asked for; yields where that of each history is.
fn perfetto(histories: &[Looked], files: &Files) -> Result<Vec<Option<PathBuf>>> {
    let write = |looked: &Looked| {
        let Some(path) = &files.perfetto else { return Ok(None) };
        let path = trace_path(path, histories.len(), &looked.scheduler);
        files::write_with(&path, |output| Ok(trace::export::perfetto(&looked.history, output)?))?;
        Ok(Some(path))
    };
    histories.iter().map(write).collect()
}

/// The file for a scheduler's trace: as asked for, or with its name where there are several.
fn trace_path(path: &Path, count: usize, scheduler: &str) -> PathBuf {
    if count == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{scheduler}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Where a file is, seen from the folder of the page.
fn link(page: &Path, file: &Path) -> String {
    let folder = |path: &Path| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        folder.unwrap_or(Path::new(".")).canonicalize().unwrap_or_default()
    };
    let (from, to) = (folder(page), folder(file));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut link: PathBuf = from.iter().skip(shared).map(|_| "..").collect();
    link.extend(to.iter().skip(shared));
    link.push(file.file_name().unwrap_or_default());
    link.to_string_lossy().into_owned()
}

fn gantt<'a>(looked: &'a Looked, shown: Shown, perfetto: Option<&'a str>) -> Gantt<'a> {
    Gantt {
        scheduler: &looked.scheduler,
        background: &looked.background,
        program: looked.program.as_deref(),
        history: &looked.history,
        span_ns: [shown.from_ns, shown.to_ns],
        perfetto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_range_has_a_beginning_and_an_end() {
        let shown: Shown = "0.5..1.25".parse().unwrap();
        assert_eq!((shown.from_ns, shown.to_ns), (500_000_000, 1_250_000_000));
        for wrong in ["", "1", "1..", "..1", "2..1", "1..1", "-1..1", "0..nan", "0..1e9"] {
            assert!(wrong.parse::<Shown>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_of_several_schedulers_has_its_trace() {
        let path = Path::new("out/run.pftrace");
        assert_eq!(trace_path(path, 1, "eevdf"), path);
        assert_eq!(trace_path(path, 2, "eevdf"), Path::new("out/run-eevdf.pftrace"));
        assert_eq!(trace_path(Path::new("run"), 2, "cfs"), Path::new("run-cfs"));
    }

    #[test]
    fn the_page_finds_the_trace_in_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/b", "c"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let at = |name: &str| folder.path().join(name);
        assert_eq!(link(&at("a/page.html"), &at("a/x y.pftrace")), "x y.pftrace");
        assert_eq!(link(&at("a/b/page.html"), &at("c/x.pftrace")), "../../c/x.pftrace");
        assert_eq!(link(&at("page.html"), &at("a/b/x.pftrace")), "a/b/x.pftrace");
    }
}

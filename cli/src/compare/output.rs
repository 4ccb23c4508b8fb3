//! Where the results of a comparison go.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};
use clap::Args;
use report::{Comparison, Gantt};

use super::execute::Looked;
use crate::settings::Shown;
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

    /// Writes a page with charts, which needs no network. FILE.svg: its bar chart alone;
    /// FILE.pftrace: its histories for ui.perfetto.dev, of several schedulers one file each. May be
    /// repeated
    #[arg(long = "page", value_name = "FILE")]
    pub pages: Vec<PathBuf>,

    /// Fails when a claim of the scenario does not hold
    #[arg(long)]
    pub check: bool,
}

/// What a file of `--page` holds, by its name's ending.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Page,
    BarChart,
    Histories,
}

impl Form {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => Self::BarChart,
            Some("pftrace") => Self::Histories,
            _ => Self::Page,
        }
    }
}

/// Every file that is asked for.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    json: Option<&'a Path>,
    csv: Option<&'a Path>,
    page: Option<&'a Path>,
    svg: Option<&'a Path>,
    perfetto: Option<&'a Path>,
    /// The time of the runs that histories show.
    shown: Shown,
}

impl<'a> Output<'a> {
    /// Refuses two files of the same form.
    pub fn new(files: &'a Files, shown: Shown) -> Result<Self> {
        let only = |form: Form| {
            let mut found = files.pages.iter().filter(|path| Form::of(path) == form);
            let first = found.next();
            if let (Some(first), Some(second)) = (first, found.next()) {
                bail!("--page: {} and {} hold the same", first.display(), second.display());
            }
            Ok(first.map(PathBuf::as_path))
        };
        Ok(Self {
            json: files.json.as_deref(),
            csv: files.csv.as_deref(),
            page: only(Form::Page)?,
            svg: only(Form::BarChart)?,
            perfetto: only(Form::Histories)?,
            shown,
        })
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        [self.json, self.csv, self.page, self.svg, self.perfetto].into_iter().flatten()
    }

    /// Whether a result shows histories.
    pub fn show_histories(&self) -> bool {
        self.page.is_some() || self.perfetto.is_some()
    }

    /// Refuses before a long run any file that could not be written after the run.
    pub fn refuse_unwritable(&self) -> Result<()> {
        let on_stdout = self.all().filter(|path| *path == Path::new("-")).count();
        ensure!(on_stdout <= 1, "standard output (-) can take one of --json, --csv, --page");
        self.all().try_for_each(files::refuse_unwritable)
    }

    /// Writes all that was asked for, and the table.
    pub fn write(&self, comparison: &Comparison, histories: &[Looked]) -> Result<()> {
        let on_stdout = self.all().any(|path| path == Path::new("-"));
        if !on_stdout {
            terminal::print(&report::table(comparison, terminal::width(), terminal::color()))?;
        }
        if let Some(path) = self.json {
            files::write(path, comparison.to_json()?.as_bytes())?;
        }
        if let Some(path) = self.csv {
            files::write(path, report::csv(comparison)?.as_bytes())?;
        }
        if let Some(path) = self.svg {
            files::write(path, report::bars_svg(comparison).as_bytes())?;
        }
        let traces = perfetto(histories, self.perfetto)?;
        if let Some(path) = self.page {
            let links: Vec<Option<String>> =
                traces.iter().map(|trace| trace.as_ref().map(|file| link(path, file))).collect();
            let gantts: Vec<Gantt> = histories
                .iter()
                .zip(&links)
                .map(|(looked, link)| gantt(looked, self.shown, link.as_deref()))
                .collect();
            files::write(path, report::page(comparison, &gantts).as_bytes())?;
            if !on_stdout {
                terminal::print(&format!("\nThe page with all charts: {}\n", path.display()))?;
            }
        }
        Ok(())
    }
}

/// Writes the traces that were asked for; yields where that of each history is.
fn perfetto(histories: &[Looked], path: Option<&Path>) -> Result<Vec<Option<PathBuf>>> {
    let write = |looked: &Looked| {
        let Some(path) = path else { return Ok(None) };
        let path = trace_path(path, histories.len(), &looked.scheduler);
        files::write_with(&path, |output| Ok(trace::export::perfetto(&looked.history, output)?))?;
        Ok(Some(path))
    };
    histories.iter().map(write).collect()
}

/// The file for a scheduler's trace: as named, or with the scheduler's name for several.
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
        span_ns: [shown.from_ns, shown.to_ns].map(|ns| looked.start_ns.saturating_add(ns)),
        perfetto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

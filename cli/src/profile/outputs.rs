//! Where a profile goes: the terminal, and files.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Report, print, view};
use crate::{files, terminal};

/// The files to write.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Outputs {
    /// Writes the result as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Writes a page: who lost how much to whom, a time line, and a flame graph of wide code
    #[arg(long, value_name = "FILE.html")]
    page: Option<PathBuf>,

    /// Writes call stacks of wide code as folded stacks, for flame graphs of other tools
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    folded: Option<PathBuf>,

    /// Writes call stacks of wide code for pprof
    #[arg(long, value_name = "FILE.pb.gz", conflicts_with = "scenario")]
    pprof: Option<PathBuf>,
}

impl Outputs {
    fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.json, &self.page, &self.folded, &self.pprof].into_iter().filter_map(Option::as_deref)
    }

    /// Refuses to mix JSON with the output of a command.
    #[cfg(feature = "record")]
    pub fn refuse_mixing(&self, has_command: bool) -> Result<()> {
        anyhow::ensure!(
            !has_command || self.json.as_deref() != Some(Path::new("-")),
            "--json -: the command writes to standard output, too; name a file instead"
        );
        Ok(())
    }

    /// Refuses a file that cannot be written, before the work begins.
    pub fn refuse_unwritable(&self) -> Result<()> {
        self.all().try_for_each(files::refuse_unwritable)
    }
}

/// Prints the profile, and writes the files.
pub fn write(outputs: &Outputs, report: &Report) -> Result<()> {
    let view = view::view(report);
    let stacks = &view.stacks;
    if stacks.is_empty() && (outputs.folded.is_some() || outputs.pprof.is_some()) {
        eprintln!(
            "note: no call stack was recorded: stacks are of tasks that leave a CPU with 512-bit \
             registers or tiles in use"
        );
    }
    if let Some(path) = &outputs.page {
        files::write(path, ::report::profile_page(&view).as_bytes())?;
    }
    if let Some(path) = &outputs.folded {
        files::write(path, ::report::profile::folded(stacks).as_bytes())?;
    }
    if let Some(path) = &outputs.pprof {
        files::write(path, &::report::profile::pprof(stacks, report.length_s))?;
    }
    let took_stdout =
        outputs.json.as_ref().map(|path| files::write_json(path, report)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&::report::fit(&print::text(report, &view), terminal::width()))
}

//! Where a profile goes: the terminal, and files.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Report, print};
use crate::{files, terminal};

/// The files to write.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Outputs {
    /// Writes the result as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Outputs {
    fn all(&self) -> impl Iterator<Item = &Path> {
        self.json.as_deref().into_iter()
    }

    /// Refuses a file that cannot be written, before the work begins.
    pub fn refuse_unwritable(&self) -> Result<()> {
        self.all().try_for_each(files::refuse_unwritable)
    }
}

/// Prints the profile, and writes the files.
pub fn write(outputs: &Outputs, report: &Report) -> Result<()> {
    let took_stdout =
        outputs.json.as_ref().map(|path| files::write_json(path, report)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&::report::fit(&print::text(report), terminal::width()))
}

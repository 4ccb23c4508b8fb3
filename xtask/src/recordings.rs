//! `cargo xtask recordings`: makes the recordings that scheduler models are judged by.
//!
//! The seen ones serve to find mistakes in the models. The unseen ones are made and judged
//! once, in the end (docs/decisions/0010). Needs root and the recorded programs; another
//! kernel than that of this machine runs in a virtual one (docs/decisions/0012).

mod guest;
mod host;
mod programs;
mod works;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::command;
use works::{SEEN, SEEN_WAKING, UNSEEN, UNSEEN_WAKING, Work};

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Which half of the recordings.
    #[arg(value_enum)]
    half: Half,
    /// Folder to write NAME.ektrace to; no other program should use the folder meanwhile.
    folder: PathBuf,
    /// Makes only the recording of this name.
    #[arg(long)]
    only: Option<String>,
    /// Records under a stock kernel of Debian in a virtual machine: 5.10, 6.1, 6.12 or
    /// PACKAGE/SUITE.
    #[arg(long)]
    kernel: Option<String>,
    /// Seconds of this machine in a second of the virtual one, where that has no KVM.
    #[arg(long, default_value_t = 20, requires = "kernel")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    dilation: u32,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Half {
    /// Recordings for finding mistakes in the models.
    Seen,
    /// Recordings to be judged once, in the end.
    Unseen,
    /// Programs that wake each other often, for finding mistakes.
    SeenWaking,
    /// Programs that wake each other often, to be judged once.
    UnseenWaking,
}

/// Makes the recordings of a half.
pub fn run(args: &Args) -> Result<()> {
    let evenkeel = command::evenkeel()?;
    fs::create_dir_all(&args.folder).context("making the folder")?;
    let folder = args.folder.canonicalize()?;
    let works: &[Work] = match args.half {
        Half::Seen => &SEEN,
        Half::Unseen => &UNSEEN,
        Half::SeenWaking => &SEEN_WAKING,
        Half::UnseenWaking => &UNSEEN_WAKING,
    };
    let wanted = |work: &&Work| args.only.as_deref().is_none_or(|only| only == work.name);
    ensure!(works.iter().any(|work| wanted(&work)), "no recording has that name");
    works.iter().filter(wanted).try_for_each(programs::refuse_missing)?;
    let guest = args.kernel.as_deref().map(|name| guest::Guest::new(name, args.dilation));
    let guest = guest.transpose()?;
    for work in works.iter().filter(wanted) {
        match &guest {
            Some(guest) => guest.record(work, &folder, &evenkeel),
            None => host::record(work, &folder, &evenkeel),
        }
        .with_context(|| format!("recording {}", work.name))?;
    }
    Ok(())
}

//! `--monitor`: what the scheduler that runs does, every second.

use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use scheduler::stats::socket::{Asker, PATH};
use scheduler::stats::table;

/// How often.
const EVERY: Duration = Duration::from_secs(1);
/// Columns where nobody says how many there are.
const WIDTH: usize = 120;
/// The cursor goes to the upper left, and all below is cleared (ECMA-48: CUP, ED).
const FIRST: &str = "\x1b[H\x1b[J";
/// Clears each line to its end before the next begins (ECMA-48: EL).
const LINE_END: &str = "\x1b[K\n";

/// Shows it until the scheduler ends, or this is ended.
pub fn run() -> Result<ExitCode> {
    let mut asker = match Asker::connect(Path::new(PATH)) {
        Ok(asker) => asker,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            bail!("no right to ask {PATH}: run it as root")
        }
        Err(error) => bail!("no scx_evenkeel runs here ({PATH}: {error}); start one first"),
    };
    let mut is_first = true;
    while let Some(report) = asker.ask().context(PATH)? {
        let terminal = stdout().is_terminal();
        let width = terminal_size::terminal_size().map_or(WIDTH, |(width, _)| width.0.into());
        let Some(table) = table(&report, width) else {
            bail!("{PATH}: another scheduler answers there");
        };
        // The first report tells of all the time before, the next of a second.
        let shown = match terminal {
            true if is_first => format!("\x1b[2J{FIRST}{table}"),
            true => format!("\x1b[H{}\x1b[J", table.replace('\n', LINE_END)),
            false => table + "\n",
        };
        is_first = false;
        match stdout().write_all(shown.as_bytes()).and_then(|()| stdout().flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written.context("writing the table")?,
        }
        sleep(EVERY);
    }
    println!("scx_evenkeel ended");
    Ok(ExitCode::SUCCESS)
}

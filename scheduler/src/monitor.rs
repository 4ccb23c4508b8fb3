//! `--monitor`: shows the statistics of the running scheduler, every second.

use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use scheduler::stats::socket::{Asker, PATH};
use scheduler::stats::table;

/// Interval between reports.
const EVERY: Duration = Duration::from_secs(1);
/// Columns and rows where standard output is no terminal.
const SIZE: (u16, u16) = (120, u16::MAX);
/// Clear the whole screen, move the cursor to the upper left, clear all below the cursor (ECMA-48:
/// ED, CUP).
const CLEAR: &str = "\x1b[2J";
const HOME: &str = "\x1b[H";
const CLEAR_BELOW: &str = "\x1b[J";
/// Clears each line to its end before the next begins (ECMA-48: EL).
const LINE_END: &str = "\x1b[K\n";

/// Shows the table until the scheduler ends, or this process is ended.
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
        let size = terminal_size::terminal_size().filter(|_| terminal);
        let (columns, rows) = size.map_or(SIZE, |(columns, rows)| (columns.0, rows.0));
        let Some(table) = table(&report, columns.into()) else {
            bail!("{PATH}: another scheduler answers there");
        };
        // A line below the last row would scroll the screen.
        let rows = usize::from(rows.saturating_sub(1));
        let table: String = table.split_inclusive('\n').take(rows).collect();
        // The rates of the first report are means since the start of the scheduler, those of each
        // later one are of the last second.
        let shown = if terminal {
            let clear = if is_first { CLEAR } else { "" };
            format!("{clear}{HOME}{}{CLEAR_BELOW}", table.replace('\n', LINE_END))
        } else {
            table + "\n"
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

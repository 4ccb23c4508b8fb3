//! The terminal: its width, colours and progress bar.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Columns of an output that is no terminal.
const WIDTH_WITHOUT_TERMINAL: usize = 120;

/// Columns to print in.
pub fn width() -> usize {
    terminal_size::terminal_size()
        .map_or(WIDTH_WITHOUT_TERMINAL, |(columns, _)| usize::from(columns.0))
}

/// Whether to print in colour: on a terminal, unless `NO_COLOR` is set.
pub fn color() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Writes to standard output; that its reader went away is an error, not a panic.
pub fn print(text: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush())
        .context("writing to standard output")
}

/// A progress bar on standard error where that is a terminal, else nothing.
pub fn progress(steps: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
    bar.set_style(
        ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} runs, {eta} left")
            .expect("the template is a constant")
            .progress_chars("=> "),
    );
    bar.set_message(what.to_owned());
    bar
}

/// A bar of the time that something lasts, as [`progress`]; it goes when it is dropped.
#[cfg(feature = "record")]
pub fn clock(length: std::time::Duration) -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(Some(length.as_secs().max(1)), ProgressDrawTarget::stderr());
    bar.with_style(
        ProgressStyle::with_template("recording [{bar:30}] {pos}/{len} s (Ctrl-C ends it)")
            .expect("the template is a constant")
            .progress_chars("=> "),
    )
    .with_finish(indicatif::ProgressFinish::AndClear)
}

/// Whether an error only says that the reader of our output went away.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    })
}

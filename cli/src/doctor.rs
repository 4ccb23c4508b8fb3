//! `evenkeel doctor`: what this machine offers.

mod probe;
mod system;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use sensors::doctor::{Report, assess};

use crate::{files, terminal};

pub use probe::probe;

/// How to print it.
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
    let mut text = wrapped(&report.sentence(), 0, width);
    text.push('\n');
    let rows = report.machine.iter();
    let longest = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:longest$}  {value}");
    }
    for ability in &report.abilities {
        let _ = write!(text, "\n{}: {}\n", ability.what, ability.answer.word());
        text.push_str(&wrapped(&ability.found, 2, width));
        if let Some(remedy) = &ability.remedy {
            text.push_str(&wrapped(&format!("good for: {}", ability.good_for), 2, width));
            text.push_str(&wrapped(&format!("to get it: {remedy}"), 2, width));
        }
    }
    for caveat in &report.caveats {
        text.push('\n');
        text.push_str(&wrapped(&format!("note: {caveat}"), 0, width));
    }
    text
}

/// Text in lines of at most that many columns, where words allow it.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        if column == 0 || column + 1 + word.chars().count() > width {
            if column > 0 {
                lines.push('\n');
            }
            let indent = if column > 0 { indent + 2 } else { indent };
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += word.chars().count();
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_go_on_further_in() {
        assert_eq!(wrapped("one two three", 2, 10), "  one two\n    three\n");
        assert_eq!(wrapped("a-very-long-word b", 0, 5), "a-very-long-word\n  b\n");
    }
}

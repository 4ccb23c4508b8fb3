//! The work that programs have done so far.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use sensors::topology::{FOLDER, cpu_list};
use silicon::Instructions;

/// Decimals of a printed number that count.
const FRACTION: f64 = 1000.0;

/// A source of it.
pub enum Progress {
    /// Instructions in user mode, of all CPUs.
    Instructions(Instructions),
    /// A command that prints a number.
    Command(String),
}

impl Progress {
    /// The command, or without one the counters of instructions.
    pub fn open(command: Option<&str>) -> Result<Self> {
        if let Some(command) = command {
            let progress = Self::Command(command.to_owned());
            progress.read()?;
            return Ok(progress);
        }
        let online = format!("{FOLDER}/online");
        let text = fs::read_to_string(&online).with_context(|| online.clone())?;
        let cpus = cpu_list(text.trim()).with_context(|| format!("{online}: no list of CPUs"))?;
        let open = Instructions::open(&cpus).map(Self::Instructions);
        open.map_err(|why| {
            anyhow!(
                "instructions cannot be counted: {why}; --progress CMD names a command that \
                 prints the work done so far"
            )
        })
    }

    /// What is counted, in words.
    pub fn name(&self) -> &str {
        match self {
            Self::Instructions(_) => "instructions in user mode",
            Self::Command(command) => command,
        }
    }

    /// The work so far.
    pub fn read(&self) -> Result<u64> {
        match self {
            Self::Instructions(counters) => counters.read().map_err(|why| anyhow!(why)),
            Self::Command(command) => printed(command),
        }
    }
}

fn printed(command: &str) -> Result<u64> {
    let output = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("--progress: running `{command}`"))?;
    if !output.status.success() {
        bail!("--progress: `{command}` ended with {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    number(&text).with_context(|| {
        let line: String = text.chars().filter(|it| !it.is_control()).take(60).collect();
        format!("--progress: `{command}` printed {line:?}, and not one number from 0 on")
    })
}

/// A printed number, in thousandths.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Ok(whole) = text.parse::<u64>() {
        return whole.checked_mul(FRACTION as u64);
    }
    let number: f64 = text.parse().ok()?;
    let is_usable = number.is_finite() && (0.0..=1e15).contains(&number);
    is_usable.then_some((number * FRACTION) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_prints_one_number() {
        assert_eq!(number("12\n"), Some(12_000));
        assert_eq!(number(" 1.5 "), Some(1500));
        assert_eq!(number("1e6"), Some(1_000_000_000));
        for wrong in ["", "-1", "1 2", "x", "nan", "inf", "1e40", "99999999999999999999"] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_command_that_fails_or_prints_something_else_is_an_error_that_names_it() {
        let error = |command: &str| format!("{:#}", printed(command).unwrap_err());
        assert!(error("exit 3").contains("`exit 3` ended with exit status: 3"));
        assert!(error("echo done").contains("printed \"done\""));
        assert_eq!(printed("echo 7").unwrap(), 7000);
    }
}

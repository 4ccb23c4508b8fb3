//! `cargo xtask prove`: Frama-C shows that no policy function misbehaves on any input.
//!
//! Eva (abstract interpretation) follows the generated drivers and must raise no
//! alarm: no overflow, signed or unsigned, no lossy conversion, no invalid access,
//! no division by zero, no uninitialised read. A program with a planted overflow
//! must raise one, or the proof proves nothing.

use std::io::ErrorKind;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::{r#gen, repo};

/// The program with the planted overflow.
const SEEDED: &str = "policy/proof/seeded_overflow.c";

/// Result of the proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// All functions, no alarm.
    Holds {
        /// How many functions were followed, drivers included.
        functions: u32,
    },
    /// Frama-C is not installed.
    Skipped,
}

/// Prove the policy headers with Frama-C.
#[derive(clap::Args)]
pub struct Args {}

/// Proves the headers; without Frama-C says so, and fails if `EVENKEEL_CI` is 1.
pub fn run(_args: &Args) -> Result<Proof> {
    let drivers = r#gen::drivers(&repo::root())?;
    let found = std::fs::read_to_string(repo::root().join(r#gen::DRIVERS))
        .with_context(|| format!("reading {}", r#gen::DRIVERS))?;
    ensure!(drivers == found, "{} is not up to date: run `cargo xtask gen`", r#gen::DRIVERS);

    let Some(report) = frama_c(r#gen::DRIVERS)? else {
        if std::env::var("EVENKEEL_CI").is_ok_and(|value| value == "1") {
            bail!("frama-c is not installed; the proof may not be skipped in CI");
        }
        println!("prove: SKIPPED, frama-c is not installed (Debian: frama-c-base)");
        return Ok(Proof::Skipped);
    };
    let functions = holds(&report)?;
    println!("prove: {functions} functions with drivers, any input, 0 alarms");

    let seeded = frama_c(SEEDED)?.context("frama-c vanished")?;
    let alarms = summary(&seeded)?.alarms;
    ensure!(alarms > 0, "{SEEDED} has an overflow and raised no alarm: the proof is blind");
    println!("prove: the planted overflow raised an alarm");
    Ok(Proof::Holds { functions })
}

/// Runs Frama-C on a file; `None` if Frama-C is not installed.
fn frama_c(file: &str) -> Result<Option<String>> {
    let run = Command::new("frama-c")
        .current_dir(repo::root())
        // Frama-C takes the working directory from this variable.
        .env("PWD", repo::root())
        .args(["-c11", "-eva", "-eva-precision", "5"])
        .args(["-warn-unsigned-overflow", "-warn-unsigned-downcast"])
        .arg("-cpp-extra-args=-Ipolicy/include -Icpu-model/include")
        .arg(file)
        .output();
    let output = match run {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        run => run.context("running frama-c")?,
    };
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "frama-c failed on {file}:\n{report}");
    Ok(Some(report))
}

/// The counts at the end of a report.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    analyzed: u32,
    functions: u32,
    alarms: u32,
}

fn summary(report: &str) -> Result<Summary> {
    let (_, end) = report.split_once("ANALYSIS SUMMARY").context("frama-c wrote no summary")?;
    let number = |text: &str| text.parse::<u32>().ok();
    let mut counts = None;
    let mut alarms = None;
    for line in end.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [analyzed, "functions" | "function", "analyzed", "(out", "of", all, ..] => {
                counts = number(analyzed).zip(number(all.trim_end_matches([')', ':'])));
            }
            [count, "alarms" | "alarm", "generated", ..] => alarms = number(count),
            _ => {}
        }
    }
    let (analyzed, functions) = counts.context("the summary counts no functions")?;
    let alarms = alarms.context("the summary counts no alarms")?;
    Ok(Summary { analyzed, functions, alarms })
}

/// How many functions a report without alarm covers: all, each to its end.
fn holds(report: &str) -> Result<u32> {
    let Summary { analyzed, functions, alarms } = summary(report)?;
    if alarms > 0 {
        let alarms: Vec<&str> =
            report.lines().skip_while(|line| !line.starts_with("[eva:alarm]")).take(20).collect();
        bail!("frama-c raised alarms:\n{}", alarms.join("\n"));
    }
    ensure!(analyzed == functions, "frama-c followed {analyzed} of {functions} functions only");
    ensure!(!report.contains("NON TERMINATING"), "a function never returns");
    Ok(functions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(body: &str, analyzed: u32, alarms: &str) -> String {
        format!(
            "{body}\n[eva:summary] ====== ANALYSIS SUMMARY ======\n  -----\n  \
             {analyzed} functions analyzed (out of 43): 97% coverage.\n  -----\n  {alarms}\n"
        )
    }

    const NONE: &str = "0 alarms generated by the analysis.";

    #[test]
    fn no_alarm_in_all_functions_holds() {
        assert_eq!(holds(&report("", 43, NONE)).unwrap(), 43);
    }

    #[test]
    fn an_alarm_fails_and_is_quoted() {
        let one = report(
            "[eva:alarm] fixed.h:67: Warning:\n  unsigned overflow.",
            43,
            "1 alarm generated by the analysis:",
        );
        assert!(holds(&one).unwrap_err().to_string().contains("fixed.h:67"));
    }

    #[test]
    fn a_function_left_out_fails() {
        assert!(holds(&report("", 42, NONE)).is_err());
    }

    #[test]
    fn a_function_that_never_returns_fails() {
        assert!(holds(&report("  NON TERMINATING FUNCTION", 43, NONE)).is_err());
    }

    #[test]
    fn a_report_without_counts_fails() {
        assert!(summary("frama-c crashed").is_err());
        assert!(summary("ANALYSIS SUMMARY\n 3 functions analyzed (out of 3)\n").is_err());
        assert!(summary("ANALYSIS SUMMARY\n 0 alarms generated by the analysis.\n").is_err());
    }
}

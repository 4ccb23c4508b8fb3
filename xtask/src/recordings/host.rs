//! Records on this machine.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::works::Work;
use crate::command;

/// Whether each session is a group of its own, which the models do not know.
const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";

/// Records one work.
pub fn record(work: &Work, folder: &Path, evenkeel: &Path) -> Result<()> {
    let room = tempfile::tempdir()?;
    let shell = |program: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", program]).current_dir(room.path());
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        shell
    };
    shell(work.prepare).status().context("preparing")?;
    let _flat = FlatScheduling::begin();
    let output = folder.join(work.name).with_extension("ektrace");
    let mut recorder = Command::new(evenkeel);
    recorder.args(["trace", "record", "-o"]).arg(output);
    // The status of the recorded programs does not matter.
    recorder.args(["--", "sh", "-c", &format!("sh -c '{}' > said 2>&1; :", quoted(work.run))]);
    // A compile job is to build in its own folder.
    recorder.current_dir(room.path()).env_remove("CARGO_TARGET_DIR");
    println!("{}", work.name);
    command::run(&mut recorder)
}

/// The text within single quotes of a shell.
fn quoted(text: &str) -> String {
    text.replace('\'', r"'\''")
}

/// Turns the kernel's autogroups off, if it has them, until this value is dropped.
struct FlatScheduling {
    before: Option<String>,
}

impl FlatScheduling {
    fn begin() -> Self {
        let before = fs::read_to_string(AUTOGROUP).ok();
        // Without root the autogroups stay on; perf reports its own missing permissions.
        let _ = fs::write(AUTOGROUP, "0");
        Self { before }
    }
}

impl Drop for FlatScheduling {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = fs::write(AUTOGROUP, before);
        }
    }
}

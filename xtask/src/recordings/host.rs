//! Records on this machine, by perf.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::works::Work;
use crate::command;

/// Interrupts, so that the importer knows whether a task or a device caused a wake-up.
const EVENTS: &str = "irq:*_entry,irq:*_exit,irq_vectors:local_timer_*,sched:sched_process_exec";
const FIELDS: &str = "comm,pid,tid,cpu,time,event,trace";
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
    let data = room.path().join("rec.data");
    let _flat = FlatScheduling::begin();
    let mut perf = Command::new("perf");
    perf.args(["sched", "record", "-k", "CLOCK_MONOTONIC", "-m", "8M", "-e", EVENTS]);
    // perf 6.1 cannot read its own records about loaded and unloaded BPF programs.
    perf.args(["--no-bpf-event", "-o"]);
    perf.arg(&data).args(["--", "sh", "-c", work.run]).current_dir(room.path());
    // A compile job is to build in its own folder.
    perf.env_remove("CARGO_TARGET_DIR");
    // The status of the recorded programs does not matter.
    perf.stdout(Stdio::null()).stderr(Stdio::null()).status().context("starting perf")?;
    let text = room.path().join("rec.txt");
    let mut script = Command::new("perf");
    script.args(["script", "--ns", "--show-lost-events", "-F", FIELDS, "-i"]).arg(&data);
    let script = script.stdout(fs::File::create(&text)?).stderr(Stdio::null());
    ensure!(script.status()?.success(), "perf script failed");
    let output = folder.join(work.name).with_extension("ektrace");
    println!("{}", work.name);
    command::run(Command::new(evenkeel).args(["trace", "import"]).arg(&text).arg("-o").arg(output))
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

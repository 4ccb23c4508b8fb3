//! A recording of this machine, where its recorders are installed and allowed.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use trace::import::{recording_history, stream_history};
use trace::validate;

/// A file that goes when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("evenkeel-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Without a run of perf, the test has no file.
        let _ = fs::remove_file(&self.0);
    }
}

/// Records this machine for a moment with perf, or says why not.
fn perf_record(options: &[&str], file: &Scratch) -> Result<(), String> {
    let events = "sched:sched_switch,sched:sched_waking,sched:sched_stat_runtime";
    let output = Command::new("perf")
        .args(["record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-e", events])
        .args(options)
        .arg("-o")
        .arg(&file.0)
        .args(["--", "sh", "-c", "for i in 1 2 3; do sleep 0.01; done"])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("perf: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

#[test]
fn a_live_recording_of_perf_is_the_same_from_its_file_and_its_text() {
    for (name, options) in [("plain", &[][..]), ("packed", &["-z"]), ("losing", &["-m", "1"])] {
        let file = Scratch::new(name);
        if let Err(said) = perf_record(options, &file) {
            // Not by a macro, whose output the harness hides when a test passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED: no recording by perf here: {said}");
            return;
        }
        let fields = "comm,pid,tid,cpu,time,event,trace";
        let text = Command::new("perf")
            .args(["script", "--ns", "--show-lost-events", "-F", fields, "-i"])
            .arg(&file.0)
            .output()
            .expect("perf runs");
        let (from_text, text_report) = stream_history(&text.stdout[..]).expect("text");
        let opened = fs::File::open(&file.0).expect("perf wrote it");
        let (from_file, file_report) = recording_history(opened).expect("a file of perf");
        assert_eq!(validate(&from_file), [], "{name}");
        if text_report.joined_lines + text_report.unreadable == 0 {
            assert!(from_file == from_text, "{name}");
            assert_eq!(file_report, text_report, "{name}");
        }
    }
}

//! A test: a script of `scheduler/tests/lab`, and the kernel messages allowed meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::lab::{Done, Job};
use anyhow::{Context, Result, bail};

use crate::repo;

/// Shell functions by which test scripts load and end the scheduler.
pub const LOADER: &str = "loader.sh";
/// Python functions that test scripts share.
pub const GUEST: &str = "guest.py";
/// Virtual CPUs of a test, siblings on a core. No more than the host has CPUs: time that the host
/// takes from a virtual CPU looks like work of the task that runs on that CPU.
pub const CPUS: u32 = 2;
/// Time limit of a test, in time of the machine, unless the script has its own.
const LIMIT: Duration = Duration::from_secs(300);
/// Kernel messages about a scheduler that is loaded and unloaded without error.
const NO_COMPLAINT: [&str; 2] =
    ["\"evenkeel\" enabled", "\"evenkeel\" disabled (unregistered from user space)"];
/// Begins a line of a script that gives words of allowed kernel messages.
const MAY_SAY: &str = "# The kernel may say: ";
/// Begins a line of a script that gives its time limit in seconds.
const LIMIT_IS: &str = "# Limit in seconds: ";
/// Begins a line of a script that gives the number of virtual CPUs, each a core.
const CPUS_ARE: &str = "# Virtual CPUs: ";
/// A script with this line changes the kernel's code so often that QEMU's interpreter breaks the
/// kernel unless virtual CPUs run in turns.
const IN_TURNS: &str = "# Virtual CPUs in turns.";
/// A script with this line is for kernels that cannot take the scheduler, too.
const ANY_KERNEL: &str = "# Any kernel.";

/// A test.
pub struct Test {
    /// The script.
    pub job: Job,
    /// Time limit, in time of the machine.
    pub limit: Duration,
    /// Whether the kernel need not be able to take the scheduler.
    pub takes_any_kernel: bool,
    /// Whether virtual CPUs run in turns where QEMU interprets.
    pub is_in_turns: bool,
    /// Virtual CPUs that the test needs.
    pub cpus: u32,
    may_say: Vec<String>,
}

/// The folder of all tests.
pub fn folder() -> PathBuf {
    repo::root().join("scheduler/tests/lab")
}

impl Test {
    /// By its name.
    pub fn get(name: &str) -> Result<Self> {
        let paths = ["sh", "py"].map(|ending| folder().join(name).with_extension(ending));
        let Some(path) = paths.iter().find(|path| path.exists()) else {
            bail!("no test `{name}` in {}", folder().display());
        };
        let script = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(name, script).with_context(|| path.display().to_string())
    }

    fn parse(name: &str, script: String) -> Result<Self> {
        let (mut limit, mut cpus) = (LIMIT, CPUS);
        let mut may_say: Vec<_> = NO_COMPLAINT.map(str::to_owned).to_vec();
        let has = |wanted: &str| script.lines().any(|line| line == wanted);
        let (takes_any_kernel, is_in_turns) = (has(ANY_KERNEL), has(IN_TURNS));
        for line in script.lines() {
            if let Some(words) = line.strip_prefix(MAY_SAY) {
                may_say.push(words.to_owned());
            } else if let Some(number) = line.strip_prefix(CPUS_ARE) {
                cpus = number.parse().context("the virtual CPUs")?;
            } else if let Some(seconds) = line.strip_prefix(LIMIT_IS) {
                limit = Duration::from_secs(seconds.parse().context("the limit")?);
            }
        }
        let job = Job { name: name.to_owned(), script };
        Ok(Self { job, limit, takes_any_kernel, is_in_turns, cpus, may_say })
    }

    /// Kernel complaints that this test does not expect.
    fn complaints<'a>(&self, log: &'a str) -> Vec<&'a str> {
        let is_expected = |line: &&str| self.may_say.iter().any(|words| line.contains(words));
        ::lab::complaints(log).into_iter().filter(|line| !is_expected(line)).collect()
    }

    /// Prints the result of the test, and returns whether the test passed.
    pub fn holds(&self, done: &Done, results: &Path) -> bool {
        let complaints = self.complaints(&done.kernel_log);
        let holds = done.status == Some(0) && complaints.is_empty();
        let took = done.duration.map_or(String::new(), |time| format!("{} s", time.as_secs()));
        println!("{:<10} {} {took:>6}", self.job.name, if holds { "passed" } else { "FAILED" });
        for file in ["stdout", "stderr"] {
            let said = fs::read(results.join(&self.job.name).join(file)).unwrap_or_default();
            for line in String::from_utf8_lossy(&said).lines() {
                println!("    {line}");
            }
        }
        for complaint in complaints {
            println!("    the kernel: {complaint}");
        }
        match done.status {
            Some(0) => {}
            Some(status) => println!("    ended with {status}"),
            None => println!("    did not end"),
        }
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_test_expects_is_no_complaint() {
        let script = "#!/bin/sh\n\
                      # The kernel may say: \"evenkeel\" disabled (runnable task stall)\n\
                      # Limit in seconds: 900\n";
        let test = Test::parse("stalled", script.into()).unwrap();
        let log = "[ 1.0] sched_ext: BPF scheduler \"evenkeel\" enabled\n\
                   [ 2.0] sched_ext: BPF scheduler \"evenkeel\" disabled (runnable task stall)\n\
                   [ 3.0] sched_ext: BPF scheduler \"evenkeel\" disabled (runtime error)\n\
                   [ 4.0] WARNING: kernel/sched/ext.c:1\n";
        let found = test.complaints(log);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("runtime error") && found[1].contains("WARNING"));
        assert_eq!((test.limit.as_secs(), test.takes_any_kernel), (900, false));
        let other = Test::parse("other", "#!/bin/sh\n".into()).unwrap();
        assert_eq!(other.complaints(log).len(), 3);
    }

    #[test]
    fn every_script_is_one_that_its_interpreter_reads() {
        for entry in fs::read_dir(folder()).unwrap() {
            let path = entry.unwrap().path();
            let interpreter: &[&str] = match path.extension().and_then(|ending| ending.to_str()) {
                Some("sh") => &["sh", "-n"],
                Some("py") => {
                    &["python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"]
                }
                _ => continue,
            };
            let mut program = std::process::Command::new(interpreter[0]);
            let status = program.args(&interpreter[1..]).arg(&path).status().unwrap();
            assert!(status.success(), "{}", path.display());
        }
    }
}

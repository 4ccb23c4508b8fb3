//! A program with all its descendants: can be paused, and never outlives this process.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{self, Child, ChildStdout, ExitStatus, Stdio};
use std::time::Instant;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::command::Command;
use super::error::TrialError;
use super::hide::{Emulation, Traced};
use crate::machine::on_cpu;

/// Kills the group when our end of its standard input closes, however we end.
const WATCHDOG: &str = "read -r _; kill -s KILL -- \"-$1\" 2>/dev/null";

/// A running program with its descendants, on one CPU.
pub(super) struct Group {
    command: Command,
    program: Program,
    watchdog: Child,
    started: Instant,
}

enum Program {
    /// Not traced.
    Free(Child),
    /// Traced, so that CPUID gives the answers of an [`Emulation`].
    Traced(Traced),
}

impl Group {
    /// Starts the program on a CPU.
    pub fn start(command: &Command, cpu: u32) -> Result<Self, TrialError> {
        Self::spawn(command, command.process(), cpu)
    }

    /// Starts the program with a pipe as its standard output.
    pub fn start_piped(command: &Command, cpu: u32) -> Result<Self, TrialError> {
        let mut process = command.process();
        process.stdout(Stdio::piped());
        Self::spawn(command, process, cpu)
    }

    /// Starts the program on a CPU, traced, with the CPUID of an [`Emulation`].
    pub fn start_traced(
        command: &Command,
        cpu: u32,
        emulation: Emulation,
    ) -> Result<Self, TrialError> {
        let started = Instant::now();
        let traced = Traced::start(command, cpu, Stdio::null(), emulation)?;
        Self::guarded(command, Program::Traced(traced), started)
    }

    fn spawn(
        command: &Command,
        mut process: process::Command,
        cpu: u32,
    ) -> Result<Self, TrialError> {
        let started = Instant::now();
        let failed = |source| TrialError::Start { command: command.line(), source };
        let child = on_cpu(cpu, || process.spawn())?.map_err(failed)?;
        Self::guarded(command, Program::Free(child), started)
    }

    fn guarded(
        command: &Command,
        mut program: Program,
        started: Instant,
    ) -> Result<Self, TrialError> {
        match watchdog(program.pid()) {
            Ok(watchdog) => Ok(Self { command: command.clone(), program, watchdog, started }),
            Err(source) => {
                program.kill();
                Err(TrialError::Start { command: command.line(), source })
            }
        }
    }

    /// The program's standard output, if piped and not taken yet.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        match &mut self.program {
            Program::Free(child) => child.stdout.take(),
            Program::Traced(traced) => traced.stdout(),
        }
    }

    /// Process id of the one that was started.
    pub fn pid(&self) -> Pid {
        self.program.pid()
    }

    /// Stops or continues the whole group.
    pub fn signal(&self, signal: Signal) -> Result<(), TrialError> {
        match killpg(self.pid(), signal) {
            // The group may have just ended.
            Ok(()) | Err(nix::Error::ESRCH | nix::Error::EPERM) => Ok(()),
            Err(source) => Err(TrialError::Kernel { what: "signalling a program", source }),
        }
    }

    /// The exit status and the start, once the program has ended.
    pub fn ended(&mut self) -> Result<Option<(ExitStatus, Instant)>, TrialError> {
        let ended = match &mut self.program {
            Program::Free(child) => child.try_wait(),
            Program::Traced(traced) => traced.ended(),
        };
        let failed = |source| TrialError::Start { command: self.command.line(), source };
        Ok(ended.map_err(failed)?.map(|status| (status, self.started)))
    }
}

impl Program {
    fn pid(&self) -> Pid {
        match self {
            Self::Free(child) => Pid::from_raw(child.id().cast_signed()),
            Self::Traced(traced) => traced.pid(),
        }
    }

    /// Kills the whole group.
    fn kill(&mut self) {
        match self {
            Self::Free(child) => {
                let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
                let _ = child.wait();
            }
            Self::Traced(traced) => traced.kill(),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The watchdog first: the number of an ended group may become another's.
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
        self.program.kill();
    }
}

fn watchdog(group: Pid) -> io::Result<Child> {
    process::Command::new("sh")
        .args(["-c", WATCHDOG, "sh", &group.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

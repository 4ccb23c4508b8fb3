//! Traces a program with all its descendants, and answers CPUID for them.
//!
//! A thread of this process is the tracer (ptrace(2)). The program begins as a shell: the shell
//! reports its start, is seized, gets a line and becomes the program. At the end of each `execve`,
//! which allows CPUID again (`arch_setup_new_exec` of arch/x86/kernel/process.c, 6.18), the tracer
//! injects the system call that makes CPUID fault in the thread; new threads and processes inherit
//! that setting. From then on CPUID raises SIGSEGV, and the tracer answers instead. The tracer asks
//! a CPU that the thread may use, because APIC ids and, on hybrid CPUs, caches differ; a program
//! that wants the answers of one CPU is pinned there already. The tracer passes on all other
//! signals, and keeps stopped threads stopped until SIGCONT.
//!
//! When the program ends, or the tracer does for any reason, SIGKILL of this process included, the
//! kernel kills all traced processes (`PTRACE_O_EXITKILL`).
//!
//! Differences for the program: set-user-ID programs get no privileges (execve(2)), no other
//! process can trace the program, and a thread that blocks or ignores SIGSEGV while executing CPUID
//! loses that setting (`force_sig_info_to_task` of kernel/signal.c, 6.18).

use std::arch::x86_64::__cpuid_count;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use libc::pid_t;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::faulting::Faulting;
use super::mask::{Answer, hidden};
use super::tracee::{self, Interrupted, Resume, Stop};
use crate::machine::{first_cpu_of, on_cpu};
use crate::trial::command::Command;
use crate::trial::error::TrialError;

/// The answers of CPUID to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emulation {
    /// Answers without wide instructions; otherwise the CPU's own answers, at the same cost.
    pub hides: bool,
    /// Two bytes of code that fault on every CPU and are taken for CPUID too. With them a machine
    /// where CPUID cannot fault is no error: so all but the fault itself is tested anywhere.
    pub stand_in: Option<[u8; 2]>,
}

/// A program that is followed, in a process group of its own.
pub struct Traced {
    root: Pid,
    stdout: Option<ChildStdout>,
    faulting: Faulting,
    thread: Option<JoinHandle<io::Result<ExitStatus>>>,
}

/// The shell reports its start, waits for a line and becomes the program; ends without a line.
const WAIT: &str = "echo >&2 && read -r _ && exec \"$@\" </dev/null 2>/dev/null";

impl Traced {
    /// Starts a program on a CPU; CPUID faults in the program when this function returns.
    ///
    /// # Errors
    /// When the program cannot be started or traced, or CPUID cannot fault.
    pub fn start(
        command: &Command,
        cpu: u32,
        stdout: Stdio,
        emulation: Emulation,
    ) -> Result<Self, TrialError> {
        let failed = |source| TrialError::Start { command: command.line(), source };
        let mut words = ["sh", "-c", WAIT, "sh"].map(str::to_owned).to_vec();
        words.extend_from_slice(&command.words);
        let waiting = Command { words, environment: command.environment.clone() };
        let mut process = waiting.process();
        process.stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::piped());
        let mut child = on_cpu(cpu, || process.spawn())?.map_err(failed)?;
        let root = Pid::from_raw(child.id().cast_signed());
        let stdout = child.stdout.take();
        let (say, said) = channel();
        let thread = std::thread::Builder::new()
            .name("ek-tracer".to_owned())
            .spawn(move || follow(child, emulation, say))
            .map_err(failed)?;
        match said.recv() {
            Ok(faulting) => Ok(Self { root, stdout, faulting, thread: Some(thread) }),
            Err(_) => Err(failed(never_began(joined(thread)))),
        }
    }

    /// Its process, and its process group.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.root
    }

    /// The program's standard output, if piped and not taken yet.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.stdout.take()
    }

    /// Whether CPUID faults in the program; always so without a stand-in.
    #[must_use]
    pub fn faulting(&self) -> Faulting {
        self.faulting
    }

    /// The program's exit status, once the program has ended.
    ///
    /// # Errors
    /// Why tracing failed; the program was killed then.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        match self.thread.take_if(|thread| thread.is_finished()) {
            Some(thread) => joined(thread).map(Some),
            None => Ok(None),
        }
    }

    /// Waits for the program's end.
    ///
    /// # Errors
    /// Why tracing failed; the program was killed then.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.thread.take().map_or_else(|| Err(io::ErrorKind::NotFound.into()), joined)
    }

    /// Kills the program and all its descendants.
    pub fn kill(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // Once the thread has ended, the number of the group may become another's.
        if !thread.is_finished() {
            let _ = killpg(self.root, Signal::SIGKILL);
        }
        let _ = joined(thread);
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.kill();
    }
}

fn joined(thread: JoinHandle<io::Result<ExitStatus>>) -> io::Result<ExitStatus> {
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the tracer panicked")))
}

/// Why a shell did not become the program, by its exit code: POSIX, Shell Command Language, exec.
fn never_began(ended: io::Result<ExitStatus>) -> io::Error {
    match ended {
        Err(error) => error,
        Ok(status) => match status.code() {
            Some(127) => io::Error::from_raw_os_error(libc::ENOENT),
            Some(126) => io::Error::from_raw_os_error(libc::EACCES),
            _ => io::Error::other(format!("its shell ended with {status}")),
        },
    }
}

/// Traces a waiting child until the child ends, or kills the child.
fn follow(
    mut child: Child,
    emulation: Emulation,
    begun: Sender<Faulting>,
) -> io::Result<ExitStatus> {
    let root = Pid::from_raw(child.id().cast_signed());
    let all = Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK;
    let mut tracer = Tracer {
        root: root.as_raw(),
        emulation,
        begun: Some(begun),
        calls: HashMap::new(),
        answers: HashMap::new(),
    };
    // A parent hears of a child whose `execve` has not ended yet, which is not the program's.
    let runs = child.stderr.take().map_or(Ok(()), |mut shell| shell.read_exact(&mut [0]));
    let followed = runs.and_then(|()| {
        ptrace::seize(root, all)?;
        child.stdin.take().map_or(Ok(()), |mut shell| shell.write_all(b"\n"))?;
        tracer.run()
    });
    if followed.is_err() {
        let _ = kill(root, Signal::SIGKILL);
        while let Ok(Some((_, status))) = tracee::wait(root.as_raw()) {
            if !libc::WIFSTOPPED(status) {
                break;
            }
        }
        // One that was never followed is another thread's child.
        let _ = child.wait();
    }
    followed
}

/// How far a thread is on its way from `execve` to the program's first instruction.
enum Call {
    /// `execve` has not ended yet.
    Exec,
    /// The thread is about to make the system call.
    Asks(Interrupted),
    /// The thread is about to return from the system call.
    Hears(Interrupted),
}

struct Tracer {
    root: pid_t,
    emulation: Emulation,
    /// The receiver that waits for the program's beginning, until then.
    begun: Option<Sender<Faulting>>,
    /// Threads that have just become another program.
    calls: HashMap<pid_t, Call>,
    /// Answers of the CPUs by CPU, leaf and sub-leaf.
    answers: HashMap<(Option<u32>, u32, u32), Answer>,
}

/// Any thread.
const ANY: pid_t = -1;
/// `cpuid`.
const CPUID: [u8; 2] = [0x0f, 0xa2];

impl Tracer {
    /// Until the program ends.
    fn run(&mut self) -> io::Result<ExitStatus> {
        while let Some((thread, status)) = tracee::wait(ANY)? {
            if libc::WIFSTOPPED(status) {
                match self.act(thread, Stop::of(status)) {
                    // Killed in the meantime; its end comes next.
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                    done => done?,
                }
                continue;
            }
            self.calls.remove(&thread);
            if thread == self.root {
                return Ok(ExitStatus::from_raw(status));
            }
        }
        Err(io::Error::other("its end was told to somebody else"))
    }

    fn act(&mut self, thread: pid_t, stop: Stop) -> io::Result<()> {
        let mut signal = 0;
        match stop {
            Stop::Exec => {
                self.calls.insert(thread, Call::Exec);
            }
            Stop::Call => self.go_on_calling(thread)?,
            Stop::Group => return tracee::resume(thread, Resume::Listen, 0),
            Stop::Signal(found) => {
                if found != libc::SIGSEGV || !self.emulate(thread)? {
                    signal = found;
                }
            }
            Stop::Other => {}
        }
        let is_calling = self.calls.contains_key(&thread);
        tracee::resume(thread, if is_calling { Resume::ToCall } else { Resume::Run }, signal)
    }

    /// One step from the end of `execve` to the program's first instruction.
    fn go_on_calling(&mut self, thread: pid_t) -> io::Result<()> {
        match self.calls.remove(&thread) {
            Some(Call::Exec) => {
                let before = tracee::forbid_cpuid(thread)?;
                self.calls.insert(thread, Call::Asks(before));
            }
            Some(Call::Asks(before)) => {
                self.calls.insert(thread, Call::Hears(before));
            }
            Some(Call::Hears(before)) => {
                let faulting = Faulting::of(tracee::restore(thread, before)?);
                if faulting != Faulting::Offered && self.emulation.stand_in.is_none() {
                    return Err(io::Error::other("CPUID does not fault on this machine"));
                }
                if let Some(begun) = self.begun.take() {
                    // The receiver may be gone.
                    let _ = begun.send(faulting);
                }
            }
            None => {}
        }
        Ok(())
    }

    /// Answers CPUID, if CPUID is the instruction that faulted.
    fn emulate(&mut self, thread: pid_t) -> io::Result<bool> {
        let stand_in = self.emulation.stand_in;
        let is_cpuid = |code: [u8; 2]| code == CPUID || Some(code) == stand_in;
        let Some(registers) = tracee::faulted(thread, is_cpuid)? else {
            return Ok(false);
        };
        let (leaf, subleaf) = (registers.rax as u32, registers.rcx as u32);
        let answer = self.ask(first_cpu_of(thread), leaf, subleaf);
        let told = if self.emulation.hides { hidden(leaf, subleaf, answer) } else { answer };
        tracee::answer(thread, registers, told)?;
        Ok(true)
    }

    /// The answer of a CPU; this thread's present CPU answers for one that the thread may not use.
    fn ask(&mut self, cpu: Option<u32>, leaf: u32, subleaf: u32) -> Answer {
        *self.answers.entry((cpu, leaf, subleaf)).or_insert_with(|| {
            let ask = || __cpuid_count(leaf, subleaf);
            let there = cpu.and_then(|cpu| on_cpu(cpu, ask).ok());
            let found = there.unwrap_or_else(ask);
            Answer { eax: found.eax, ebx: found.ebx, ecx: found.ecx, edx: found.edx }
        })
    }
}

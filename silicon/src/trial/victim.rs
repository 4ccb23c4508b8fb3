//! The victim, and the measure of its progress.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use kernels::{Stream, Tsc};
use nix::libc;
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, gettid};

use super::command::Command;
use super::error::TrialError;
use super::group::Group;
use crate::machine::on_cpu;

/// The kind of victim.
#[derive(Clone, Debug)]
pub enum Victim {
    /// A stream; its blocks of instructions are its progress.
    Stream(Stream),
    /// A command.
    Command(Command, Progress),
}

/// The measure of a command's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A run from start to end is one unit of work.
    Completion,
    /// A line of its standard output is one unit of work.
    Lines,
}

/// Work and CPU time so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    /// Units of work.
    pub work: f64,
    /// CPU time in seconds.
    pub cpu_s: f64,
}

/// How often a stream counts.
const LOOK: Duration = Duration::from_micros(20);

/// A victim that runs without end and can be read at any time.
pub(super) enum Running {
    Stream(StreamThread),
    Lines(LineCounter),
}

impl Running {
    /// Starts the victim on a CPU; `None` for one that runs from start to end in each block.
    pub fn start(victim: &Victim, cpu: u32, tsc: &Tsc) -> Result<Option<Self>, TrialError> {
        Ok(match victim {
            Victim::Stream(stream) => Some(Self::Stream(StreamThread::start(*stream, cpu, tsc)?)),
            Victim::Command(command, Progress::Lines) => {
                Some(Self::Lines(LineCounter::start(command, cpu)?))
            }
            Victim::Command(_, Progress::Completion) => None,
        })
    }

    /// Progress so far.
    pub fn reading(&mut self) -> Result<Reading, TrialError> {
        match self {
            Self::Stream(thread) => thread.reading(),
            Self::Lines(counter) => counter.reading(),
        }
    }
}

/// A thread that runs a stream and counts.
pub(super) struct StreamThread {
    blocks: Arc<AtomicU64>,
    tid: Arc<AtomicI32>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StreamThread {
    fn start(stream: Stream, cpu: u32, tsc: &Tsc) -> Result<Self, TrialError> {
        let blocks = Arc::new(AtomicU64::new(0));
        let tid = Arc::new(AtomicI32::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let tsc = *tsc;
        let thread = on_cpu(cpu, || {
            std::thread::Builder::new().name("ek-victim".to_owned()).spawn({
                let (blocks, tid, stop) =
                    (Arc::clone(&blocks), Arc::clone(&tid), Arc::clone(&stop));
                move || {
                    let step = stream.blocks_in(&tsc, tsc.ticks(LOOK));
                    tid.store(gettid().as_raw(), Ordering::Release);
                    while !stop.load(Ordering::Relaxed) {
                        stream.run(step);
                        blocks.fetch_add(step, Ordering::Relaxed);
                    }
                }
            })
        })?
        .map_err(|source| TrialError::Start { command: "a thread".to_owned(), source })?;
        Ok(Self { blocks, tid, stop, thread: Some(thread) })
    }

    fn reading(&self) -> Result<Reading, TrialError> {
        let tid = loop {
            match self.tid.load(Ordering::Acquire) {
                0 if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                tid => break tid,
            }
        };
        let work = self.blocks.load(Ordering::Relaxed) as f64;
        // CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED of include/linux/posix-timers_types.h (6.18).
        Ok(Reading { work, cpu_s: cpu_s(ClockId::from_raw((!tid << 3) | 6))? })
    }
}

impl Drop for StreamThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A command that prints a line for each unit of work.
pub(super) struct LineCounter {
    command: Command,
    group: Group,
    lines: Arc<AtomicU64>,
    reader: Option<JoinHandle<()>>,
}

impl LineCounter {
    fn start(command: &Command, cpu: u32) -> Result<Self, TrialError> {
        let mut group = Group::start_piped(command, cpu)?;
        let lines = Arc::new(AtomicU64::new(0));
        let output = group.stdout();
        let reader = output.map(|output| {
            let lines = Arc::clone(&lines);
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                while output.skip_until(b'\n').is_ok_and(|bytes| bytes > 0) {
                    lines.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        Ok(Self { command: command.clone(), group, lines, reader })
    }

    fn reading(&mut self) -> Result<Reading, TrialError> {
        if let Some((status, _)) = self.group.ended()? {
            return Err(TrialError::Failed { command: self.command.line(), status });
        }
        let work = self.lines.load(Ordering::Relaxed) as f64;
        let clock = ClockId::pid_cpu_clock_id(self.group.pid()).map_err(|source| {
            TrialError::Kernel { what: "reading a program's CPU time", source }
        })?;
        Ok(Reading { work, cpu_s: cpu_s(clock)? })
    }
}

impl Drop for LineCounter {
    fn drop(&mut self) {
        let _ = self.group.signal(nix::sys::signal::Signal::SIGKILL);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

fn cpu_s(clock: ClockId) -> Result<f64, TrialError> {
    let time = clock_gettime(clock)
        .map_err(|source| TrialError::Kernel { what: "reading a CPU clock", source })?;
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9)
}

/// Runs a command to its end while `meanwhile` is called every few milliseconds, and returns its
/// CPU time in seconds, including children that the command waited for.
pub(super) fn complete(
    command: &Command,
    cpu: u32,
    mut meanwhile: impl FnMut() -> Result<(), TrialError>,
) -> Result<f64, TrialError> {
    const LOOK: Duration = Duration::from_millis(5);
    let group = Group::start(command, cpu)?;
    loop {
        if let Some((status, cpu_s)) = ended_with_usage(group.pid())? {
            return if status.success() {
                Ok(cpu_s)
            } else {
                Err(TrialError::Failed { command: command.line(), status })
            };
        }
        meanwhile()?;
        std::thread::sleep(LOOK);
    }
}

/// The exit status of a child and its resource use, once the child has ended.
fn ended_with_usage(pid: Pid) -> Result<Option<(ExitStatus, f64)>, TrialError> {
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are valid for writing and live through the call.
    let found =
        unsafe { libc::wait4(pid.as_raw(), &mut status, libc::WNOHANG, usage.as_mut_ptr()) };
    if found == 0 {
        return Ok(None);
    }
    if found < 0 {
        let source = nix::Error::last();
        return Err(TrialError::Kernel { what: "waiting for the victim", source });
    }
    // SAFETY: all zeroes are a valid `rusage`, and the kernel has filled the struct.
    let usage = unsafe { usage.assume_init() };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    let cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    Ok(Some((ExitStatus::from_raw(status), cpu_s)))
}

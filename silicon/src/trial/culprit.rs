//! The culprit: a stream, or two commands of which one is paused.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use kernels::{Stream, Tsc};
use nix::sys::signal::Signal;

use super::command::Command;
use super::error::TrialError;
use super::group::Group;
use super::hide::Emulation;
use crate::machine::on_cpu;

/// The work of the culprit during a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With wide instructions.
    Wide,
    /// The same without.
    Control,
}

/// The kind of culprit.
#[derive(Clone, Debug)]
pub enum Culprit {
    /// Two streams, the wide one first.
    Streams(Stream, Stream),
    /// Two commands.
    Commands(CulpritCommands),
}

/// A command and its control.
#[derive(Clone, Debug)]
pub struct CulpritCommands {
    /// With wide instructions.
    pub wide: Command,
    /// The same without.
    pub control: Command,
    /// The source of CPUID's answers to both.
    pub cpuid: Cpuid,
}

/// The source of CPUID's answers to a culprit's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpuid {
    /// The CPU.
    Cpu,
    /// This process, which traces both so that both pay the same cost: the wide command gets the
    /// CPU's answers, the control gets them without wide instructions.
    Tracer {
        /// See [`Emulation::stand_in`].
        stand_in: Option<[u8; 2]>,
    },
}

impl CulpritCommands {
    fn start(&self, form: Form, cpu: u32) -> Result<Group, TrialError> {
        let command = match form {
            Form::Wide => &self.wide,
            Form::Control => &self.control,
        };
        match self.cpuid {
            Cpuid::Cpu => Group::start(command, cpu),
            Cpuid::Tracer { stand_in } => {
                let emulation = Emulation { hides: form == Form::Control, stand_in };
                Group::start_traced(command, cpu, emulation)
            }
        }
    }
}

/// Interval at which a stream checks for a change of form.
const LOOK: Duration = Duration::from_micros(20);
/// A command that ends sooner than this is no culprit.
const LIFE_MIN: Duration = Duration::from_millis(20);

/// A culprit at work.
pub(super) enum Running {
    Streams(StreamThread),
    Commands(Box<Programs>),
}

impl Running {
    /// Starts the culprit on a CPU, in its control form.
    pub fn start(culprit: &Culprit, cpu: u32, tsc: &Tsc) -> Result<Self, TrialError> {
        Ok(match culprit {
            Culprit::Streams(wide, control) => {
                Self::Streams(StreamThread::start(*wide, *control, cpu, tsc)?)
            }
            Culprit::Commands(commands) => {
                Self::Commands(Box::new(Programs::start(commands, cpu)?))
            }
        })
    }

    /// Changes to a form.
    pub fn show(&mut self, next: Form) -> Result<(), TrialError> {
        match self {
            Self::Streams(thread) => thread.is_wide.store(next == Form::Wide, Ordering::Relaxed),
            Self::Commands(programs) => programs.show(next)?,
        }
        Ok(())
    }

    /// Starts a command again that came to its end.
    pub fn keep_alive(&mut self) -> Result<(), TrialError> {
        match self {
            Self::Streams(_) => Ok(()),
            Self::Commands(programs) => programs.keep_alive(),
        }
    }
}

/// Two commands at work, one of them stopped.
pub(super) struct Programs {
    commands: CulpritCommands,
    cpu: u32,
    wide: Group,
    control: Group,
    form: Form,
}

impl Programs {
    fn start(commands: &CulpritCommands, cpu: u32) -> Result<Self, TrialError> {
        let wide = commands.start(Form::Wide, cpu)?;
        wide.signal(Signal::SIGSTOP)?;
        let control = commands.start(Form::Control, cpu)?;
        Ok(Self { commands: commands.clone(), cpu, wide, control, form: Form::Control })
    }

    fn show(&mut self, next: Form) -> Result<(), TrialError> {
        let (goes, comes) = match next {
            Form::Wide => (&self.control, &self.wide),
            Form::Control => (&self.wide, &self.control),
        };
        goes.signal(Signal::SIGSTOP)?;
        comes.signal(Signal::SIGCONT)?;
        self.form = next;
        Ok(())
    }

    fn keep_alive(&mut self) -> Result<(), TrialError> {
        let (group, command) = match self.form {
            Form::Wide => (&mut self.wide, &self.commands.wide),
            Form::Control => (&mut self.control, &self.commands.control),
        };
        let Some((status, started)) = group.ended()? else {
            return Ok(());
        };
        if !status.success() {
            return Err(TrialError::Failed { command: command.line(), status });
        }
        let life = started.elapsed();
        if life < LIFE_MIN {
            let within_ms = life.as_millis().max(1);
            return Err(TrialError::TooShort { command: command.line(), within_ms });
        }
        *group = self.commands.start(self.form, self.cpu)?;
        Ok(())
    }
}

/// A thread that runs one of two streams until it is dropped.
pub(super) struct StreamThread {
    is_wide: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StreamThread {
    fn start(wide: Stream, control: Stream, cpu: u32, tsc: &Tsc) -> Result<Self, TrialError> {
        let is_wide = Arc::new(AtomicBool::new(false));
        let stop = Arc::new(AtomicBool::new(false));
        let tsc = *tsc;
        let thread = on_cpu(cpu, || {
            std::thread::Builder::new().name("ek-culprit".to_owned()).spawn({
                let (is_wide, stop) = (Arc::clone(&is_wide), Arc::clone(&stop));
                move || {
                    let blocks = [control, wide].map(|s| s.blocks_in(&tsc, tsc.ticks(LOOK)));
                    while !stop.load(Ordering::Relaxed) {
                        if is_wide.load(Ordering::Relaxed) {
                            wide.run(blocks[1]);
                        } else {
                            control.run(blocks[0]);
                        }
                    }
                }
            })
        })?
        .map_err(|source| TrialError::Start { command: "a thread".to_owned(), source })?;
        Ok(Self { is_wide, stop, thread: Some(thread) })
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

//! The victim, the culprit, and the culprit's control.

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use cpu_model::Class;
use kernels::{Rate, Stream};
use serde::Serialize;
use silicon::trial::hide::{Faulting, LIBRARY_SWITCHES, faulting};
use silicon::trial::{Command, Cpuid, Culprit, CulpritCommands, Progress, Victim};

/// Options that name them.
#[derive(Args)]
pub struct Options {
    /// Victim: a class, of which an endless stream is run, or a command
    #[arg(long, value_name = "CLASS|CMD", default_value = "scalar")]
    victim: String,

    /// Culprit: a class or a command [default: the most demanding class that this CPU has]
    #[arg(long, value_name = "CLASS|CMD")]
    culprit: Option<String>,

    /// The culprit's control: a class or a command [default: scalar]
    #[arg(long, value_name = "CLASS|CMD")]
    control: Option<String>,

    /// The control is the culprit's command with wide instructions hidden: from glibc, OpenSSL,
    /// oneDNN, oneMKL, OpenBLAS, NumPy, OpenJDK and .NET by their variables of the environment,
    /// and where CPUID can fault (see evenkeel doctor) from everything that asks the CPU
    #[arg(long, conflicts_with = "control")]
    hide: bool,

    /// The measure of a victim command's progress: runs from start to end, or printed lines
    #[arg(long, value_enum, default_value_t = ProgressName::Completion)]
    progress: ProgressName,

    /// The classes of commands, for the prediction: victim, culprit and control
    #[arg(long, value_name = "V,C,C", value_delimiter = ',', num_args = 3)]
    classes: Option<Vec<String>>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum ProgressName {
    Completion,
    Lines,
}

/// The name of the control of `--hide`.
const HIDDEN: &str = "the same with wide instructions hidden";

/// The way by which wide instructions are hidden from the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HiddenBy {
    /// Variables that libraries listen to.
    LibrarySwitches,
    /// The variables of libraries, and a CPUID that reports no wide instructions.
    CpuidFaultingAndLibrarySwitches,
}

/// Victim and culprit, ready to run.
pub struct Pair {
    pub victim: Victim,
    pub culprit: Culprit,
    pub victim_name: String,
    pub culprit_name: String,
    pub control_name: String,
    /// The way by which wide instructions are hidden; `None` for a control that is another command.
    pub hidden_by: Option<HiddenBy>,
    /// Classes of victim, culprit and control, where known.
    pub classes: Option<[Class; 3]>,
}

/// A class or a command.
enum Side {
    Class(Class),
    Command(Command),
}

impl Options {
    /// The pair, its streams allowed on this CPU.
    pub fn resolve(&self) -> Result<Pair> {
        let victim = side("--victim", &self.victim)?;
        let culprit = match &self.culprit {
            Some(text) => side("--culprit", text)?,
            None => Side::Class(most_demanding()?),
        };
        let control = match (&self.control, &culprit) {
            (Some(text), _) => side("--control", text)?,
            (None, Side::Class(_)) if !self.hide => Side::Class(Class::Scalar),
            (None, Side::Class(_)) => bail!("--hide is for a command; streams have --control"),
            (None, Side::Command(command)) => {
                ensure!(self.hide, "a command needs --control or --hide to be compared with");
                Side::Command(hidden(command))
            }
        };
        let known = match (&victim, &culprit, &control) {
            (Side::Class(victim), Side::Class(culprit), Side::Class(control)) => {
                Some([*victim, *culprit, *control])
            }
            _ => None,
        };
        let hidden_by = self.hide.then(|| match faulting() {
            Faulting::Offered => HiddenBy::CpuidFaultingAndLibrarySwitches,
            _ => HiddenBy::LibrarySwitches,
        });
        let said = self.classes.as_deref().map(said_classes).transpose()?;
        Ok(Pair {
            victim_name: victim.name(),
            culprit_name: culprit.name(),
            control_name: if self.hide { HIDDEN.to_owned() } else { control.name() },
            hidden_by,
            classes: said.or(known),
            victim: match victim {
                Side::Class(class) => Victim::Stream(stream("--victim", class)?),
                Side::Command(command) => Victim::Command(
                    command,
                    match self.progress {
                        ProgressName::Completion => Progress::Completion,
                        ProgressName::Lines => Progress::Lines,
                    },
                ),
            },
            culprit: match (culprit, control) {
                (Side::Class(wide), Side::Class(control)) => {
                    Culprit::Streams(stream("--culprit", wide)?, stream("--control", control)?)
                }
                (Side::Command(wide), Side::Command(control)) => {
                    let cpuid = match hidden_by {
                        Some(HiddenBy::CpuidFaultingAndLibrarySwitches) => {
                            Cpuid::Tracer { stand_in: None }
                        }
                        _ => Cpuid::Cpu,
                    };
                    Culprit::Commands(CulpritCommands { wide, control, cpuid })
                }
                _ => bail!("--culprit and --control must both be classes or both be commands"),
            },
        })
    }
}

impl Side {
    fn name(&self) -> String {
        match self {
            Self::Class(class) => class.name().to_owned(),
            Self::Command(command) => command.line(),
        }
    }
}

fn side(flag: &str, text: &str) -> Result<Side> {
    if let Some(class) = Class::from_name(text) {
        return Ok(Side::Class(class));
    }
    match shlex::split(text) {
        Some(words) if !words.is_empty() => {
            Ok(Side::Command(Command { words, environment: Vec::new() }))
        }
        _ => bail!("{flag}: {text:?} is neither a class nor a command with its quotes closed"),
    }
}

fn stream(flag: &str, class: Class) -> Result<Stream> {
    Stream::new(class, Rate::Full).map_err(|why| anyhow::anyhow!("{flag} {}: {why}", class.name()))
}

fn most_demanding() -> Result<Class> {
    let allowed = |class: &Class| *class != Class::Scalar && kernels::allowed(*class).is_ok();
    let found = Class::ALL.into_iter().rfind(allowed);
    found.ok_or_else(|| anyhow::anyhow!("this CPU has no wide instructions: nobody is slowed"))
}

/// The command with every switch that its libraries may listen to.
fn hidden(command: &Command) -> Command {
    let switches =
        LIBRARY_SWITCHES.iter().map(|switch| (switch.variable.into(), switch.value.into()));
    let environment = command.environment.iter().cloned().chain(switches).collect();
    Command { words: command.words.clone(), environment }
}

fn said_classes(names: &[String]) -> Result<[Class; 3]> {
    let class = |name: &String| {
        Class::from_name(name).ok_or_else(|| anyhow::anyhow!("--classes: {name:?} is no class"))
    };
    Ok([class(&names[0])?, class(&names[1])?, class(&names[2])?])
}

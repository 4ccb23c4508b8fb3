//! `evenkeel exec`: starts a command with a declared kind of task, for core specialization.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::scheduler_socket::Socket;

const EXAMPLES: &str = "\
Examples:
  evenkeel exec --class avx512 -- ./train.sh
      always on cores for 512-bit code, from the first instruction on
  evenkeel exec --class non-avx512 -- nginx
      with scx_evenkeel --enrol declared: nginx is kept apart from 512-bit code
  sudo evenkeel exec --class default -- ./pinned-daemon
      on any core, whatever instructions it uses; only root may";

/// The socket of `scx_evenkeel`; `scheduler/src/kinds/declarations.rs` has the same.
const SOCKET: &str = "/run/evenkeel/declare";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The class of the command.
    #[arg(long, value_enum)]
    class: Class,
    /// The command, and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Class {
    /// It uses 512-bit instructions all the time.
    Avx512,
    /// It uses them rarely: on the other cores, until some are seen.
    NonAvx512,
    /// Core specialization does not concern it.
    Default,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::NonAvx512 => "non-avx512",
            Self::Default => "default",
        }
    }
}

pub fn run(args: &Args) -> Result<()> {
    declare(args.class)?;
    let [program, arguments @ ..] = &args.command[..] else { bail!("no command is given") };
    // The scheduler applies the class when this process becomes the command.
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("starting {}", program.display()))
}

fn declare(class: Class) -> Result<()> {
    let mut socket = match Socket::connect(Path::new(SOCKET)) {
        Ok(socket) => socket,
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
        {
            bail!(
                "no scx_evenkeel with --mode specialize or fair-specialize runs here ({SOCKET}: \
                 {error})"
            )
        }
        Err(error) => return Err(error).context(SOCKET),
    };
    let answer = socket
        .ask(&format!("class {}", class.name()))
        .with_context(|| format!("{SOCKET}: the scheduler does not answer"))?;
    match answer.trim_end().strip_prefix("error: ") {
        Some(why) => bail!("the scheduler refuses: {why}"),
        None if answer == "ok\n" => Ok(()),
        None => bail!("{SOCKET}: the scheduler ended before it answered"),
    }
}

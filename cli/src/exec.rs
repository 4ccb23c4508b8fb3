//! `evenkeel exec`: starts a command with a declared kind of task, for core specialization.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

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
/// How long the scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let stream = match UnixStream::connect(SOCKET) {
        Ok(stream) => stream,
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
    stream.set_read_timeout(Some(PATIENCE)).context(SOCKET)?;
    stream.set_write_timeout(Some(PATIENCE)).context(SOCKET)?;
    let asked = (&stream).write_all(format!("class {}\n", class.name()).as_bytes());
    let mut answer = String::new();
    let read = asked.and_then(|()| BufReader::new(&stream).read_line(&mut answer));
    read.with_context(|| format!("{SOCKET}: the scheduler does not answer"))?;
    match answer.trim_end().strip_prefix("error: ") {
        Some(why) => bail!("the scheduler refuses: {why}"),
        None if answer == "ok\n" => Ok(()),
        None => bail!("{SOCKET}: the scheduler ended before it answered"),
    }
}

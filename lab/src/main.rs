//! `lab`: runs one command under a stock kernel of Debian.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Command, CommandFactory, FromArgMatches, Parser};
use lab::{Accelerator, Job, Kernel, Machine};

/// Runs one command under a stock kernel of Debian, as root of a virtual machine.
#[derive(Parser)]
#[command(name = "lab")]
struct Args {
    /// Kernel: 5.10, 6.1, 6.12, 6.18, 6.19, 7.0, sid or PACKAGE/SUITE.
    #[arg(long, default_value = "6.1")]
    kernel: String,
    /// Virtual CPUs.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    cpus: u32,
    /// Of these, how many are siblings on a core.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    threads: u32,
    /// Seconds of this machine in a second of the virtual one; 1 with KVM, where that works.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    dilation: u32,
    /// Counts instructions: one virtual CPU whose clock each instruction advances by 1 ns.
    #[arg(long, conflicts_with_all = ["cpus", "threads", "dilation"])]
    icount: bool,
    /// Seconds of this machine after which the virtual one is ended.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Folder for the logs, and for files that the command writes to its working folder
    #[arg(long)]
    results: Option<PathBuf>,
    /// Program of the shell.
    command: String,
}

/// The command, as it parses arguments. A number below 0 is the value of the option before: clap
/// would take the number for an unknown argument, and the error would not name the option.
fn command() -> Command {
    Args::command().mut_args(|arg| {
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        if is_option { arg.allow_negative_numbers(true) } else { arg }
    })
}

fn main() -> ExitCode {
    let args = Args::from_arg_matches(&command().get_matches());
    match run(&args.unwrap_or_else(|error| error.exit())) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("lab: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The exit status of the command.
fn run(args: &Args) -> Result<u8> {
    let limit = Duration::from_secs(args.limit.into());
    ensure!(args.cpus.is_multiple_of(args.threads), "--cpus: expected a multiple of --threads");
    let kernel = Kernel::get(&args.kernel, &lab::cache())?;
    let accelerator = match args.dilation {
        _ if args.icount => Accelerator::Counting,
        1 => Accelerator::best(&kernel)?,
        dilation => Accelerator::Tcg { dilation },
    };
    let machine = Machine {
        cpus: if args.icount { 1 } else { args.cpus },
        threads_per_core: args.threads,
        memory_mib: 4096,
        accelerator,
        job_limit: limit,
        limit,
    };
    let job = Job { name: "command".into(), script: format!("#!/bin/sh\n{}\n", args.command) };
    let room = tempfile::tempdir()?;
    let results = args.results.as_deref().unwrap_or(room.path());
    let run = machine.run(&kernel, std::slice::from_ref(&job), results)?;
    let said = |file: &str| {
        let path = results.join(&job.name).join(file);
        fs::read(&path).with_context(|| path.display().to_string())
    };
    print!("{}", String::from_utf8_lossy(&said("stdout")?));
    eprint!("{}", String::from_utf8_lossy(&said("stderr")?));
    let done = &run.jobs[0];
    for complaint in run.complaints() {
        eprintln!("lab: the kernel says: {complaint}");
    }
    if run.restarts > 0 {
        eprintln!("lab: started {} more times, since QEMU broke it", run.restarts);
    }
    let (ran, waited) = (run.host_time.ran.as_secs_f64(), run.host_time.waited.as_secs_f64());
    eprintln!("lab: {}; its CPUs ran {ran:.1} s and waited {waited:.1} s", kernel.release);
    Ok(done.status.and_then(|status| status.try_into().ok()).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use super::*;

    #[test]
    fn an_option_says_what_it_expects_when_its_value_is_below_0() {
        let options = command();
        let options = options.get_arguments().filter(|arg| arg.get_action().takes_values());
        for option in options.filter(|arg| !arg.is_positional()) {
            let is = |kind: TypeId| option.get_value_parser().type_id() == kind;
            let flag = format!("--{}", option.get_long().unwrap());
            let parsed = command().try_get_matches_from(["lab", &flag, "-1", "true"]);
            let said = parsed.err().map(|error| error.to_string()).unwrap_or_default();
            if is(TypeId::of::<String>()) || is(TypeId::of::<PathBuf>()) {
                assert_eq!(said, "", "{flag}");
                continue;
            }
            let begin = format!("error: invalid value '-1' for '{flag} <");
            assert!(said.starts_with(&begin), "{flag}: {said}");
            assert!(said.contains(" is not in "), "{flag}: {said}");
        }
    }
}

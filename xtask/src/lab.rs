//! `cargo xtask lab`: the kernel scheduler under a stock kernel, in a virtual machine.
//!
//! One boot for all tests. A test is a script of `scheduler/tests/lab`; it holds if it ends with 0
//! and the kernel complained of nothing meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ::lab::{Accelerator, Done, Job, Kernel, Machine};
use anyhow::{Context, Result, bail, ensure};

use crate::{command, repo};

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Tests by name, or `smoke` for those that every change must pass.
    #[arg(required = true)]
    tests: Vec<String>,
    /// Kernel instead of the first of the list that can be had: 6.18, 6.19, 7.0, sid or
    /// PACKAGE/SUITE.
    #[arg(long)]
    kernel: Option<String>,
    /// Folder to keep what the tests printed.
    #[arg(long)]
    results: Option<PathBuf>,
}

/// Kernels with sched_ext, best first.
const KERNELS: [&str; 4] = ["7.0", "6.19", "6.18", "sid"];
/// What every change must pass.
const SMOKE: [&str; 4] = ["loads", "killed", "shares", "stress"];
/// How the tests that are shell scripts load the scheduler and end it.
const LOADER: &str = "loader.sh";
/// Time of the machine that a test may take.
const TEST_LIMIT: Duration = Duration::from_secs(300);
/// Time for the boot.
const BOOT_LIMIT: Duration = Duration::from_secs(120);
/// What the kernel says of a scheduler that comes and goes as it should.
const NO_COMPLAINT: [&str; 2] =
    ["\"evenkeel\" enabled", "\"evenkeel\" disabled (unregistered from user space)"];

/// Boots the machine and runs the tests.
pub fn run(args: &Args) -> Result<()> {
    let named = |name: &'_ String| match name.as_str() {
        "smoke" => SMOKE.map(str::to_owned).to_vec(),
        name => vec![name.to_owned()],
    };
    let tests = args.tests.iter().flat_map(named);
    let jobs = tests.map(|name| job(&name)).collect::<Result<Vec<_>>>()?;
    let loader = command::scx_evenkeel()?;
    let kernel = kernel(args.kernel.as_deref(), &loader)?;
    let room = tempfile::tempdir()?;
    let results = args.results.as_deref().unwrap_or(room.path());
    let programs = results.join("bin");
    fs::create_dir_all(&programs).with_context(|| programs.display().to_string())?;
    fs::copy(&loader, programs.join("scx_evenkeel")).context("copying the loader")?;
    fs::copy(tests_folder().join(LOADER), programs.join(LOADER)).context("copying the tests")?;

    let accelerator = Accelerator::best(&kernel)?;
    println!("Linux {}, {accelerator:?}", kernel.release);
    let machine = Machine {
        // No more than machines have here: what the host takes from one of its CPUs looks like work
        // of the task that runs there.
        cpus: 2,
        threads_per_core: 2,
        memory_mib: 2048,
        accelerator,
        job_limit: TEST_LIMIT,
        limit: BOOT_LIMIT + TEST_LIMIT * jobs.len() as u32,
    };
    let begin = Instant::now();
    let run = machine.run(&kernel, &jobs, results)?;
    let boot = ::lab::complaints(&run.boot_log);
    ensure!(boot.is_empty(), "the kernel complained while it booted: {}", boot[0]);
    let failed = jobs.iter().zip(&run.jobs).filter(|(job, done)| !holds(job, done, results));
    let failed = failed.count();
    println!("{} tests, {failed} failed, {:.0} s", jobs.len(), begin.elapsed().as_secs_f64());
    ensure!(failed == 0, "a test of the kernel scheduler failed");
    Ok(())
}

fn tests_folder() -> PathBuf {
    repo::root().join("scheduler/tests/lab")
}

/// A test as a job of the machine.
fn job(name: &str) -> Result<Job> {
    let folder = tests_folder();
    let paths = ["sh", "py"].map(|ending| folder.join(name).with_extension(ending));
    let Some(path) = paths.iter().find(|path| path.exists()) else {
        bail!("no test `{name}` in {}", folder.display());
    };
    let script = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok(Job { name: name.to_owned(), script })
}

/// The kernel that was asked for, or the first that can take the scheduler.
fn kernel(name: Option<&str>, loader: &Path) -> Result<Kernel> {
    let names = name.map_or(KERNELS.to_vec(), |name| vec![name]);
    let can_take = |kernel: &Kernel| {
        let check = Command::new(loader).args(["--check", "--btf"]).arg(kernel.image()).output();
        let check = check.map_err(|error| error.to_string())?;
        let why = String::from_utf8_lossy(&check.stderr).trim().to_owned();
        if check.status.success() { Ok(()) } else { Err(why) }
    };
    let (kernel, left_out) = Kernel::first(&names, &::lab::cache(), can_take)?;
    for why in left_out {
        println!("not {why}");
    }
    Ok(kernel)
}

/// Prints what became of a test.
fn holds(job: &Job, done: &Done, results: &Path) -> bool {
    let complaints: Vec<_> = ::lab::complaints(&done.kernel_log)
        .into_iter()
        .filter(|line| !NO_COMPLAINT.iter().any(|words| line.contains(words)))
        .collect();
    let holds = done.status == Some(0) && complaints.is_empty();
    println!("{:<8} {}", job.name, if holds { "passed" } else { "FAILED" });
    for file in ["stdout", "stderr"] {
        let said = fs::read(results.join(&job.name).join(file)).unwrap_or_default();
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

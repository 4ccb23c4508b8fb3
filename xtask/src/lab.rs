//! `cargo xtask lab`: the kernel scheduler under a stock kernel, in a virtual machine.
//!
//! One boot for all tests. A test is a script of `scheduler/tests/lab`, and passes if the script
//! ends with 0 and the kernel makes no complaint that the script does not expect.

mod cost;
mod test;
mod upstream;
mod verifier;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ::lab::{Accelerator, Job, Kernel, Machine};
use anyhow::{Context, Result, ensure};

use crate::{command, repo};
use test::Test;

/// Arguments of the task.
#[derive(clap::Args)]
pub struct Args {
    /// Tests by name, `smoke` for those that every change must pass, or `cost` to count the
    /// instructions of an operation.
    #[arg(required = true)]
    tests: Vec<String>,
    /// Kernel instead of the first of the list that can be had: 6.18, 6.19, 7.0, sid or
    /// PACKAGE/SUITE.
    #[arg(long)]
    kernel: Option<String>,
    /// Folder for the output of the tests.
    #[arg(long)]
    results: Option<PathBuf>,
    /// Keeps the figures of `verifier` and `cost` in data/measurements instead of comparing them.
    #[arg(long)]
    write: bool,
}

/// Kernels with sched_ext, best first.
const KERNELS: [&str; 4] = ["7.0", "6.19", "6.18", "sid"];
/// Tests that every change must pass.
const SMOKE: [&str; 6] = ["loads", "verifier", "refuses", "killed", "shares", "stress"];
/// A CPU table that tests change.
const TABLE: &str = "xeon-gold-6130.toml";
/// Builds for tests, and the name that is defined in them.
const VARIANTS: [(&str, &str); 2] =
    [("scx_evenkeel_lossy", "EK_LOSE"), ("scx_evenkeel_stand_in", "EK_STAND_IN")];
/// Time for the boot.
const BOOT_LIMIT: Duration = Duration::from_secs(120);

/// Boots the machine and runs the tests.
pub fn run(args: &Args) -> Result<()> {
    let named = |name: &'_ String| match name.as_str() {
        "smoke" => SMOKE.map(str::to_owned).to_vec(),
        name => vec![name.to_owned()],
    };
    let tests = args.tests.iter().flat_map(named).map(|name| Test::get(&name));
    let tests = tests.collect::<Result<Vec<_>>>()?;
    let has = |name: &str| tests.iter().any(|test| test.job.name == name);
    ensure!(!has(cost::TEST) || tests.len() == 1, "`cost` has a machine of its own: run it alone");
    let room = tempfile::tempdir()?;
    let results = args.results.as_deref().unwrap_or(room.path());
    let programs = results.join("bin");
    fs::create_dir_all(&programs).with_context(|| programs.display().to_string())?;
    let loader = provide(&tests, &programs)?;
    let kernel = kernel(args.kernel.as_deref(), &loader, &tests)?;
    let accelerator = match Accelerator::best(&kernel)? {
        _ if has(cost::TEST) => Accelerator::Counting,
        Accelerator::Tcg { .. } if tests.iter().any(|test| test.is_in_turns) => {
            Accelerator::InTurns
        }
        best => best,
    };
    println!("Linux {}, {accelerator:?}", kernel.release);
    boot(&machine(accelerator, &tests), &kernel, &tests, results)?;
    if has(verifier::TEST) {
        verifier::judge(&kernel.release, results, args.write)?;
    }
    if has(cost::TEST) {
        cost::judge(results, args.write)?;
    }
    Ok(())
}

/// Runs the tests and prints their results.
fn boot(machine: &Machine, kernel: &Kernel, tests: &[Test], results: &Path) -> Result<()> {
    let begin = Instant::now();
    let jobs: Vec<Job> = tests.iter().map(|test| test.job.clone()).collect();
    let run = machine.run(kernel, &jobs, results).inspect_err(show_console)?;
    let boot = ::lab::complaints(&run.boot_log);
    ensure!(boot.is_empty(), "the kernel complained while it booted: {}", boot[0]);
    let failed = tests.iter().zip(&run.jobs).filter(|(test, done)| !test.holds(done, results));
    let failed = failed.count();
    if run.restarts > 0 {
        println!("QEMU broke the machine {} times", run.restarts);
    }
    println!("{} tests, {failed} failed, {:.0} s", jobs.len(), begin.elapsed().as_secs_f64());
    ensure!(failed == 0, "a test of the kernel scheduler failed");
    Ok(())
}

/// Prints the end of the output of a machine that did not come to its end: its file may be in a
/// folder that goes with this program.
fn show_console(error: &::lab::LabError) {
    const LINES: usize = 60;
    let ::lab::LabError::Unfinished { console, .. } = error else { return };
    let text = fs::read(console).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        eprintln!("console: {line}");
    }
}

fn machine(accelerator: Accelerator, tests: &[Test]) -> Machine {
    let most = tests.iter().map(|test| test.cpus).max().unwrap_or(test::CPUS);
    let cpus = if accelerator == Accelerator::Counting { 1 } else { most };
    Machine {
        cpus,
        threads_per_core: if cpus == test::CPUS { cpus } else { 1 },
        memory_mib: 2048,
        accelerator,
        job_limit: tests.iter().map(|test| test.limit).max().unwrap_or_default(),
        limit: BOOT_LIMIT + tests.iter().map(|test| test.limit).sum::<Duration>(),
    }
}

/// Puts the programs that the tests call into a folder; returns the path of the loader.
fn provide(tests: &[Test], programs: &Path) -> Result<PathBuf> {
    let named = |program: &str| tests.iter().any(|test| test.job.script.contains(program));
    for (program, define) in VARIANTS.iter().filter(|(program, _)| named(program)) {
        let built = command::scx_evenkeel_with(define)?;
        fs::copy(built, programs.join(program)).with_context(|| (*program).to_owned())?;
    }
    let loader = command::scx_evenkeel()?;
    fs::copy(&loader, programs.join("scx_evenkeel")).context("copying the loader")?;
    if named("\"evenkeel\"") {
        fs::copy(command::evenkeel()?, programs.join("evenkeel")).context("copying evenkeel")?;
    }
    for shared in [test::LOADER, test::GUEST] {
        fs::copy(test::folder().join(shared), programs.join(shared)).context(shared)?;
    }
    if named(TABLE) {
        let table = repo::root().join("cpu-model/tables").join(TABLE);
        fs::copy(table, programs.join(TABLE)).context("copying a CPU table")?;
    }
    if named(verifier::LIBRARY) {
        verifier::build(programs)?;
    }
    if named(upstream::OBJECT) {
        upstream::build(programs)?;
    }
    Ok(loader)
}

/// The kernel of this name, or without a name the first that can load the scheduler.
fn kernel(name: Option<&str>, loader: &Path, tests: &[Test]) -> Result<Kernel> {
    let names = name.map_or(KERNELS.to_vec(), |name| vec![name]);
    let can_take = |kernel: &Kernel| {
        if name.is_some() && tests.iter().all(|test| test.takes_any_kernel) {
            return Ok(());
        }
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

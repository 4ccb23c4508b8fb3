//! Programs in C and C++ that use the library as their authors would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use commands::root;
use commands::{find, program, run as run_program};

use crate::parallel;

/// The programs; each prints `ok` and ends with status 0, or reports its error.
const PROGRAMS: &str = "c/tests";
/// A compiler, the extension of its sources, and its language standard.
const COMPILERS: [(&str, &str, &str); 4] = [
    ("gcc", "c", "-std=c99"),
    ("clang", "c", "-std=c99"),
    ("g++", "cpp", "-std=c++17"),
    ("clang++", "cpp", "-std=c++17"),
];
const OPTIONS: [&str; 6] = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"];
/// The program that the documentation names.
const FIRST: &str = "first.c";
/// Longer than any program takes, on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs every program of every compiler, linked in either way; returns how many.
pub fn run(folder: &Path) -> Result<u32> {
    let trial = folder.join("trial");
    fs::create_dir_all(&trial).with_context(|| format!("making {}", trial.display()))?;
    let compilers = COMPILERS.into_iter().filter(|(name, ..)| find(&[*name]).is_some());
    let runs = parallel::count(compilers, |compiler| run_all(compiler, folder, &trial))?;
    Ok(runs + first(folder, &trial)?)
}

/// Runs the programs of one compiler, linked in every way, and counts the runs.
fn run_all(
    (compiler, ending, standard): (&str, &str, &str),
    folder: &Path,
    trial: &Path,
) -> Result<u32> {
    let lib = folder.join("lib");
    let shared = [format!("-L{}", lib.display()), "-levenkeel_rt".to_owned()];
    let archive = lib.join("libevenkeel_rt.a").display().to_string();
    let archive = [archive, "-ldl".to_owned(), "-lm".to_owned()];
    let sanitized = [&shared[..], &["-fsanitize=address".to_owned()]].concat();
    let mut ways = vec![("shared", &shared[..]), ("static", &archive[..])];
    if ending == "c" && sanitizes(compiler, trial) {
        ways.push(("sanitized", &sanitized[..]));
    }
    let mut runs = 0;
    for source in sources(ending)? {
        for &(way, options) in &ways {
            let built = trial.join(format!("{}.{compiler}.{way}", stem(&source)));
            let mut cc = program(compiler);
            cc.arg(standard).args(OPTIONS).args(["-D_POSIX_C_SOURCE=200809L", "-I"]);
            cc.arg(folder.join("include")).arg(&source).arg("-o").arg(&built);
            run_program(cc.args(options))?;
            expect(&built, Command::new(&built).env("LD_LIBRARY_PATH", &lib))?;
            runs += 1;
        }
    }
    Ok(runs)
}

/// Compiles the documentation's example with the options of pkg-config, and runs the program.
fn first(folder: &Path, trial: &Path) -> Result<u32> {
    let Some(compiler) = find(&["cc"]).filter(|_| find(&["pkg-config"]).is_some()) else {
        return Ok(0);
    };
    let mut asked = program("pkg-config");
    asked.args(["--cflags", "--libs", "evenkeel-rt"]);
    let asked = asked.env("PKG_CONFIG_PATH", folder.join("lib/pkgconfig")).output()?;
    ensure!(asked.status.success(), "pkg-config does not find evenkeel-rt");
    let options = String::from_utf8_lossy(&asked.stdout);
    let built = trial.join("first.pkg-config");
    let source = root().join(PROGRAMS).join(FIRST);
    let mut cc = program(compiler);
    run_program(cc.arg(source).args(options.split_whitespace()).arg("-o").arg(&built))?;
    expect(&built, &mut Command::new(&built))?;
    Ok(1)
}

/// Whether a compiler can link AddressSanitizer.
fn sanitizes(compiler: &str, trial: &Path) -> bool {
    let named = |ending| trial.join(format!("empty.{compiler}{ending}"));
    let (source, built) = (named(".c"), named(""));
    let written = fs::write(&source, "int main(void)\n{\n\treturn 0;\n}\n").is_ok();
    let mut cc = program(compiler);
    cc.arg("-fsanitize=address").arg(source).arg("-o").arg(built).stderr(Stdio::null());
    written && run_program(&mut cc).is_ok()
}

fn sources(ending: &str) -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(root().join(PROGRAMS)).context("listing the programs")? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == ending) {
            sources.push(path);
        }
    }
    sources.sort();
    ensure!(!sources.is_empty(), "no program in {PROGRAMS} ends with .{ending}");
    Ok(sources)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Runs a program, which has to end well and in time.
fn expect(built: &Path, command: &mut Command) -> Result<()> {
    let name = built.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    while child.try_wait()?.is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill()?;
            bail!("{name} has not ended after {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let Output { status, stdout, stderr } = child.wait_with_output()?;
    if !status.success() || stdout != b"ok\n" {
        let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        bail!("{name}: {status}\n{out}{err}");
    }
    Ok(())
}

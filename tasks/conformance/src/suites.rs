//! `cargo suites`: runs and counts published OpenMP validation suites.
//!
//! A test is compiled once, for its own library, and run with that library first: a test that fails
//! there, on this machine, shows nothing about another library. A test that passes runs with the
//! tried library.

mod bots;
mod build;
mod checkouts;
mod dg;
mod expect;
mod gomp;
mod lit;
mod llvm;
mod outcome;
mod packages;
mod process;
mod program;
mod python;
mod results;
mod selector;
mod summary;
mod trial;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::openmp;
use commands::{find, is_strict, program as command, target};
use program::{Compiler, Test};
use trial::{Bench, Library};

/// Text of the help, below the options.
const NOTES: &str = "\
Everything is unpacked and compiled below cargo's target folder, where the next run finds it;
nothing is installed. A test passes, fails, does not end in time, or calls what the library does
not support. It is not applicable if it fails with its own library on this machine, and skipped
if it is for other machines or only compiles.

Examples:
  cargo suites --suite gomp --only cancel      some tests of libgomp
  cargo suites --out out/suites                gcc's and LLVM's, with a table of all tests
  cargo suites --library llvm --suite gomp     gcc's tests with LLVM's library
  cargo suites --suite python                  scikit-learn, XGBoost, LightGBM, faiss
  cargo suites --suite vv --from OpenMP_VV     a checkout of OpenMP V&V
  cargo suites --expect FILE                   an error if a test of the list does not pass";

/// Where the tests come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Suite {
    /// libgomp's, of the installed gcc, from Debian's package of its source.
    Gomp,
    /// LLVM's, of the installed clang, from Debian's source package.
    Llvm,
    /// OpenMP V&V, by either compiler, from a checkout.
    Vv,
    /// The Barcelona OpenMP Tasks Suite, from a checkout.
    Bots,
    /// DataRaceBench, from a checkout.
    Drb,
    /// EPCC's microbenchmarks, from a checkout: do they end?
    Epcc,
    /// Python packages that compute with OpenMP, from PyPI: are their answers the same?
    Python,
}

impl Suite {
    fn name(self) -> &'static str {
        match self {
            Self::Gomp => "gomp",
            Self::Llvm => "llvm",
            Self::Vv => "vv",
            Self::Bots => "bots",
            Self::Drb => "drb",
            Self::Epcc => "epcc",
            Self::Python => "python",
        }
    }
}

/// The library to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    /// libgomp: its own tests are run once, as the reference.
    Gcc,
    /// libomp, which gives programs of gcc their names, too.
    Llvm,
    /// `libevenkeel_omp.so`.
    Ours,
}

/// Run the OpenMP validation suites with an OpenMP library, and count.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// Only this suite; may be repeated. Default: gomp and llvm.
    #[arg(long = "suite", value_name = "NAME")]
    suites: Vec<Suite>,
    /// Only tests with this in their names; may be repeated.
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// The library to try.
    #[arg(long, default_value = "ours")]
    library: Which,
    /// The checkout of the suite, if no package has the suite.
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Write tests.csv, summary.txt and passed.txt to this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Tests that run in parallel. Tests that need several CPUs slow each other down.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Time limit of a program, in seconds.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// A list of tests, one a line, that have to pass.
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
}

impl Args {
    fn suites(&self) -> &[Suite] {
        if self.suites.is_empty() { &[Suite::Gomp, Suite::Llvm] } else { &self.suites }
    }

    fn is_chosen(&self, name: &str) -> bool {
        let of_suite = |suite: &Suite| name.split('/').next() == Some(suite.name());
        let is_named = self.only.is_empty() || self.only.iter().any(|only| name.contains(only));
        is_named && self.suites().iter().any(of_suite)
    }
}

/// Gets the suites, runs them, and prints and writes the results.
pub fn run(args: &Args) -> Result<()> {
    let expected = args.expect.as_deref().map(read_list).transpose()?;
    let folder = target().join("suites");
    let _lock = lock(&folder)?;
    let mut tests = Vec::new();
    for suite in args.suites() {
        tests.extend(tests_of(*suite, args, &folder.join("packages"))?);
    }
    tests.retain(|test| args.is_chosen(&test.name));
    ensure!(!tests.is_empty(), "no test is called so");

    let library = library(args.library)?;
    let places = folder.join("places").join(&library.name);
    openmp::link_places(&places, &library.file)?;
    let version = |compiler| full_version(compiler).unwrap_or_else(|_| "none".to_owned());
    let compilers = format!("gcc {}, clang {}", version("gcc"), version("clang"));
    let unsupported = match args.library {
        Which::Ours => openmp::unsupported()?,
        Which::Gcc | Which::Llvm => BTreeSet::new(),
    };
    let bench = Bench {
        built: folder.join("built"),
        unsupported,
        places,
        own_of: library.own_of,
        compilers,
        limit: Duration::from_secs(args.timeout),
    };
    let trials = trial::all(&tests, &bench, usize::from(args.jobs))?;
    let summary = format!(
        "{} tests with the library {}; {}; {} s a program, {} at a time.\n\n{}",
        trials.len(),
        library.name,
        bench.compilers,
        args.timeout,
        args.jobs,
        summary::text(&trials)
    );
    print!("{summary}");
    if let Some(out) = &args.out {
        results::write(out, &trials, &summary)?;
        println!("\nwritten to {}", out.display());
    }
    match expected {
        None => Ok(()),
        Some(expected) => hold(&expect::misses(&expected, &trials, |name| args.is_chosen(name))),
    }
}

/// A lock that a run holds while the run uses the folder: a second run would build its tests in
/// the same places.
fn lock(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let lock = File::create(folder.join("lock")).context("making a lock")?;
    lock.try_lock().with_context(|| format!("another run uses {}", folder.display()))?;
    Ok(lock)
}

fn read_list(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(expect::names(&text))
}

/// An error if a test that has to pass does not.
fn hold(misses: &expect::Misses) -> Result<()> {
    for line in misses.failed.iter().chain(&misses.not_judged) {
        eprintln!("suites: expected to pass: {line}");
    }
    let failed = misses.failed.len();
    ensure!(failed == 0, "{failed} tests that have to pass do not");
    let skipped = misses.not_judged.len();
    ensure!(skipped == 0 || !is_strict(), "{skipped} tests that have to pass were not judged");
    Ok(())
}

fn tests_of(suite: Suite, args: &Args, packages: &Path) -> Result<Vec<Test>> {
    let checkout = || -> Result<PathBuf> {
        ensure!(args.suites.len() == 1, "--from is for one suite at a time");
        let Some(from) = &args.from else {
            bail!("no package holds {}; say where a checkout is: --from DIR", suite.name());
        };
        fs::canonicalize(from).with_context(|| format!("looking for {}", from.display()))
    };
    match suite {
        Suite::Gomp => {
            let fortran = fortran(packages).map_err(|error| format!("no gfortran: {error:#}"));
            gomp::tests(&packages::gcc(packages, version("gcc")?)?, &fortran)
        }
        Suite::Llvm => {
            let version = version("clang")?;
            llvm::tests(&packages::llvm(packages, version)?, &llvm::Tools::of(version))
        }
        Suite::Vv => checkouts::vv(&checkout()?),
        Suite::Bots => checkouts::bots(&checkout()?),
        Suite::Drb => checkouts::drb(&checkout()?),
        Suite::Epcc => checkouts::epcc(&checkout()?),
        Suite::Python => python::tests(packages),
    }
}

/// The installed gfortran, or one that is unpacked beside the suites.
fn fortran(packages: &Path) -> Result<gomp::Fortran> {
    if find(&["gfortran"]).is_some() {
        return Ok(gomp::Fortran { program: "gfortran".to_owned(), options: Vec::new() });
    }
    let version = version("gcc")?;
    let libgcc = PathBuf::from(asked("gcc", "-print-libgcc-file-name")?);
    let of_gcc = libgcc.parent().context("gcc does not say where its files are")?;
    let root = packages::gfortran(packages, version, of_gcc)?;
    let program = root.join(format!("usr/bin/gfortran-{version}"));
    let library = root.join("usr/lib").join(asked("gcc", "-print-multiarch")?);
    Ok(gomp::Fortran {
        program: program.display().to_string(),
        options: vec![format!("-Wl,-rpath,{}", library.display())],
    })
}

fn library(which: Which) -> Result<Library> {
    Ok(match which {
        Which::Ours => Library { name: "ours".to_owned(), file: openmp::build()?, own_of: None },
        Which::Gcc => Library {
            name: "gcc".to_owned(),
            file: library_of("gcc", "libgomp.so.1")?,
            own_of: Some(Compiler::Gcc),
        },
        Which::Llvm => Library {
            name: "llvm".to_owned(),
            file: library_of("clang", "libomp.so.5")?,
            own_of: Some(Compiler::Clang),
        },
    })
}

/// The library that a compiler links by this name.
fn library_of(compiler: &str, name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(asked(compiler, &format!("-print-file-name={name}"))?);
    // A compiler without such a file prints the bare name.
    ensure!(path.is_absolute(), "{compiler} finds no {name}");
    fs::canonicalize(&path).with_context(|| format!("looking for {}", path.display()))
}

/// The first number of a compiler's version.
fn version(compiler: &str) -> Result<u32> {
    let full = full_version(compiler)?;
    let first = full.split('.').next().unwrap_or_default();
    first.parse().with_context(|| format!("{compiler} calls its version {full}"))
}

fn full_version(compiler: &str) -> Result<String> {
    // gcc answers `-dumpversion` with the first number only.
    let option = if compiler == "gcc" { "-dumpfullversion" } else { "-dumpversion" };
    asked(compiler, option)
}

fn asked(compiler: &str, option: &str) -> Result<String> {
    let output = command(compiler).arg(option).output();
    let output = output.with_context(|| format!("starting {compiler}"))?;
    ensure!(output.status.success(), "{compiler} {option}: {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

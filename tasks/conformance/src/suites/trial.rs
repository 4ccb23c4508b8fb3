//! Runs tests, each with its own library and then with the one that is tried.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use super::build;
use super::outcome::{Outcome, judge};
use super::process;
use super::program::{Compiler, Run, Test};
use crate::openmp;
use commands::progress::Progress;

/// How the names of a test's programs begin.
const PROGRAM: &str = "test";
/// How much of a program's last words is kept.
const WORDS: usize = 160;

/// The library that is tried.
pub struct Library {
    /// Its name in the summary.
    pub name: String,
    pub file: PathBuf,
    /// The compiler whose own library this is, if any.
    pub own_of: Option<Compiler>,
}

/// Where and how tests are run.
pub struct Bench {
    /// The folder of all tests.
    pub built: PathBuf,
    /// `LD_LIBRARY_PATH` for the tried library.
    pub places: PathBuf,
    pub own_of: Option<Compiler>,
    /// Names that the tried library has, and does not support.
    pub unsupported: BTreeSet<String>,
    /// The compilers' versions, in words.
    pub compilers: String,
    pub limit: Duration,
}

/// A test that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    pub name: String,
    pub group: String,
    pub outcome: Outcome,
    /// The last line of a program that did not pass.
    pub said: String,
    /// Unsupported names that the test's programs use, if the test called one.
    pub lacks: BTreeSet<String>,
}

/// Runs all tests, some at a time, and keeps their order.
pub fn all(tests: &[Test], bench: &Bench, jobs: usize) -> Result<Vec<Trial>> {
    let next = AtomicUsize::new(0);
    let progress = Mutex::new(Progress::new("suites", tests.len(), "tests"));
    let work = || -> Result<Vec<(usize, Trial)>> {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(test) = tests.get(index) else { return Ok(done) };
            if let Ok(mut progress) = progress.lock() {
                progress.say(&test.name);
            }
            let trial = try_one(test, bench).with_context(|| format!("running {}", test.name));
            done.push((index, trial.inspect_err(|_| next.store(tests.len(), Ordering::Relaxed))?));
        }
    };
    let done: Vec<Result<Vec<(usize, Trial)>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<_>| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().map(join).collect()
    });
    if let Ok(progress) = progress.lock() {
        progress.end();
    }
    let mut trials = Vec::new();
    for some in done {
        trials.extend(some?);
    }
    trials.sort_by_key(|(index, _)| *index);
    Ok(trials.into_iter().map(|(_, trial)| trial).collect())
}

fn try_one(test: &Test, bench: &Bench) -> Result<Trial> {
    let (outcome, said) = match &test.plan {
        Err(why) => (Outcome::Skipped(why.clone()), String::new()),
        Ok(plan) => {
            let folder = folder_of(&test.name, bench);
            match build::all(&folder, &plan.builds, &bench.compilers)? {
                Err(why) => (Outcome::NotApplicable(why), String::new()),
                Ok(()) => compare(test.compiler, &plan.run, &folder, bench)?,
            }
        }
    };
    let lacks = match outcome {
        Outcome::Unsupported(_) => lacks(&test.name, bench)?,
        _ => BTreeSet::new(),
    };
    Ok(Trial { name: test.name.clone(), group: test.group.clone(), outcome, said, lacks })
}

/// Names that the programs of a test use and the library does not support.
fn lacks(name: &str, bench: &Bench) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder_of(name, bench)).context("listing a test's programs")? {
        let entry = entry?;
        let name = entry.file_name();
        // Compilers' output is in files beside the programs, with a dot in their names.
        let name = name.to_string_lossy();
        if name.starts_with(PROGRAM) && !name.contains('.') {
            let taken = openmp::taken(&entry.path())?;
            found.extend(taken.into_iter().filter(|name| bench.unsupported.contains(name)));
        }
    }
    Ok(found)
}

/// Some tests put their folder into a list of paths, which colons separate.
fn folder_of(name: &str, bench: &Bench) -> PathBuf {
    bench.built.join(name.replace(':', "."))
}

/// Runs a test with its own library first: if that fails, the test shows nothing about another
/// library.
fn compare(
    compiler: Compiler,
    run: &Run,
    folder: &Path,
    bench: &Bench,
) -> Result<(Outcome, String)> {
    let (outcome, said) = run_with(run, None, folder, "own.txt", bench.limit)?;
    if outcome != Outcome::Passed {
        let why = match outcome.detail() {
            "" => outcome.name().to_owned(),
            why => why.to_owned(),
        };
        return Ok((Outcome::NotApplicable(format!("with its own library: {why}")), said));
    }
    if bench.own_of == Some(compiler) {
        return Ok((outcome, said));
    }
    let tried = run_with(run, Some(&bench.places), folder, "tried.txt", bench.limit)?;
    if run.keeps_answer && tried.0 == Outcome::Passed {
        let answers = [answer(folder, "own.txt")?, answer(folder, "tried.txt")?];
        if answers[0] != answers[1] {
            return Ok((Outcome::Failed("another answer".to_owned()), answers[1].clone()));
        }
    }
    Ok(tried)
}

/// The first line that a program wrote.
fn answer(folder: &Path, output: &str) -> Result<String> {
    let written = process::written(&folder.join(output))?;
    Ok(written.lines().next().unwrap_or_default().to_owned())
}

fn run_with(
    run: &Run,
    places: Option<&Path>,
    folder: &Path,
    output: &str,
    limit: Duration,
) -> Result<(Outcome, String)> {
    let mut environment = run.environment.clone();
    if let Some(places) = places {
        environment.push(("LD_LIBRARY_PATH".to_owned(), places.display().to_string()));
        if run.preloads {
            let library = places.join(openmp::PLACES[0]);
            environment.push(("LD_PRELOAD".to_owned(), library.display().to_string()));
        }
    }
    let output = folder.join(output);
    let end = process::run(&run.command, &environment, folder, &output, limit)?;
    let written = process::written(&output)?;
    let outcome = judge(end, &written, run);
    let said = if outcome == Outcome::Passed { String::new() } else { last_words(&written) };
    Ok((outcome, said))
}

/// The last line that is not empty, shortened.
fn last_words(written: &str) -> String {
    let line = written.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::super::program::{Build, Plan};
    use super::*;

    /// A test whose shell script sees which library a program would load.
    fn test(name: &str, script: &str) -> Test {
        let command = ["bash", "-c", script].map(str::to_owned).to_vec();
        let build = Build { command: vec!["true".to_owned()], sources: Vec::new() };
        Test {
            name: format!("a/{name}"),
            group: "a".to_owned(),
            compiler: Compiler::Gcc,
            plan: Ok(Plan { builds: vec![build], run: Run { command, ..Run::default() } }),
        }
    }

    fn outcomes(tests: &[Test], own_of: Option<Compiler>) -> Vec<Outcome> {
        let folder = tempfile::tempdir().unwrap();
        let bench = Bench {
            built: folder.path().join("built"),
            places: folder.path().join("places"),
            own_of,
            unsupported: BTreeSet::new(),
            compilers: String::new(),
            limit: Duration::from_secs(60),
        };
        let trials = all(tests, &bench, 2).unwrap();
        let names: Vec<&str> = trials.iter().map(|trial| trial.name.as_str()).collect();
        assert!(names.is_sorted(), "{names:?}");
        trials.into_iter().map(|trial| trial.outcome).collect()
    }

    #[test]
    fn a_test_is_judged_with_the_tried_library_if_its_own_passes_it() {
        let fails = "test -z $LD_LIBRARY_PATH";
        let tests = [test("1", "true"), test("2", fails), test("3", "exit 4")];
        let not_here = Outcome::NotApplicable("with its own library: status 4".to_owned());
        assert_eq!(
            outcomes(&tests, None),
            [Outcome::Passed, Outcome::Failed("status 1".to_owned()), not_here]
        );
        assert_eq!(outcomes(&tests[1..2], Some(Compiler::Gcc)), [Outcome::Passed]);
        assert_eq!(outcomes(&tests[1..2], Some(Compiler::Clang))[0].name(), "failed");
    }

    #[test]
    fn an_answer_has_to_be_that_of_its_own_library() {
        let answers = |script| {
            let mut test = test("1", script);
            let plan = test.plan.as_mut().unwrap();
            plan.run.keeps_answer = true;
            outcomes(&[test], None).remove(0)
        };
        assert_eq!(answers("echo 1; echo $RANDOM"), Outcome::Passed);
        let another = Outcome::Failed("another answer".to_owned());
        assert_eq!(answers("echo 1$LD_LIBRARY_PATH"), another);
    }

    #[test]
    fn last_words_are_a_line() {
        assert_eq!(last_words("a\nb \n\n"), "b");
        assert_eq!(last_words(""), "");
        assert_eq!(last_words(&"x".repeat(1000)).len(), WORDS);
    }
}

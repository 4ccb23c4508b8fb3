//! Builds the programs, in a folder under cargo's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::plan::Job;
use super::runtimes::Runtime;
use commands::root;
use commands::{program, run};

/// Where the programs' sources are.
pub fn sources() -> PathBuf {
    root().join("peers")
}

/// Where cargo puts its programs, in the folder.
const RUST: &str = "rust/release/";

/// The programs that jobs run, each once, by the target of the Makefile that has them.
fn programs(jobs: &[Job]) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut programs: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for Job { work, runtime: Runtime { model, .. } } in jobs {
        programs.entry(model.target()).or_default().insert(model.executable(work.program));
    }
    programs
}

/// Arguments of make to build these programs of a target, in a folder.
fn words(folder: &Path, target: &str, programs: &BTreeSet<String>) -> Vec<String> {
    let in_folder = |program: &String| folder.join(program).display().to_string();
    let bins: Option<Vec<&str>> = programs.iter().map(|one| one.strip_prefix(RUST)).collect();
    match bins {
        Some(bins) => vec![target.to_owned(), format!("BINS={}", bins.join(" "))],
        None => programs.iter().map(in_folder).collect(),
    }
}

/// Builds only the programs of these jobs.
pub fn all(folder: &Path, jobs: &[Job]) -> Result<()> {
    for (target, programs) in programs(jobs) {
        let first = if target == "rust" { ", which takes minutes the first time" } else { "" };
        eprintln!("peers: building {target}{first}");
        let out = format!("OUT={}", folder.display());
        // Variables from the cargo around this process must not reach the cargo that make runs.
        let mut make = program("make");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_")) && name != "CARGO_HOME"
            {
                make.env_remove(name);
            }
        }
        let words = words(folder, target, &programs);
        run(make.arg("--silent").arg("-C").arg(sources()).arg(&out).args(words))
            .with_context(|| format!("building {target}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::plan::{self, Size, Work};
    use super::super::runtimes::Model;
    use super::*;

    fn told(works: &[&'static str], models: &[Model]) -> Vec<Vec<String>> {
        let works: Vec<Work> = works.iter().map(|name| Work::new(name, &[])).collect();
        let runtimes: Vec<Runtime> =
            models.iter().map(|&model| Runtime::new("any", model, false)).collect();
        let folder = Path::new("/out");
        let programs = programs(&plan::jobs(&works, &runtimes));
        programs.iter().map(|(target, programs)| words(folder, target, programs)).collect()
    }

    #[test]
    fn programs_that_nobody_asked_for_are_not_built() {
        assert_eq!(told(&["fib"], &[Model::OpenmpGcc]), [["/out/openmp-gcc/fib"]]);
        assert_eq!(
            told(&["fib", "nested"], &[Model::Rayon, Model::Evenkeel]),
            [["rust", "BINS=evenkeel-fib evenkeel-nested rayon-fib rayon-nested"]]
        );
    }

    #[test]
    fn a_program_of_several_works_is_built_once() {
        let works = plan::works(Size::Quick);
        let programs: BTreeSet<&str> = works.iter().map(|work| work.program).collect();
        let runtimes = [Runtime::new("any", Model::OpenmpGcc, false)];
        let all = super::programs(&plan::jobs(&works, &runtimes));
        assert_eq!(all["openmp-gcc"].len(), programs.len());
    }

    #[test]
    fn every_program_of_cargo_has_its_prefix() {
        let rust = [Model::Rayon, Model::RayonJoin, Model::Chili, Model::Evenkeel];
        for model in rust.into_iter().chain([Model::EvenkeelJoin, Model::EvenkeelSteps]) {
            assert!(model.executable("fib").starts_with(RUST), "{model:?}");
        }
    }
}

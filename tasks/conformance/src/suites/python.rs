//! Short jobs of Python packages that compute with OpenMP.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::program::{Compiler, Plan, Run, Test};
use commands::root;
use commands::{program, run};

/// The folder of the jobs and their requirements.
const FOLDER: &str = "openmp/tests/python";
/// Names of jobs in `programs.py`.
const JOBS: [&str; 6] = ["boosting", "faiss", "kmeans", "lightgbm", "pairwise", "xgboost"];
/// The file, in a folder with packages, that lists them.
const RECORD: &str = "installed";

/// One test a job.
pub fn tests(packages: &Path) -> Result<Vec<Test>> {
    let folder = root().join(FOLDER);
    let python = installed(&packages.join("python"), &folder.join("requirements.txt"))?;
    let test = |job: &str| {
        let words = [&python, &folder.join("programs.py")].map(|path| path.display().to_string());
        let command = words.into_iter().chain([job.to_owned()]).collect();
        let run = Run { command, preloads: true, keeps_answer: true, ..Run::default() };
        Test {
            name: format!("python/{job}"),
            group: "python".to_owned(),
            compiler: Compiler::Gcc,
            plan: Ok(Plan { builds: Vec::new(), run }),
        }
    };
    Ok(JOBS.map(test).into())
}

/// The Python of an environment that has these packages.
fn installed(folder: &Path, requirements: &Path) -> Result<PathBuf> {
    let wanted = fs::read_to_string(requirements)
        .with_context(|| format!("reading {}", requirements.display()))?;
    let (python, record) = (folder.join("bin/python"), folder.join(RECORD));
    if fs::read_to_string(&record).is_ok_and(|text| text == wanted) {
        return Ok(python);
    }
    run(program("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let options = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
    let only_wheels = ["--only-binary", ":all:", "--requirement"];
    run(program(&python.display().to_string()).args(options).args(only_wheels).arg(requirements))?;
    fs::write(&record, wanted).with_context(|| format!("writing {}", record.display()))?;
    Ok(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_tried() {
        let source = fs::read_to_string(root().join(FOLDER).join("programs.py")).unwrap();
        let (_, rest) = source.split_once("for program in (").unwrap();
        let (names, _) = rest.split_once(')').unwrap();
        let mut names: Vec<&str> = names.split(", ").collect();
        names.sort_unstable();
        assert_eq!(names, JOBS);
    }
}

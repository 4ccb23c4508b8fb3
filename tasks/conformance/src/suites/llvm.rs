//! The tests of LLVM's OpenMP runtime.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::lit::{self, Step};
use super::process::SHELL;
use super::program::{Build, Compiler, Plan, Run, Test, files};

/// The tools of this machine that the tests' commands use.
pub struct Tools {
    /// The first number of clang's version.
    pub version: u32,
    /// LLVM's own checkers, where they are.
    pub file_check: Option<PathBuf>,
    pub not: Option<PathBuf>,
}

impl Tools {
    /// Looks in the folder of LLVM's programs.
    pub fn of(version: u32) -> Self {
        let bin = PathBuf::from(format!("/usr/lib/llvm-{version}/bin"));
        let tool = |name: &str| Some(bin.join(name)).filter(|tool| tool.is_file());
        Self { version, file_check: tool("FileCheck"), not: tool("not") }
    }

    /// Features that tests may require (`lit.cfg`). Debian's libomp is built without hwloc.
    fn features(&self) -> Vec<String> {
        let clang = format!("clang-{}", self.version);
        let names = ["clang", &clang, "linux", "affinity", "ompt", "multicpu"];
        names.map(str::to_owned).to_vec()
    }
}

/// The tests of `openmp/runtime/test`, in a folder.
pub fn tests(folder: &Path, tools: &Tools) -> Result<Vec<Test>> {
    let features = tools.features();
    let features: Vec<&str> = features.iter().map(String::as_str).collect();
    let mut tests = Vec::new();
    let sources = files(folder, &["c", "cpp"]);
    for path in sources.with_context(|| format!("listing {}", folder.display()))? {
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let plan = match lit::read(&text, &features) {
            Ok(None) => continue,
            Ok(Some(lines)) => plan(folder, &path, &lines, tools),
            Err(why) => Err(why),
        };
        let file = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let group = file.split('/').next().unwrap_or_default();
        tests.push(Test {
            name: format!("llvm/{file}"),
            group: format!("llvm {group}"),
            compiler: Compiler::Clang,
            plan,
        });
    }
    Ok(tests)
}

fn plan(folder: &Path, path: &Path, lines: &lit::Lines, tools: &Tools) -> Result<Plan, String> {
    let mut builds = Vec::new();
    let mut script = vec!["set -e -o pipefail".to_owned()];
    for step in lines.commands.iter().flat_map(|command| lit::steps(command)) {
        match step {
            Step::Compile(command) => {
                let program = format!("./test-{}", builds.len() + 1);
                let command = expanded(&command, folder, path, &program, tools)?;
                let command = vec![SHELL.to_owned(), "-c".to_owned(), command];
                builds.push(Build { command, sources: vec![path.to_path_buf()] });
            }
            Step::Run(command) => {
                let program = format!("./test-{}", builds.len());
                script.push(expanded(&command, folder, path, &program, tools)?);
            }
        }
    }
    if script.len() == 1 {
        return Err("only compiles".to_owned());
    }
    if builds.is_empty() {
        return Err("compiles nothing".to_owned());
    }
    Ok(Plan {
        builds,
        run: Run {
            command: vec![SHELL.to_owned(), "-c".to_owned(), script.join("\n")],
            should_fail: lines.should_fail,
            ..Run::default()
        },
    })
}

/// A command with lit's names replaced (`lit.cfg`); longer names come first.
fn expanded(
    command: &str,
    folder: &Path,
    path: &Path,
    program: &str,
    tools: &Tools,
) -> Result<String, String> {
    let tool = |tool: &Option<PathBuf>| tool.as_ref().map(|tool| tool.display().to_string());
    let flags = format!("-I {0} -I {0}/ompt", folder.display());
    let beside = path.parent().unwrap_or(path).display().to_string();
    let names: [(&str, Option<String>); 20] = [
        (
            "%libomp-cxx-compile-c",
            own("%clangXX %openmp_flags %flags -std=c++14 -x c++ %s -o %t %libs"),
        ),
        ("%libomp-cxx-compile", own("%clangXX %openmp_flags %flags -std=c++14 %s -o %t %libs")),
        ("%libomp-c99-compile", own("%clang %openmp_flags %flags -std=c99 %s -o %t %libs")),
        ("%libomp-compile", own("%clang %openmp_flags %flags %s -o %t %libs")),
        ("%libomp-run", own("%t")),
        ("%clangXX", own("clang++")),
        ("%clang", own("clang")),
        ("%libs", own("-lm -latomic")),
        ("%openmp_flags", own("-fopenmp -pthread")),
        ("%flags-use-compiler-omp-h", Some(flags.clone())),
        ("%flags", Some(flags)),
        ("%python", own("python3")),
        ("%not", tool(&tools.not)),
        ("%sort-threads", own("sort -n -s")),
        ("%preload-tool", own("env LD_PRELOAD=%T/tool.so")),
        ("%no-as-needed-flag", own("-Wl,--no-as-needed")),
        ("%s", Some(path.display().to_string())),
        ("%S", Some(beside)),
        ("%T", own("\"$PWD\"")),
        ("%t", own(program)),
    ];
    let mut text = command.to_owned();
    for (name, value) in names {
        if text.contains(name) {
            text = text.replace(name, &value.ok_or_else(|| format!("no {name} here"))?);
        }
    }
    if text.contains("FileCheck") {
        let checker = tool(&tools.file_check).ok_or("no FileCheck here")?;
        text = text.replace("FileCheck", &checker);
    }
    Ok(text)
}

fn own(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(source: &str, file_check: Option<&str>) -> Result<Plan, String> {
        let tools = Tools { version: 14, file_check: file_check.map(PathBuf::from), not: None };
        let lines = lit::read(source, &[]).unwrap().unwrap();
        plan(Path::new("/llvm"), Path::new("/llvm/env/a.c"), &lines, &tools)
    }

    #[test]
    fn a_program_that_is_compiled_twice_is_two() {
        let source = "// RUN: %libomp-compile -DA && %libomp-run 1\n\
                      // RUN: %libomp-compile -DB && env C=D %libomp-run\n";
        let plan = plan_of(source, None).unwrap();
        let compile = "clang -fopenmp -pthread -I /llvm -I /llvm/ompt /llvm/env/a.c";
        assert_eq!(plan.builds[0].command[2], format!("{compile} -o ./test-1 -lm -latomic -DA"));
        assert_eq!(plan.builds[1].command[2], format!("{compile} -o ./test-2 -lm -latomic -DB"));
        let script = "set -e -o pipefail\n./test-1 1\nenv C=D ./test-2";
        assert_eq!(plan.run.command[2], script);
    }

    #[test]
    fn an_output_is_checked_by_llvm_or_the_test_is_skipped() {
        let source = "// RUN: %libomp-compile-and-run 2>&1 | FileCheck --p %S/b.h\n";
        let plan = plan_of(source, Some("/bin/FileCheck")).unwrap();
        assert!(plan.run.command[2].ends_with("./test-1 2>&1 | /bin/FileCheck --p /llvm/env/b.h"));
        assert_eq!(plan_of(source, None), Err("no FileCheck here".to_owned()));
    }

    #[test]
    fn a_test_that_only_compiles_is_skipped() {
        assert_eq!(plan_of("// RUN: %libomp-compile\n", None), Err("only compiles".to_owned()));
    }
}

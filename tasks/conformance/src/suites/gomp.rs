//! The tests of libgomp, from gcc's source.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::dg::{self, Directives};
use super::program::{Build, Compiler, Language, Plan, Run, Test, files};
use super::selector::Target;
use commands::whole_file;

/// Folders of the test suite, with their languages and extensions.
const FOLDERS: [(&str, Language, &[&str]); 5] = [
    ("libgomp.c", Language::C, &["c"]),
    (SHARED, Language::C, &["c"]),
    ("libgomp.c++", Language::Cxx, &["C"]),
    (SHARED, Language::Cxx, &["c"]),
    ("libgomp.fortran", Language::Fortran, &["f", "F", "f90", "F90", "f95", "f03", "f08"]),
];
/// The folder of tests that are C as well as C++.
const SHARED: &str = "libgomp.c-c++-common";
/// Headers that libgomp's configuration writes, with the lines that tests need on Linux.
const CONFIGURED: [(&str, &str); 2] =
    [("gstdint.h", "#include <stdint.h>\n"), ("config.h", "#define HAVE_PTHREAD_AFFINITY_NP 1\n")];

/// The compiler of Fortran.
pub struct Fortran {
    pub program: String,
    /// Compiler options that give the folder of its library.
    pub options: Vec<String>,
}

/// The folder of the tests, and the Fortran compiler or the reason that none is found.
struct Suite<'a> {
    source: &'a Path,
    fortran: &'a Result<Fortran, String>,
}

/// The tests below gcc's source.
pub fn tests(source: &Path, fortran: &Result<Fortran, String>) -> Result<Vec<Test>> {
    for (name, text) in CONFIGURED {
        whole_file::write(&source.join("libgomp"), name, text)?;
    }
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find_map(|line| line.strip_prefix("flags")).unwrap_or_default();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let triple = format!("{}-pc-linux-gnu", std::env::consts::ARCH);
    let suite = Suite { source, fortran };
    let mut tests = Vec::new();
    for (folder, language, extensions) in FOLDERS {
        let folder = source.join("libgomp/testsuite").join(folder);
        let target = Target { triple: &triple, language, cpu_flags: &flags };
        let sources = files(&folder, extensions);
        for path in sources.with_context(|| format!("listing {}", folder.display()))? {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            tests.push(test(&suite, &path, &text, &target));
        }
    }
    Ok(tests)
}

fn test(suite: &Suite, path: &Path, text: &str, target: &Target) -> Test {
    let folder = suite.source.join("libgomp/testsuite");
    let file = path.strip_prefix(&folder).unwrap_or(path).display().to_string();
    let folder = file.split('/').next().unwrap_or_default();
    let variant = match (folder == SHARED, target.language) {
        (false, _) => "",
        (true, Language::Cxx) => ":c++",
        (true, _) => ":c",
    };
    let directives = dg::read(text, target);
    Test {
        name: format!("gomp/{file}{variant}"),
        group: format!("gomp {folder}{variant}"),
        compiler: Compiler::Gcc,
        plan: directives.and_then(|directives| plan(suite, path, directives, target.language)),
    }
}

fn plan(
    suite: &Suite,
    path: &Path,
    directives: Directives,
    language: Language,
) -> Result<Plan, String> {
    let beside = path.parent().unwrap_or(path);
    let further = directives.sources.iter().map(|name| beside.join(name));
    let sources: Vec<PathBuf> = [path.to_path_buf()].into_iter().chain(further).collect();
    let mut command = match language {
        Language::Fortran => {
            let Fortran { program, options } = suite.fortran.as_ref().map_err(String::clone)?;
            let mut command = vec![program.clone()];
            command.extend(options.iter().cloned());
            // Here `dg-options` are added to a level of optimization.
            command.push("-O2".to_owned());
            command
        }
        language => vec![Compiler::Gcc.program(language == Language::Cxx).to_owned()],
    };
    command.push("-fopenmp".to_owned());
    for folder in ["include", "libgomp"] {
        command.push(format!("-I{}", suite.source.join(folder).display()));
    }
    command.extend(sources.iter().map(|source| source.display().to_string()));
    command.extend(["-o".to_owned(), "test".to_owned()]);
    // Libraries among the options have to follow the sources.
    command.extend(directives.options);
    command.push("-lm".to_owned());
    let run = Run {
        command: vec!["./test".to_owned()],
        environment: directives.environment,
        should_fail: directives.should_fail,
        output: directives.output,
        ..Run::default()
    };
    Ok(Plan { builds: vec![Build { command, sources }], run })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(file: &str, text: &str, language: Language) -> Test {
        let path = Path::new("/gcc/libgomp/testsuite").join(file);
        let fortran = Err("no gfortran".to_owned());
        let suite = Suite { source: Path::new("/gcc"), fortran: &fortran };
        let target = Target { triple: "x86_64-pc-linux-gnu", language, cpu_flags: &[] };
        super::test(&suite, &path, text, &target)
    }

    #[test]
    fn a_shared_test_is_one_in_each_language() {
        let c = test("libgomp.c-c++-common/a.c", "", Language::C);
        let cxx = test("libgomp.c-c++-common/a.c", "", Language::Cxx);
        assert_eq!(c.name, "gomp/libgomp.c-c++-common/a.c:c");
        assert_eq!(cxx.group, "gomp libgomp.c-c++-common:c++");
        assert_eq!(cxx.plan.unwrap().builds[0].command[0], "g++");
    }

    #[test]
    fn further_sources_are_beside_the_first() {
        let text = "/* { dg-additional-sources b.c } */\n/* { dg-options \"-O1\" } */\n";
        let plan = test("libgomp.c/a.c", text, Language::C).plan.unwrap();
        let folder = "/gcc/libgomp/testsuite/libgomp.c";
        assert_eq!(
            plan.builds[0].command.join(" "),
            format!(
                "gcc -fopenmp -I/gcc/include -I/gcc/libgomp {folder}/a.c {folder}/b.c -o test \
                 -O1 -lm"
            )
        );
    }

    #[test]
    fn without_a_compiler_of_fortran_its_tests_are_skipped() {
        let test = test("libgomp.fortran/a.f90", "! { dg-do run }", Language::Fortran);
        assert_eq!(test.plan, Err("no gfortran".to_owned()));
    }
}

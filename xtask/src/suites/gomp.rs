//! The tests of libgomp, from gcc's source.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::dg::{self, Directives};
use super::program::{Build, Compiler, Plan, Run, Test, files};
use super::selector::Target;
use crate::whole_file;

/// Folders of the test suite, with whether they are compiled as C++; the shared ones as both.
const FOLDERS: [(&str, bool); 4] = [
    ("libgomp.c", false),
    ("libgomp.c-c++-common", false),
    ("libgomp.c++", true),
    ("libgomp.c-c++-common", true),
];
/// Headers that libgomp's configuration writes; what of them tests need, on Linux.
const CONFIGURED: [(&str, &str); 2] =
    [("gstdint.h", "#include <stdint.h>\n"), ("config.h", "#define HAVE_PTHREAD_AFFINITY_NP 1\n")];

/// The tests below gcc's source.
pub fn tests(source: &Path) -> Result<Vec<Test>> {
    for (name, text) in CONFIGURED {
        whole_file::write(&source.join("libgomp"), name, text)?;
    }
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find_map(|line| line.strip_prefix("flags")).unwrap_or_default();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let triple = format!("{}-pc-linux-gnu", std::env::consts::ARCH);
    let suite = source.join("libgomp/testsuite");
    let mut tests = Vec::new();
    for (folder, is_cxx) in FOLDERS {
        let folder = suite.join(folder);
        let extensions: &[&str] = if folder.ends_with("libgomp.c++") { &["C"] } else { &["c"] };
        let target = Target { triple: &triple, is_cxx, cpu_flags: &flags };
        let sources = files(&folder, extensions);
        for path in sources.with_context(|| format!("listing {}", folder.display()))? {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            tests.push(test(source, &path, &text, &target));
        }
    }
    Ok(tests)
}

fn test(source: &Path, path: &Path, text: &str, target: &Target) -> Test {
    let suite = source.join("libgomp/testsuite");
    let file = path.strip_prefix(&suite).unwrap_or(path).display().to_string();
    let folder = file.split('/').next().unwrap_or_default();
    let is_shared = folder == "libgomp.c-c++-common";
    let language = if target.is_cxx { "c++" } else { "c" };
    let variant = if is_shared { format!(":{language}") } else { String::new() };
    let directives = dg::read(text, target);
    Test {
        name: format!("gomp/{file}{variant}"),
        group: format!("gomp {folder}{variant}"),
        compiler: Compiler::Gcc,
        plan: directives.map(|directives| plan(source, path, directives, target.is_cxx)),
    }
}

fn plan(source: &Path, path: &Path, directives: Directives, is_cxx: bool) -> Plan {
    let beside = path.parent().unwrap_or(path);
    let further = directives.sources.iter().map(|name| beside.join(name));
    let sources: Vec<PathBuf> = [path.to_path_buf()].into_iter().chain(further).collect();
    let mut command = vec![Compiler::Gcc.program(is_cxx).to_owned(), "-fopenmp".to_owned()];
    for folder in ["include", "libgomp"] {
        command.push(format!("-I{}", source.join(folder).display()));
    }
    command.extend(sources.iter().map(|source| source.display().to_string()));
    command.extend(["-o".to_owned(), "test".to_owned()]);
    // Libraries among the options have to follow the sources.
    command.extend(directives.options);
    command.push("-lm".to_owned());
    Plan {
        builds: vec![Build { command, sources }],
        run: Run {
            command: vec!["./test".to_owned()],
            environment: directives.environment,
            should_fail: directives.should_fail,
            output: directives.output,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Target = Target { triple: "x86_64-pc-linux-gnu", is_cxx: false, cpu_flags: &[] };

    #[test]
    fn a_shared_test_is_one_in_each_language() {
        let path = Path::new("/gcc/libgomp/testsuite/libgomp.c-c++-common/a.c");
        let c = test(Path::new("/gcc"), path, "", &C);
        let cxx = test(Path::new("/gcc"), path, "", &Target { is_cxx: true, ..C });
        assert_eq!(c.name, "gomp/libgomp.c-c++-common/a.c:c");
        assert_eq!(cxx.group, "gomp libgomp.c-c++-common:c++");
        assert_eq!(cxx.plan.unwrap().builds[0].command[0], "g++");
    }

    #[test]
    fn further_sources_are_beside_the_first() {
        let path = Path::new("/gcc/libgomp/testsuite/libgomp.c/a.c");
        let text = "/* { dg-additional-sources b.c } */\n/* { dg-options \"-O1\" } */\n";
        let plan = test(Path::new("/gcc"), path, text, &C).plan.unwrap();
        let folder = "/gcc/libgomp/testsuite/libgomp.c";
        assert_eq!(
            plan.builds[0].command.join(" "),
            format!(
                "gcc -fopenmp -I/gcc/include -I/gcc/libgomp {folder}/a.c {folder}/b.c -o test \
                 -O1 -lm"
            )
        );
    }
}

//! Suites that no package has, from a checkout of the user.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::bots;
use super::program::{Build, Compiler, Plan, Run, Test, files};

/// Each program is one test for each compiler.
const COMPILERS: [(Compiler, &str); 2] = [(Compiler::Gcc, "gcc"), (Compiler::Clang, "clang")];
/// Text in sources that map data to devices; without a device they run on the host.
const OFFLOADS: [&str; 2] = ["omp target", "declare target"];

/// A program of such a suite, for either compiler.
pub struct Program {
    /// From the suite's own folder on.
    pub name: String,
    pub group: String,
    pub sources: Vec<PathBuf>,
    /// Of the compiler: folders, definitions.
    pub options: Vec<String>,
    pub arguments: Vec<String>,
    /// Texts that the output has to contain.
    pub output: Vec<String>,
}

/// The programs of OpenMP V&V: every source is one, and ends with the number of its errors.
pub fn vv(checkout: &Path) -> Result<Vec<Test>> {
    let folder = checkout.join("tests");
    let include = format!("-I{}", checkout.join("ompvv").display());
    let mut programs = Vec::new();
    for path in listed(&folder)? {
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let name = relative(&path, &folder);
        let version = name.split('/').next().unwrap_or_default();
        let offloads = OFFLOADS.iter().any(|pragma| text.contains(pragma));
        let group = format!("vv {version}{}", if offloads { " target" } else { "" });
        programs.push(Program { options: vec![include.clone()], ..simple(name, group, path) });
    }
    tests("vv", programs, &folder)
}

/// The programs of DataRaceBench: those with a race have only to end.
pub fn drb(checkout: &Path) -> Result<Vec<Test>> {
    let folder = checkout.join("micro-benchmarks");
    let utilities = folder.join("utilities");
    let mut programs = Vec::new();
    for path in listed(&folder)?.into_iter().filter(|path| path.parent() == Some(&folder)) {
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let name = relative(&path, &folder);
        let has_race =
            path.file_stem().is_some_and(|stem| stem.as_encoded_bytes().ends_with(b"yes"));
        let group = format!("drb {}", if has_race { "races" } else { "no races" });
        let mut program = simple(name, group, path);
        if text.contains("PolyBench") {
            program.sources.push(utilities.join("polybench.c"));
            program.options = vec![
                format!("-I{}", folder.display()),
                format!("-I{}", utilities.display()),
                "-DPOLYBENCH_NO_FLUSH_CACHE".to_owned(),
                "-DPOLYBENCH_TIME".to_owned(),
                "-D_POSIX_C_SOURCE=200112L".to_owned(),
            ];
        }
        programs.push(program);
    }
    tests("drb", programs, &folder)
}

/// EPCC's microbenchmarks, on the shortest times: do they end?
pub fn epcc(checkout: &Path) -> Result<Vec<Test>> {
    let folder = checkout.join("openmpbench_C_v40");
    let arguments = ["--outer-repetitions", "1", "--test-time", "100"].map(str::to_owned);
    let programs = ["syncbench", "schedbench", "taskbench", "arraybench"].map(|name| {
        let sources = [name, "common"].map(|name| folder.join(format!("{name}.c"))).to_vec();
        // For arraybench: how long its array is.
        let options = vec!["-DIDA=729".to_owned()];
        let arguments = arguments.to_vec();
        let path = folder.join(name);
        let simple = simple(name.to_owned(), "epcc".to_owned(), path);
        Program { sources, options, arguments, ..simple }
    });
    ensure!(folder.is_dir(), "no {}: is this a checkout of the suite?", folder.display());
    tests("epcc", programs.into(), &folder)
}

/// The Barcelona OpenMP Tasks Suite, on small inputs; the programs check their own results.
pub fn bots(checkout: &Path) -> Result<Vec<Test>> {
    let folder = checkout.join("omp-tasks");
    let mut programs = Vec::new();
    for app in &bots::APPS {
        let sources = listed(&folder.join(app.folder))?;
        programs.extend(bots::programs(checkout, app, &sources));
    }
    tests("bots", programs, &folder)
}

fn simple(name: String, group: String, path: PathBuf) -> Program {
    let (options, arguments, output) = (Vec::new(), Vec::new(), Vec::new());
    Program { name, group, sources: vec![path], options, arguments, output }
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    files(folder, &["c", "cpp"])
        .with_context(|| format!("listing {}: is this a checkout of the suite?", folder.display()))
}

fn relative(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// Every program as a test of every compiler.
fn tests(suite: &str, programs: Vec<Program>, folder: &Path) -> Result<Vec<Test>> {
    ensure!(!programs.is_empty(), "no program in {}", folder.display());
    let compiled = |(compiler, by): (Compiler, &str)| {
        let test = |program: &Program| Test {
            name: format!("{suite}/{}:{by}", program.name),
            group: format!("{}, {by}", program.group),
            compiler,
            plan: Ok(plan(program, compiler)),
        };
        programs.iter().map(test).collect::<Vec<_>>()
    };
    Ok(COMPILERS.into_iter().flat_map(compiled).collect())
}

fn plan(program: &Program, compiler: Compiler) -> Plan {
    let is_cxx = program.sources[0].extension().is_some_and(|extension| extension == "cpp");
    let mut command = vec![compiler.program(is_cxx).to_owned()];
    command.extend(["-fopenmp", "-O2", "-w"].map(str::to_owned));
    command.extend(program.options.iter().cloned());
    command.extend(program.sources.iter().map(|source| source.display().to_string()));
    command.extend(["-o", "test", "-lm"].map(str::to_owned));
    let arguments = program.arguments.iter().cloned();
    Plan {
        builds: vec![Build { command, sources: program.sources.clone() }],
        run: Run {
            command: ["./test".to_owned()].into_iter().chain(arguments).collect(),
            output: program.output.clone(),
            ..Run::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkout(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn a_source_of_vv_is_a_test_of_each_compiler() {
        let checkout = checkout(&[
            ("tests/5.0/task/a.c", "#pragma omp task\n"),
            ("tests/5.0/target/b.cpp", "#pragma omp target map(a)\n"),
        ]);
        let tests = vv(checkout.path()).unwrap();
        let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "vv/5.0/target/b.cpp:gcc",
                "vv/5.0/task/a.c:gcc",
                "vv/5.0/target/b.cpp:clang",
                "vv/5.0/task/a.c:clang"
            ]
        );
        assert_eq!(tests[0].group, "vv 5.0 target, gcc");
        let plan = tests[2].plan.as_ref().unwrap();
        assert_eq!(plan.builds[0].command[0], "clang++");
    }

    #[test]
    fn polybench_is_compiled_with_its_utilities() {
        let checkout = checkout(&[
            ("micro-benchmarks/a-no.c", "/* PolyBench */"),
            ("micro-benchmarks/b-yes.c", ""),
            ("micro-benchmarks/utilities/polybench.c", ""),
        ]);
        let tests = drb(checkout.path()).unwrap();
        assert_eq!(tests.len(), 4);
        assert_eq!(tests[1].group, "drb races, gcc");
        assert_eq!(tests[0].plan.as_ref().unwrap().builds[0].sources.len(), 2);
    }

    #[test]
    fn another_folder_is_refused() {
        let checkout = checkout(&[("a.c", "")]);
        for of in [vv, drb, epcc, bots] {
            let error = of(checkout.path()).unwrap_err().to_string();
            assert!(error.contains("is this a checkout of the suite?"), "{error}");
        }
    }
}

//! The library under programs that gcc and clang compiled for their own libraries.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};

use commands::root;
use commands::{find, program, run as run_program, target};

use crate::parallel;

/// The programs; each prints `ok` and ends with status 0, or reports its error.
const PROGRAMS: &str = "openmp/tests/c";
/// The names under which gcc's and clang's programs look for their libraries.
pub const PLACES: [&str; 2] = ["libgomp.so.1", "libomp.so.5"];

/// Runs every program of either compiler, by every way to load the library.
pub fn run(library: &Path) -> Result<()> {
    let folder = target().join("openmp/trial");
    let places = folder.join("places");
    link_places(&places, library)?;
    let compilers: Vec<&'static str> =
        ["gcc", "clang"].into_iter().filter_map(|name| find(&[name])).collect();
    ensure!(!compilers.is_empty(), "neither gcc nor clang here");
    let of = |&compiler: &&'static str| run_all(compiler, library, &folder, &places);
    let mut runs = parallel::count(&compilers, of)?;
    if compilers.len() == 2 {
        runs += run_two(library, &folder, &places)?;
    }
    println!("{runs} runs of programs of gcc and clang");
    Ok(())
}

/// Runs the programs of one compiler by every way to load the library, and counts the runs.
fn run_all(compiler: &'static str, library: &Path, folder: &Path, places: &Path) -> Result<u32> {
    let beside = library.parent().unwrap_or(library);
    let mut runs = 0;
    for source in sources(compiler)? {
        let object = compile(compiler, &source, folder)?;
        let found = link(compiler, &source, &object, None)?;
        let linked = link(compiler, &source, &object, Some(library))?;
        let ways = [
            ("preloaded", &found, "LD_PRELOAD", library),
            ("by name", &found, "LD_LIBRARY_PATH", places),
            ("linked", &linked, "LD_LIBRARY_PATH", beside),
        ];
        for (way, program, variable, value) in ways {
            let mut program = Command::new(program);
            program.env(variable, value).env("EVENKEEL_TEST_OMP", library);
            expect(&source, way, &mut program)?;
            runs += 1;
        }
    }
    Ok(runs)
}

/// Makes a folder for `LD_LIBRARY_PATH`, with links of the compilers' libraries' names to another.
pub fn link_places(folder: &Path, library: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    for name in PLACES {
        let place = folder.join(name);
        let _ = fs::remove_file(&place);
        symlink(library, &place).with_context(|| format!("linking {}", place.display()))?;
    }
    Ok(())
}

/// A program of gcc with a part from clang needs both libraries, and loads ours once.
fn run_two(library: &Path, folder: &Path, places: &Path) -> Result<u32> {
    let source = |name| root().join(PROGRAMS).join("two").join(name);
    let (main, part) = (source("main.c"), source("part.c"));
    let (whole, shared) = (folder.join("two"), folder.join("libpart.so"));
    let options = ["-fopenmp", "-O1", "-Wall", "-Werror"];
    let mut clang = program("clang");
    run_program(clang.args(options).args(["-shared", "-fPIC", "-o"]).arg(&shared).arg(part))?;
    let mut gcc = program("gcc");
    run_program(gcc.args(options).arg("-o").arg(&whole).arg(&main).arg(&shared).arg("-ldl"))?;
    expect(&main, "preloaded", Command::new(&whole).env("LD_PRELOAD", library))?;
    expect(&main, "by name", Command::new(&whole).env("LD_LIBRARY_PATH", places))?;
    Ok(2)
}

/// The programs for a compiler: `NAME.c` and `NAME.cpp` for either, `NAME.gcc.c` and
/// `NAME.clang.c` for one.
pub(super) fn sources(compiler: &str) -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(root().join(PROGRAMS)).context("listing the programs")? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let words: Vec<&str> = name.split('.').collect();
        match words[..] {
            [_, "c" | "cpp"] => sources.push(path),
            [_, only, "c"] if only == compiler => sources.push(path),
            _ => {}
        }
    }
    sources.sort();
    Ok(sources)
}

/// The compiler's driver for the language of a source.
fn driver(compiler: &'static str, source: &Path) -> &'static str {
    let is_cxx = source.extension().is_some_and(|extension| extension == "cpp");
    match (compiler, is_cxx) {
        ("gcc", true) => "g++",
        ("clang", true) => "clang++",
        _ => compiler,
    }
}

/// Compiles a program and returns its object file.
fn compile(compiler: &'static str, source: &Path, folder: &Path) -> Result<PathBuf> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let object = folder.join(format!("{stem}.{compiler}.o"));
    let mut cc = program(driver(compiler, source));
    cc.args(["-O1", "-g", "-Wall", "-Werror", "-fopenmp", "-c"]).arg(source);
    run_program(cc.arg("-o").arg(&object))?;
    Ok(object)
}

/// Links an object with the compiler's own library, or with ours.
fn link(
    compiler: &'static str,
    source: &Path,
    object: &Path,
    with: Option<&Path>,
) -> Result<PathBuf> {
    let output = object.with_extension(if with.is_some() { "linked" } else { "found" });
    let mut cc = program(driver(compiler, source));
    // A tool in a program is found by its name.
    cc.arg("-rdynamic").arg(object).arg("-o").arg(&output);
    match with {
        None => cc.arg("-fopenmp"),
        // With their own library linked, `-fopenmp` would find that.
        Some(library) => cc.args(["-fopenmp", "-Wl,--as-needed"]).arg(library),
    };
    // `--as-needed` drops the compiler's library, which comes after ours and resolves no name.
    run_program(cc.arg("-ldl"))?;
    Ok(output)
}

pub(super) fn expect(source: &Path, way: &str, command: &mut Command) -> Result<()> {
    let Output { status, stdout, stderr } = command.output().context("starting a program")?;
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    if !status.success() || stdout != b"ok\n" {
        let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        bail!("{name}, {way}: {status}\n{out}{err}");
    }
    Ok(())
}

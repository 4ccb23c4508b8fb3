//! clang's programs and the library, all under ThreadSanitizer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::{TABLES, link, symbols, trial};
use crate::sanitizer;
use commands::{cargo, program, root, run as run_program, target};

/// Programs that the sanitizer cannot run: `exits.c` ends the process while threads begin, where
/// the sanitizer stops, and `no_memory.c` limits the memory to less than the sanitizer needs.
const LEFT_OUT: [&str; 2] = ["exits.c", "no_memory.c"];
/// Threads; the machine may have fewer.
const THREADS: &str = "4";

/// Builds the library and the programs for the sanitizer, and runs them.
pub fn run() -> Result<()> {
    let build = ["build", "--release", "--package", "evenkeel-openmp"];
    run_program(sanitizer::threads(cargo().args(build)))?;
    let folder = target().join("openmp/threads");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let tables = symbols::tables(&root().join(TABLES))?;
    let archive = sanitizer::folder().join("libevenkeel_openmp.a");
    let library = link::library(&tables, &folder, Some(archive))?;
    let places = folder.join("places");
    trial::link_places(&places, &library)?;

    let mut runs = 0;
    for source in trial::sources("clang")? {
        let name = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if LEFT_OUT.contains(&name.as_str()) || !name.ends_with(".c") {
            continue;
        }
        let mut program = Command::new(compile(&source, &folder)?);
        program.current_dir(&folder).env("LD_LIBRARY_PATH", &places);
        program.env("EVENKEEL_TEST_OMP", &library).env("OMP_NUM_THREADS", THREADS);
        trial::expect(&source, "watched", sanitizer::watched(&mut program))?;
        runs += 1;
    }
    println!("{runs} programs of clang without a data race; left out: {}", LEFT_OUT.join(", "));
    Ok(())
}

/// Compiles one program with all of rustc's sanitizer runtime, which the library needs.
fn compile(source: &Path, folder: &Path) -> Result<PathBuf> {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let output = folder.join(format!("{stem}.watched"));
    let mut clang = program("clang");
    clang.args(["-O1", "-g", "-fsanitize=thread", "-fno-sanitize-link-runtime", "-fopenmp"]);
    clang.arg(source).arg("-o").arg(&output).arg("-Wl,--whole-archive").arg(sanitizer::library()?);
    clang.args(["-Wl,--no-whole-archive", "-rdynamic", "-lpthread", "-ldl", "-lm", "-lrt"]);
    run_program(&mut clang)?;
    Ok(output)
}

//! From Rust's static library to the shared one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::exports;
use super::symbols::{self, Symbol};
use commands::{cargo, program, run, target};

/// The library's own name. Programs also find the file under the names of the libraries that the
/// file replaces, so a program that needs both loads only one library.
const NAME: &str = "libevenkeel_omp.so";

/// Builds the library in a folder, from the static library `watched` if given. That one was built
/// for a sanitizer, whose functions the program provides.
pub fn library(
    symbols: &BTreeSet<Symbol>,
    folder: &Path,
    watched: Option<PathBuf>,
) -> Result<PathBuf> {
    let is_watched = watched.is_some();
    let archive = watched.map_or_else(archive, Ok)?;
    let exports = exports::of(symbols);
    let machine = exports::machine(std::env::consts::ARCH)?;
    let assembly = folder.join("exports.s");
    let script = folder.join("exports.map");
    let defined = defined(&archive)?;
    println!("{}", exports::summary(&exports, &defined));
    let text = exports::assembly(&exports, &defined, &machine);
    fs::write(&assembly, text).context("writing exports.s")?;
    fs::write(&script, exports::version_script(&exports)).context("writing exports.map")?;

    let library = folder.join(NAME);
    let mut cc = program("cc");
    cc.args(["-shared", "-o"]).arg(&library);
    cc.arg(format!("-Wl,-soname,{NAME}"));
    cc.arg(format!("-Wl,--version-script={}", script.display()));
    // No undefined names; calls among our functions never go to another loaded library; and the
    // library is never unloaded, because its threads run its code.
    if !is_watched {
        cc.arg("-Wl,-z,defs");
    }
    cc.args(["-Wl,-Bsymbolic", "-Wl,-z,nodelete", "-Wl,-z,now", "-Wl,-z,relro"]);
    cc.args(["-Wl,--gc-sections", "-Wl,--whole-archive"]).arg(&archive);
    cc.arg("-Wl,--no-whole-archive").arg(&assembly);
    cc.args(["-lgcc_s", "-lpthread", "-lm", "-ldl", "-lc"]);
    run(&mut cc)?;
    Ok(library)
}

/// The names that are written, of all that are exported.
pub fn supported() -> Result<BTreeSet<String>> {
    defined(&archive()?)
}

/// Builds the static library.
fn archive() -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--quiet", "--package", "evenkeel-openmp"];
    run(cargo().args(build))?;
    Ok(target().join("release/libevenkeel_openmp.a"))
}

/// The global names that the static library defines. Not by nm, whose plugins try to read the
/// bitcode in Rust's objects.
fn defined(archive: &Path) -> Result<BTreeSet<String>> {
    let listed = symbols::readelf("--syms", archive)?;
    Ok(listed.into_iter().map(|listed| listed.name).collect())
}

//! `cargo c-interface`: the task runtime for C and C++, installed like other libraries: a header,
//! a shared and a static library, and a file for pkg-config.

mod trial;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::openmp;
use commands::{cargo, root, run as run_program, target};

/// The header, which is installed unchanged.
const HEADER: &str = "c/include/evenkeel_rt.h";
/// The shared library, by the name that programs look for; `c/build.rs` sets this soname.
const SHARED: &str = "libevenkeel_rt.so.0";
/// Prefix of every exported name.
const PREFIX: &str = "ekrt_";

/// Build the task runtime's library and header for C.
#[derive(clap::Args)]
pub struct Args {
    /// The folder that gets `include` and `lib`; default: target/c-interface.
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
    /// Then compare the library's names with the header, and run programs of gcc and clang.
    #[arg(long)]
    test: bool,
}

/// Builds and installs the library, and tests the installation if asked.
pub fn run(args: &Args) -> Result<()> {
    let folder = args.prefix.clone().unwrap_or_else(|| target().join("c-interface"));
    // Relative to the user's working directory.
    let folder = std::path::absolute(&folder).context("finding the folder")?;
    install(&folder)?;
    println!("{}", folder.display());
    if args.test {
        let runs = test(&folder)?;
        ensure!(runs > 0, "neither gcc nor clang here");
    }
    Ok(())
}

fn test(folder: &Path) -> Result<u32> {
    let names = compare(folder)?;
    let runs = trial::run(folder)?;
    println!("{names} names as in the header, {runs} runs of C and C++ programs");
    Ok(runs)
}

/// Builds the libraries, and installs them, the header and the pkg-config file into a folder.
fn install(folder: &Path) -> Result<()> {
    let build = ["build", "--release", "--locked", "--quiet", "--package", "evenkeel-runtime-c"];
    run_program(cargo().args(build))?;
    let (include, lib) = (folder.join("include"), folder.join("lib"));
    let described = lib.join("pkgconfig");
    for made in [&include, &described] {
        fs::create_dir_all(made).with_context(|| format!("making {}", made.display()))?;
    }
    let built = target().join("release");
    put(&root().join(HEADER), &include.join("evenkeel_rt.h"))?;
    put(&built.join("libevenkeel_rt.a"), &lib.join("libevenkeel_rt.a"))?;
    put(&built.join("libevenkeel_rt.so"), &lib.join(SHARED))?;
    let link = lib.join("libevenkeel_rt.so");
    let _ = fs::remove_file(&link);
    symlink(SHARED, &link).with_context(|| format!("linking {}", link.display()))?;
    let template = root().join("c/evenkeel-rt.pc.in");
    let template = fs::read_to_string(template).context("reading evenkeel-rt.pc.in")?;
    let text = template.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    fs::write(described.join("evenkeel-rt.pc"), text).context("writing evenkeel-rt.pc")
}

/// Copies a file; a program that runs with the one before keeps that.
fn put(from: &Path, to: &Path) -> Result<()> {
    let _ = fs::remove_file(to);
    fs::copy(from, to).with_context(|| format!("copying to {}", to.display()))?;
    Ok(())
}

/// An error unless the library exports exactly the names that the header declares; returns how
/// many.
fn compare(folder: &Path) -> Result<usize> {
    let header = fs::read_to_string(root().join(HEADER)).context("reading the header")?;
    let declared = declared(&header);
    let exported = openmp::exported(&folder.join("lib").join(SHARED))?;
    let exported: BTreeSet<String> = exported.into_iter().map(|symbol| symbol.name).collect();
    let missing: Vec<&str> = declared.difference(&exported).map(String::as_str).collect();
    ensure!(missing.is_empty(), "declared, but not exported: {}", missing.join(", "));
    let foreign: Vec<&str> = exported.difference(&declared).map(String::as_str).collect();
    ensure!(foreign.is_empty(), "exported, but not declared: {}", foreign.join(", "));
    Ok(declared.len())
}

/// The functions that a header declares and does not define, each at the beginning of a line.
fn declared(header: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let is_outside = line.starts_with(|c: char| c.is_ascii_lowercase());
        let words = line.split('(').next()?.rsplit([' ', '*']).next()?;
        let is_ours = line.contains('(') && words.starts_with(PREFIX);
        (is_outside && is_ours && !line.starts_with("static")).then(|| words.to_owned())
    };
    header.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_told_from_the_rest() {
        let header = "/* ekrt_no() */\n#define EKRT_NO(x) ekrt_no(x)\nint ekrt_open(void);\n\
             struct ekrt_task *ekrt_create(void (*function)(void *), size_t bytes,\n\
             \t\t\t      int ekrt_no(void));\nstatic inline int ekrt_no(void)\n{\n\
             \treturn ekrt_no(1);\n}\nstruct ekrt_no {\n";
        let names = ["ekrt_create", "ekrt_open"].map(str::to_owned);
        assert_eq!(declared(header), BTreeSet::from(names));
    }
}

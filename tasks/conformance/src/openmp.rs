//! `cargo openmp`: `libevenkeel_omp.so`, the OpenMP library that programs of gcc and clang
//! load in place of their own.
//!
//! rustc gives every shared library an anonymous version script of its own, which excludes named
//! version nodes. So `evenkeel-openmp` is built as a static library, and the C compiler links it
//! with the names and nodes of `openmp/symbols`.

mod exports;
mod link;
mod symbols;
mod trial;
mod watched;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

pub use symbols::{exported, taken};
pub use trial::{PLACES, link_places};
pub use watched::run as run_watched;

use commands::root;
use commands::target;

/// Where the tables of names are.
const TABLES: &str = "openmp/symbols";

/// Build the OpenMP library.
#[derive(clap::Args)]
pub struct Args {
    /// Build nothing; print the names that a library exports, in the format of `openmp/symbols`.
    #[arg(long, value_name = "LIBRARY")]
    list: Option<PathBuf>,
    /// Then compare the library's names with the tables, and run programs of gcc and clang.
    #[arg(long)]
    test: bool,
}

/// Builds the library, and tests the build if asked.
pub fn run(args: &Args) -> Result<()> {
    if let Some(library) = &args.list {
        for symbol in symbols::exported(library)? {
            println!("{symbol}");
        }
        return Ok(());
    }
    if args.test {
        return test();
    }
    println!("{}", build()?.display());
    Ok(())
}

/// Builds the library, compares its names with the tables, and runs the test programs.
pub fn test() -> Result<()> {
    let library = build()?;
    println!("{}", library.display());
    compare(&library)?;
    trial::run(&library)
}

/// Builds the library and returns its path.
pub fn build() -> Result<PathBuf> {
    let tables = symbols::tables(&root().join(TABLES))?;
    let folder = target().join("openmp");
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    link::library(&tables, &folder, None)
}

/// The names that the library exports and does not support.
pub fn unsupported() -> Result<BTreeSet<String>> {
    let supported = link::supported()?;
    let names = symbols::tables(&root().join(TABLES))?.into_iter().map(|symbol| symbol.name);
    Ok(names.filter(|name| !supported.contains(name)).collect())
}

/// An error unless a library exports exactly the names of the tables, with their versions.
fn compare(library: &Path) -> Result<()> {
    let tables = symbols::tables(&root().join(TABLES))?;
    let found = symbols::exported(library)?;
    let missing: Vec<String> = tables.difference(&found).map(ToString::to_string).collect();
    ensure!(missing.is_empty(), "not exported: {}", missing.join(", "));
    let foreign: Vec<String> = found.difference(&tables).map(ToString::to_string).collect();
    ensure!(foreign.is_empty(), "exported, but in no table: {}", foreign.join(", "));
    println!("{} names with their versions", found.len());
    Ok(())
}

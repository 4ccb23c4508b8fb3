//! Upstream's `scx_simple`, compiled to be loaded beside ours.

use std::fs;
use std::path::Path;
use std::process::Command;

use ::lab::Upstream;
use anyhow::{Context, Result, ensure};

use crate::command;

/// The compiled scheduler, and its object file.
const NAME: &str = "scx_simple";
pub const OBJECT: &str = "scx_simple.bpf.o";
/// Our program that loads the object.
pub const LOADER: &str = "load_object";

/// clang before 16 does not describe functions whose names begin with two underscores, and then
/// libbpf refuses the object. Under names that no kernel has, the object takes upstream's path for
/// older kernels, which passes the function's arguments one by one.
const WITHOUT_RESERVED_NAMES: [&str; 2] = [
    "-D__scx_bpf_dsq_insert_vtime=scx_bpf_dsq_insert_vtime___with_struct",
    "-Dscx_bpf_dsq_insert_vtime_args=scx_bpf_dsq_insert_vtime_args_of_none",
];

/// Puts the object and its loader into a folder.
pub fn build(into: &Path) -> Result<()> {
    let upstream = Upstream::get(&::lab::cache())?;
    println!("{NAME} of {}", upstream.version()?);
    let mut clang = Command::new("clang");
    clang.args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-w", "-fms-extensions"]);
    clang.arg("-D__TARGET_ARCH_x86").args(WITHOUT_RESERVED_NAMES);
    for folder in upstream.headers() {
        clang.arg("-I").arg(folder);
    }
    clang.arg("-c").arg(upstream.source(NAME)).arg("-o").arg(into.join(OBJECT));
    let done = clang.output().context("starting clang")?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "clang could not compile {NAME}: {}", said.trim());
    let loader = command::example("scheduler", LOADER)?;
    fs::copy(&loader, into.join(LOADER)).with_context(|| loader.display().to_string())?;
    Ok(())
}

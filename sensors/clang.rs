//! Compiles a BPF program with clang: for the build scripts of the rooms that have one.

use std::env::var_os;
use std::path::PathBuf;
use std::process::Command;

/// A program to compile.
pub struct Program<'a> {
    /// Its source.
    pub source: &'a str,
    /// Name of the object file in cargo's output folder.
    pub object: &'a str,
    /// More arguments of clang.
    pub arguments: &'a [&'a str],
    /// The component that needs clang.
    pub user: &'a str,
    /// The alternative for a machine without clang.
    pub otherwise: &'a str,
}

/// Compiles the program, or ends the build with a sentence.
pub fn compile(program: &Program) {
    let Program { source, object, arguments, user, otherwise } = program;
    println!("cargo::rerun-if-env-changed=CLANG");
    let variable = |name: &str| var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"));
    let clang = var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(&clang);
    command
        .args(["-target", "bpf", "-g", "-O2", "-mcpu=v3"])
        .args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"])
        // The place of the sources on this machine stays out of the object.
        .args(["-fdebug-compilation-dir=.", "-I"])
        .arg(variable("DEP_BPF_INCLUDE"))
        .args(*arguments)
        .args(["-c", source, "-o"])
        .arg(PathBuf::from(variable("OUT_DIR")).join(object));
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("clang could not compile {source}: {status}"),
        Err(error) => panic!(
            "{user} needs clang ({error}): apt-get install clang libelf-dev zlib1g-dev{otherwise}"
        ),
    }
}

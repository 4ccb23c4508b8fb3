//! Compiles the recorder's BPF program with clang, where the feature `bpf` is on.

use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "src/recorder/recorder.bpf.c";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-env-changed=CLANG");
    if std::env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let variable =
        |name: &str| std::env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"));
    let headers = variable("DEP_BPF_INCLUDE");
    let object = PathBuf::from(variable("OUT_DIR")).join("recorder.bpf.o");
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(&clang);
    command
        .args(["-target", "bpf", "-g", "-O2", "-mcpu=v3"])
        .args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"])
        // The place of the sources on this machine stays out of the object.
        .args(["-fdebug-compilation-dir=.", "-I"])
        .arg(headers)
        .args(["-c", SOURCE, "-o"])
        .arg(object);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("clang could not compile {SOURCE}: {status}"),
        Err(error) => panic!(
            "the recorder needs clang ({error}): apt-get install clang libelf-dev zlib1g-dev, or \
             build without it: cargo build --package evenkeel --no-default-features"
        ),
    }
}

//! Compiles the scheduler's BPF source for the host.

#[path = "build/native.rs"]
mod native;

use std::path::{Path, PathBuf};

/// Folders of the headers that the source includes.
const HEADERS: [&str; 3] = ["../scheduler/src/bpf", "../policy/include", "../cpu-model/include"];

fn main() {
    for path in HEADERS.iter().chain(&["headers", "native", "build"]) {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=CLANG");
    let output = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let warnings = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"].map(str::to_owned);
    let arguments: Vec<String> =
        HEADERS.iter().map(|path| format!("-I{path}")).chain(warnings).collect();
    let source = native::Source {
        file: Path::new("../scheduler/src/bpf/evenkeel.bpf.c"),
        arguments: &arguments,
        room: Path::new("."),
        output: &output,
        name: "evenkeel",
        is_guarded: false,
    };
    if let Err(message) = native::compile(&source) {
        panic!("{message}");
    }
}

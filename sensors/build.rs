//! Compiles the BPF programs of the recorder and of the sums with clang, where the feature `bpf`
//! is on.

#[path = "clang.rs"]
mod clang;

/// Each program: its source, the object, the component that needs clang.
const PROGRAMS: [(&str, &str, &str); 2] = [
    ("src/recorder/recorder.bpf.c", "recorder.bpf.o", "the recorder"),
    ("src/sums/sums.bpf.c", "sums.bpf.o", "the collector of sums"),
];
/// Headers that they include, or folders of headers.
const HEADERS: [&str; 7] = [
    "src/recorder/messages.bpf.h",
    "src/kernel.bpf.h",
    "src/sums/interface.bpf.h",
    "src/sums/tables.bpf.h",
    "src/sums/core.bpf.h",
    "../policy/include",
    "../cpu-model/include",
];
/// The alternative for a machine without clang.
const OTHERWISE: &str =
    ", or build without it: cargo build --package evenkeel --no-default-features";

fn main() {
    for path in PROGRAMS.iter().map(|(source, ..)| source).chain(&HEADERS) {
        println!("cargo::rerun-if-changed={path}");
    }
    if std::env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    for (source, object, user) in PROGRAMS {
        clang::compile(&clang::Program {
            source,
            object,
            arguments: &["-I../policy/include", "-I../cpu-model/include"],
            user,
            otherwise: OTHERWISE,
        });
    }
}

//! Compiles the recorder's BPF program with clang, where the feature `bpf` is on.

#[path = "clang.rs"]
mod clang;

const SOURCE: &str = "src/recorder/recorder.bpf.c";
const HEADER: &str = "src/recorder/messages.bpf.h";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed={HEADER}");
    if std::env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    clang::compile(&clang::Program {
        source: SOURCE,
        object: "recorder.bpf.o",
        arguments: &[],
        user: "the recorder",
        otherwise: ", or build without it: cargo build --package evenkeel --no-default-features",
    });
}

//! Compiles the scheduler's BPF source with clang.

#[path = "../sensors/build/clang.rs"]
mod clang;

/// Folders of the headers that the source includes.
const HEADERS: [&str; 3] = ["src/bpf", "../policy/include", "../cpu-model/include"];

fn main() {
    if std::env::var_os("CARGO_FEATURE_LOAD").is_none() {
        return;
    }
    for path in HEADERS {
        println!("cargo::rerun-if-changed={path}");
    }
    clang::compile(&clang::Program {
        source: "src/bpf/evenkeel.bpf.c",
        object: "evenkeel.bpf.o",
        arguments: &["-D__TARGET_ARCH_x86", "-I../policy/include", "-I../cpu-model/include"],
        user: "the scheduler",
        otherwise: "",
    });
}

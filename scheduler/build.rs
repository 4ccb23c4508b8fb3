//! Compiles the BPF sources of the scheduler and of the observer with clang.

#[path = "../sensors/clang.rs"]
mod clang;

/// Folders of the sources, and of the headers that they include.
const HEADERS: [&str; 4] = ["src/bpf", "src/observe", "../policy/include", "../cpu-model/include"];

fn main() {
    if std::env::var_os("CARGO_FEATURE_LOAD").is_none() {
        return;
    }
    for path in HEADERS {
        println!("cargo::rerun-if-changed={path}");
    }
    // Of builds for tests alone, such as `EK_STAND_IN`: names of src/bpf, separated by spaces.
    println!("cargo::rerun-if-env-changed=EVENKEEL_TEST_BUILD");
    let names = std::env::var("EVENKEEL_TEST_BUILD").unwrap_or_default();
    let defines: Vec<String> = names.split_whitespace().map(|name| format!("-D{name}")).collect();
    let mut arguments =
        vec!["-D__TARGET_ARCH_x86", "-I../policy/include", "-I../cpu-model/include"];
    arguments.extend(defines.iter().map(String::as_str));
    clang::compile(&clang::Program {
        source: "src/bpf/evenkeel.bpf.c",
        object: "evenkeel.bpf.o",
        arguments: &arguments,
        user: "the scheduler",
        otherwise: "",
    });
    clang::compile(&clang::Program {
        source: "src/observe/observe.bpf.c",
        object: "observe.bpf.o",
        arguments: &["-D__TARGET_ARCH_x86", "-Isrc/bpf"],
        user: "the scheduler",
        otherwise: "",
    });
}

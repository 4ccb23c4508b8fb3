//! Compiles the scheduler's BPF source with clang.

use std::env::var_os;
use std::path::PathBuf;
use std::process::Command;

const SOURCE: &str = "src/bpf/evenkeel.bpf.c";
/// Headers that the source includes.
const HEADERS: [&str; 3] = ["src/bpf", "../policy/include", "../cpu-model/include"];

fn main() {
    for path in HEADERS {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed=CLANG");
    let variable = |name: &str| var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"));
    let object = PathBuf::from(variable("OUT_DIR")).join("evenkeel.bpf.o");
    let clang = var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(&clang);
    command
        .args(["-target", "bpf", "-g", "-O2", "-mcpu=v3", "-D__TARGET_ARCH_x86"])
        .args(["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"])
        // The place of the sources on this machine stays out of the object.
        .arg("-fdebug-compilation-dir=.")
        .arg("-I")
        .arg(variable("DEP_BPF_INCLUDE"))
        .args(HEADERS.map(|path| format!("-I{path}")))
        .args(["-c", SOURCE, "-o"])
        .arg(object);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("clang could not compile {SOURCE}: {status}"),
        Err(error) => panic!(
            "the scheduler needs clang ({error}): apt-get install clang libelf-dev zlib1g-dev"
        ),
    }
}

//! Compiles the decisions from their C headers.

fn main() {
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=../cpu-model/include");
    println!("cargo::rerun-if-changed=src/binding.c");
    cc::Build::new()
        .file("src/binding.c")
        .include("include")
        .include("../cpu-model/include")
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("evenkeel_policy");
}

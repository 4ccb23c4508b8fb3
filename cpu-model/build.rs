//! Compiles the license state machine from its C headers.

fn main() {
    println!("cargo::rerun-if-changed=include");
    println!("cargo::rerun-if-changed=src/binding.c");
    cc::Build::new()
        .file("src/binding.c")
        .include("include")
        .std("c11")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag("-Wconversion")
        .warnings_into_errors(true)
        .compile("evenkeel_cpu_model");
}

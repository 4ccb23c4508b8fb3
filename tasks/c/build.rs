//! How the shared library is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libevenkeel_rt.so.0");
    // What is once in memory stays: workers run in it, and threads have variables of it.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}

//! How the shared library is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libevenkeel_rt.so.0");
    // Never unloaded: workers run the library's code, and threads have its thread-local variables.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}

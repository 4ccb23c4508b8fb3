//! Where is the library of bodies that `make` builds?

fn main() {
    println!("cargo::rerun-if-env-changed=PEERS_BODIES");
    let folder = std::env::var("PEERS_BODIES").expect("build this with `make rust`, one folder up");
    println!("cargo::rerun-if-changed={folder}/libbodies.a");
    println!("cargo::rustc-link-search=native={folder}");
    println!("cargo::rustc-link-lib=static=bodies");
}

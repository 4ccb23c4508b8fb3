//! The OpenMP interfaces of gcc (`GOMP_…`) and clang (`__kmpc_…`), for programs that are already
//! compiled.
//!
//! `cargo openmp` links this crate to `libevenkeel_omp.so`. Every name of `symbols/` that no
//! function here defines becomes a stub that says its name and aborts; to support a function is to
//! define it here with `#[unsafe(no_mangle)]`.

mod affinity_format;
mod allocate;
mod atomic;
mod cancel;
mod clock;
mod control;
mod critical;
mod data_environment;
mod device;
mod environment;
mod flag;
mod fork;
mod fortran;
mod icv;
mod ident;
mod iterations;
mod kmp;
mod levels;
mod lock;
mod loops;
mod memory;
mod microtask;
mod notice;
mod ompt;
mod parallel;
mod place;
mod processors;
mod reduce;
mod region;
mod settings;
mod single;
mod startup;
mod target;
mod task;
mod teams;
mod thread;
mod threadprivate;
mod unsupported;
mod wait;

//! The OpenMP interfaces of gcc (`GOMP_…`) and clang (`__kmpc_…`), for programs that are already
//! compiled.
//!
//! `cargo openmp` links this crate to `libevenkeel_omp.so`. Every name of `symbols/` that no
//! function here defines becomes a stub that prints the name and aborts; to support a function is
//! to define it here with `#[unsafe(no_mangle)]`.
//!
//! # Layers
//!
//! A module uses modules of its own layer and of lower numbers, never of higher ones. A higher
//! layer passes what a lower one needs of it: a value, a function, or an opaque address.
//!
//! 1. `processors`, `iterations`, `microtask`, `ident`, `flag`, `unsupported`: CPUs, iterations,
//!    calls and messages. `wait`: waiting for another thread, and how many threads want a CPU.
//! 2. `environment`, `allocate::handle`, `settings`, `place`, `icv`: what the environment asks for,
//!    and the internal control variables that follow.
//! 3. `ompt`: the records and callbacks of a tool.
//! 4. `here`, `thread`: a thread of the program.
//! 5. `task::header`, `task::event`: the state of a task and of its taskgroup. `team`: the threads
//!    of a region with their barriers and shared loops. `region`: a region, and the part of each
//!    thread in it (`Member`).
//! 6. `task`: tasks are created, added and run.
//! 7. `affinity_format`, `region::alone`, `region::thread_pool`, `affinity`: regions begin and end.
//! 8. `registered`, `tool::lookup`, `registration`: the first call of a thread, which looks for a
//!    tool and enters the thread's initial region.
//! 9. The calls of programs, which ask `registration` for the calling thread: `parallel`, `loops`,
//!    `single`, `task::gomp`, `task::kmp`, `teams`, `target`, `lock`, `cancel`, `control`, `tool`
//!    and the rest; last `fortran`.
//! 10. `fork` and `startup`: what happens in fork(2), and when the library is loaded.

mod affinity;
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
mod here;
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
mod registered;
mod registration;
mod settings;
mod single;
mod startup;
mod target;
mod task;
mod team;
mod teams;
mod thread;
mod threadprivate;
mod tool;
mod unsupported;
mod wait;

//! The task runtime for C and C++, which `include/evenkeel_rt.h` declares and explains.
//!
//! A call checks its arguments as far as possible, and returns 0 or one of the codes of
//! `error.rs`; a mistake of the caller never causes a panic. Handles are looked up before they are
//! dereferenced: the handle of a runtime is a number that is never used again, and the handle of a
//! task must be in the running task's list of tasks that it has created and not submitted.

mod dependence;
mod error;
mod event;
mod pause;
mod run;
mod runtime;
mod spawn;
mod submit;
mod task;
mod wait;

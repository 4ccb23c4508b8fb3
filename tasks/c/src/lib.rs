//! The task runtime for C and C++: what `include/evenkeel_rt.h` declares and explains.
//!
//! A call checks what it is given as far as that can be told, and returns 0 or one of the codes of
//! `error.rs`; it never panics for a caller's mistake. Handles are looked up before they are
//! followed: a runtime's is a number that is never used again, a task's must be among those that
//! the running task has created and not submitted.

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

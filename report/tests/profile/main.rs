//! The outputs of a profile: its page, its folded stacks, and its stacks for `pprof`.

#[path = "../synthetic/markup.rs"]
mod markup;
mod page;
mod pprof;
mod sample;

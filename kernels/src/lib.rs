//! Instruction streams by class and rate, the clock that times them, and their player.
//!
//! A [`Stream`] exists only where CPU and kernel allow its instructions, so that any holder
//! can run the stream. [`chain`] turns time into frequency without a privilege, [`Tsc`] stamps, and
//! [`play`] runs phases of streams until told to stop.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the streams are x86-64 instructions");

pub mod chain;
mod code;
mod identity;
mod player;
mod stream;
mod support;
mod tsc;

pub use identity::{Identity, Place, identity, place};
pub use player::{Phase, play};
pub use stream::{BLOCK_INSTRUCTIONS, Rate, Stream};
pub use support::{Unsupported, allowed};
pub use tsc::{Tsc, TscError, TscSource};

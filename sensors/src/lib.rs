//! What a machine can tell.
//!
//! [`doctor`] judges what a machine offers, from facts that the command gathered. [`recorder`]
//! records who runs where and when, with register states, as a history of `trace`.

pub mod doctor;
pub mod facts;
pub mod recorder;

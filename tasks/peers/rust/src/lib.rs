//! The measurements and the bodies of tasks that all models share, from the C beside this.

pub mod axpy;
pub mod fibonacci;
pub mod grid;
pub mod halves;
pub mod measure;
pub mod pool;
pub mod queens;
pub mod sparse;
pub mod spin;
pub mod tally;
pub mod tiles;

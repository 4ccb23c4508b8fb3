//! A scheduler model beside a recording of the scheduler: how near is the replay?
//!
//! The recording is replayed in a closed loop under the model, and the programs' figures are
//! compared with those recorded. The same replay under two models known to be wrong shows which
//! figures tell schedulers apart. Tolerances and rows are fixed in docs/decisions/0010.

mod figures;
mod judge;
mod profile;
mod table;

pub use figures::{Figure, Verdict};
pub use judge::{Row, Validation, ValidationError, against_recording};
pub use table::table as validation_table;

#[cfg(test)]
mod testing;

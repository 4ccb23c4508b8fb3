//! Does core specialization pay: does the machine do more work with it, or less?
//!
//! The method is that of D 6.4: specialization is switched off and on while the programs run, and
//! the work of both is compared. [`Alternation`] says when, and the caller switches and counts: on
//! a real machine, or on a simulated one ([`simulate`]), where whole runs with and without
//! specialization tell how far the method errs.

mod alternation;
mod simulated;
mod verdict;

pub use alternation::{Advice, Alternation, Pair, Plan, TooFewPairs, advise};
pub use simulated::{Simulated, simulate, whole_runs};
pub use verdict::{NO_DIFFERENCE_POINTS, Verdict, judge};

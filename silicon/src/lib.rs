//! The effect of wide instructions on this machine, measured.
//!
//! [`characterize()`] asks a [`Machine`] that plays bursts: [`Real`] is this one, [`Modelled`]
//! plays on a CPU table with planted noise, so that what is found can be compared with what is
//! there.
//! [`advice`] asks whether core specialization pays: by switching it off and on, and by simulation.
//! [`trial`] lets real programs slow each other and asks the simulator for the same.

mod changes;
mod characterize;
mod counter;
mod cpu_table;
mod machine;
mod statistics;

pub mod advice;
pub mod trial;

pub use characterize::{
    ClassFinding, Condition, Cost, FINDINGS_SCHEMA, Findings, Hold, Level, Neighbour, Place, Point,
    RateFinding, Transition, Verdict, characterize, class_words, duration_words, table,
};
pub use counter::Instructions;
pub use cpu_table::cpu_table;
pub use machine::{
    Facts, Machine, Modelled, Noise, Others, PinError, Planted, Played, Real, RealError, Relation,
    Segment, WINDOW_NS, Work, allowed_cpus, pin,
};
pub use statistics::{Estimate, median, quantile};

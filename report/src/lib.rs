//! Metrics, tables, charts and pages of the losses between applications.
//!
//! [`compare()`] turns simulated runs into a [`Comparison`]; everything else prints one.
//! The function that computes a figure defines it; the page that shows a figure explains it.

mod application;
mod attribution;
mod claims;
mod compare;
mod comparison;
mod drawing;
mod evaluation;
mod format;
mod metrics;
mod mixes;
mod page;
pub mod profile;
pub mod reproduction;
mod rows;
mod run;
mod sample;
mod specialization;
mod statistics;
mod summary;
mod svg;
mod table;
mod text_table;
mod validation;
mod verdict;
mod window;

pub use attribution::{Attribution, LossEntry};
pub use claims::{Claimed, Published};
pub use compare::compare;
pub use comparison::{
    BusyPackage, Comparison, CostTable, Parameter, Run, SCHEMA, Task, WakeLatency,
};
pub use evaluation::{
    About, BadGoal, Evaluation, Goals, Kind, Measured, Variant, evaluate, evaluation_csv,
    evaluation_table,
};
pub use format::{counted, is_plain, variant};
pub use mixes::{Mix, MixRun, Mixes, mix, mixes, mixes_table};
pub use page::{
    Gantt, bars_svg, evaluation_page, machine_page, page, profile_page, recording_page,
    reproduction_page,
};
pub use rows::csv;
pub use sample::{Replicates, ReportError, Sample, Setup};
pub use specialization::Specialization;
pub use statistics::ci95_half_width;
pub use summary::history_summary;
pub use table::table;
pub use text_table::fit;
pub use validation::{
    Figure, Row, Validation, ValidationError, Verdict, against_recording, validation_table,
};
pub use verdict::baseline_scheduler;

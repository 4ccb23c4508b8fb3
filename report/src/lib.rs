//! Metrics, tables, charts and pages: who loses how much to whom.
//!
//! [`compare()`] turns simulated runs into a [`Comparison`]; everything else prints one.
//! Every figure is defined where it is computed and explained where it is shown.

mod application;
mod attribution;
mod claims;
mod compare;
mod comparison;
mod evaluation;
mod grid;
mod metrics;
mod mixes;
mod page;
mod reality;
mod rows;
mod run;
mod sample;
mod statistics;
mod summary;
mod svg;
mod table;
mod verdict;
mod window;
mod words;

pub use attribution::{Attribution, LossEntry};
pub use claims::{Claimed, Published};
pub use compare::compare;
pub use comparison::{Comparison, CostTable, Parameter, Run, SCHEMA, Task, WakeLatency};
pub use evaluation::{
    About, BadGoal, Evaluation, Goals, Kind, Measured, Variant, evaluate, evaluation_csv,
    evaluation_table,
};
pub use grid::fit;
pub use mixes::{Mix, MixRun, Mixes, mix, mixes, mixes_table};
pub use page::{Gantt, bars_svg, evaluation_page, machine_page, page, recording_page};
pub use reality::{
    Figure, RealityError, Row, Validation, Verdict, against_recording, reality_table,
};
pub use rows::csv;
pub use sample::{Replicates, ReportError, Sample, Setup};
pub use summary::history_summary;
pub use table::table;
pub use words::{is_plain, variant};

//! The AVX frequency licenses of CPUs, as data: CPU tables and the license state machine.
//!
//! A CPU table (`tables/*.toml`, embedded) says which level a class of instructions demands,
//! which frequencies a level allows, and the cost of each transition; every value names its
//! source. The state machine itself is C (`include/evenkeel/license.h`), so that the kernel
//! scheduler and the simulator run the same lines.

mod class;
mod error;
mod license;
mod model;
mod table;
mod turbo;

pub use class::{CLASSES, Class};
pub use error::CpuTableError;
pub use license::{
    Demand, Effect, FULL_RATE_PERMILLE, License, LicenseTable, Rise, STAGES_MAX, Stage,
};
pub use model::{CpuModel, DemandRule, LicenseDomain, LowPriorityCores, break_even_ns};
pub use table::{
    CPU_TABLE_SCHEMA, CpuTable, Demands, Event, Events, Levels, LicenseTimes, Machine, RiseRule,
    StageKind, StageRule, Transition, TurboMode, TurboOff, TurboRow, TurboRows, Widen, embedded,
    model_name, table_of,
};
pub use turbo::{LEVELS_MAX, ROWS_MAX, Turbo};

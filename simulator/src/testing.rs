//! CPUs for tests.

use cpu_model::{CpuModel, CpuTable, TurboMode};

/// The Xeon Gold 6130.
pub(crate) fn skylake() -> CpuModel {
    CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap()
}

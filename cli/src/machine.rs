//! Which CPU to simulate.

use std::path::Path;

use anyhow::Result;
use cpu_model::{CpuModel, CpuTable, TurboMode, table_of};

use crate::files;

/// The table of that name, or in that file.
pub fn table(name: &str) -> Result<CpuTable> {
    let path = Path::new(name);
    if name.ends_with(".toml") || name.contains('/') {
        return Ok(CpuTable::parse(&files::read_text(path)?, name)?);
    }
    Ok(CpuTable::by_name(name)?)
}

/// A CPU that a run can use.
pub fn model(name: &str, turbo: bool) -> Result<CpuModel> {
    let mode = if turbo { TurboMode::On } else { TurboMode::Off };
    Ok(table(name)?.model(mode)?)
}

/// The CPU with that model name; `None`: no embedded table is of it, or the table lacks a value.
pub fn own_model(model_name: &str) -> Option<CpuModel> {
    model(table_of(model_name)?, true).ok()
}

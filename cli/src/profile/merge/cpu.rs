//! Which CPU are the losses of a machine of? Those of different CPUs are not added up.

use serde::Serialize;

/// A CPU, and the table by which its losses of clock were estimated.
#[derive(Serialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cpu {
    /// As the machine calls it; `None`: the profile does not say it, or is of a simulation.
    pub machine_cpu: Option<String>,
    /// `None`: the CPU has no license levels, its clock was measured, or nothing is known.
    pub cpu_table: Option<String>,
    /// Whether the table is that of the machine's CPU; else losses are as if on that CPU.
    pub is_own_table: bool,
    /// Whether pauses measured the clock.
    pub is_measured: bool,
    /// Whether losses of clock are known.
    pub is_known: bool,
}

impl Cpu {
    /// In words.
    pub fn sentence(&self) -> String {
        let name = self.machine_cpu.as_deref().unwrap_or("a CPU that its profile does not name");
        match &self.cpu_table {
            None if self.is_measured => format!("{name}, whose clock was measured in pauses"),
            None if self.is_known => format!("{name}, which has no license levels"),
            None => format!("{name}, whose losses of clock are not known"),
            Some(table) if self.is_own_table => format!("{name}, by its table {table}"),
            Some(table) => format!("{name}, as if on {table}"),
        }
    }
}

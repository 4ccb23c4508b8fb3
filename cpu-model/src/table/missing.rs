//! Which values of a CPU no source gave.

use super::transitions::describe;
use super::{CpuTable, TurboMode};
use crate::Class;

impl CpuTable {
    /// Names of all values that are absent; empty for a complete table.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let mut missing = self.missing_for(TurboMode::Off);
        if self.events.is_none() {
            missing.push("events".to_owned());
        }
        missing
    }

    /// Names of the absent values that a run needs; with turbo off a run needs the fixed
    /// frequencies in addition to the values for turbo on.
    pub(super) fn missing_for(&self, turbo: TurboMode) -> Vec<String> {
        let mut missing = Vec::new();
        let machine = [
            ("machine.packages", self.machine.packages),
            ("machine.cores", self.machine.cores),
            ("machine.threads", self.machine.threads),
            ("machine.ref_mhz", self.machine.ref_mhz),
        ];
        missing.extend(
            machine.iter().filter(|(_, value)| value.is_none()).map(|&(name, _)| name.to_owned()),
        );
        self.missing_turbo(&mut missing);
        if turbo == TurboMode::Off && self.turbo_off.is_none() {
            missing.push("turbo_off".to_owned());
        }
        self.missing_demand(&mut missing);
        self.missing_license(&mut missing);
        self.missing_rises(&mut missing);
        missing
    }

    fn missing_turbo(&self, missing: &mut Vec<String>) {
        let rows = self.turbo.as_ref().map_or(&[][..], |turbo| &turbo.rows);
        if rows.is_empty() {
            missing.push("turbo".to_owned());
            return;
        }
        let mut next = 1;
        let mut gap = |from: u32, to: u32| {
            if from <= to {
                missing.push(format!("turbo for {}", active_cores(from, to)));
            }
        };
        for row in rows {
            gap(next, row.cores_min - 1);
            next = row.cores_max + 1;
        }
        gap(next, self.machine.cores.unwrap_or(0));
        for (level, name) in self.levels.names.iter().enumerate() {
            if rows.iter().all(|row| row.mhz[level].is_none()) {
                missing.push(format!("turbo.{name}"));
                continue;
            }
            for row in rows.iter().filter(|row| row.mhz[level].is_none()) {
                let range = active_cores(row.cores_min, row.cores_max);
                missing.push(format!("turbo.{name} for {range}"));
            }
        }
    }

    fn missing_demand(&self, missing: &mut Vec<String>) {
        let Some(demand) = &self.demand else {
            missing.push("demand".to_owned());
            return;
        };
        for class in Class::ALL {
            let known = class == Class::Scalar
                || demand.unsupported.contains(&class)
                || demand.rules.iter().any(|rule| rule.class == class);
            if !known {
                missing.push(format!("demand.rules for {class}"));
            }
        }
    }

    fn missing_license(&self, missing: &mut Vec<String>) {
        let Some(license) = &self.license else {
            missing.push("license".to_owned());
            return;
        };
        if license.domain.is_none() {
            missing.push("license.domain".to_owned());
        }
        if license.fall_halt_ns.is_none() && self.levels.names.len() > 1 {
            missing.push("license.fall_halt_us".to_owned());
        }
        for (name, hold_ns) in self.levels.names.iter().zip(&license.hold_ns).skip(1) {
            if hold_ns.is_none() {
                missing.push(format!("license.hold_us.{name}"));
            }
        }
    }

    fn missing_rises(&self, missing: &mut Vec<String>) {
        if self.widen.is_none() {
            missing.push("widen".to_owned());
        }
        let names = &self.levels.names;
        for (to, name) in (0u8..).zip(names) {
            for (from, before) in (0..to).zip(names) {
                let light = self.rise(from, to, false).is_none();
                let heavy = self.rise(from, to, true).is_none();
                let kind = match (light, heavy) {
                    (false, false) => continue,
                    (true, true) => None,
                    (_, heavy) => Some(heavy),
                };
                missing.push(format!("rise {}", describe(before, name, kind)));
            }
        }
    }
}

fn active_cores(from: u32, to: u32) -> String {
    if from == to { format!("{from} active cores") } else { format!("{from} to {to} active cores") }
}

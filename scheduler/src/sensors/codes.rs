//! Which code does an event have for perf?

use cpu_model::CpuTable;

use super::Refusal;
use crate::interface::HardwareEvent;

/// An event of perf: `type` and `config` of `struct perf_event_attr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Device.
    pub device: u32,
    /// Event of the device.
    pub config: u64,
}

/// `PERF_TYPE_HARDWARE` and `PERF_TYPE_RAW`, include/uapi/linux/perf_event.h, 6.18.
const HARDWARE: u32 = 0;
const RAW: u32 = 4;
/// `PERF_COUNT_HW_CPU_CYCLES` and `PERF_COUNT_HW_REF_CPU_CYCLES`.
const CPU_CYCLES: u64 = 0;
const REF_CPU_CYCLES: u64 = 9;

impl HardwareEvent {
    /// Its name in CPU tables, or a name of ours for an event that perf itself defines.
    #[must_use]
    pub fn signal(self) -> &'static str {
        match self {
            Self::License1 => "license-1",
            Self::License2 => "license-2",
            Self::Cycles => "cycles",
            Self::RefCycles => "reference cycles",
            Self::StallL2Miss => "stalls-l2-miss",
            Self::StallStores => "bound-on-stores",
            Self::Fp256 => "fp-256",
            Self::Fp512 => "fp-512",
        }
    }
}

/// The code of each event. The codes of a CPU table count other events on other CPUs, and are
/// refused there.
#[must_use]
pub fn codes(table: &CpuTable, is_this_cpu: bool) -> Vec<(HardwareEvent, Result<Code, Refusal>)> {
    let code = |event: HardwareEvent| match event {
        HardwareEvent::Cycles => Ok(Code { device: HARDWARE, config: CPU_CYCLES }),
        HardwareEvent::RefCycles => Ok(Code { device: HARDWARE, config: REF_CPU_CYCLES }),
        _ if !is_this_cpu => Err(Refusal::OtherCpu),
        _ => raw(table, event.signal()).ok_or(Refusal::NotInTable),
    };
    HardwareEvent::ALL.into_iter().map(|event| (event, code(event))).collect()
}

/// Event, unit mask and counter mask as Intel's `IA32_PERFEVTSELx` has them (SDM 20.2.1.1).
fn raw(table: &CpuTable, signal: &str) -> Option<Code> {
    let list = &table.events.as_ref()?.list;
    let event = list.iter().find(|event| event.signal == signal)?;
    let config = event.event | event.umask << 8 | event.cmask << 24;
    Some(Code { device: RAW, config: config.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_table() {
        let table = CpuTable::by_name("xeon-gold-6130").unwrap();
        let of = |is_this_cpu, event| {
            let found = codes(&table, is_this_cpu).into_iter().find(|&(it, _)| it == event);
            found.unwrap().1
        };
        let raw = |config| Ok(Code { device: 4, config });
        assert_eq!(of(true, HardwareEvent::License2), raw(0x2028));
        // CYCLE_ACTIVITY.STALLS_L2_MISS as perf writes it: cpu/event=0xa3,umask=0x5,cmask=5/.
        assert_eq!(of(true, HardwareEvent::StallL2Miss), raw(0x0500_05a3));
        assert_eq!(of(true, HardwareEvent::RefCycles), Ok(Code { device: 0, config: 9 }));
        assert_eq!(of(false, HardwareEvent::License2), Err(Refusal::OtherCpu));
        let table = CpuTable::by_name("xeon-platinum-8480-plus").unwrap();
        let found = codes(&table, true).into_iter().find(|&(it, _)| it == HardwareEvent::License1);
        assert_eq!(found.unwrap().1, Err(Refusal::NotInTable));
    }
}

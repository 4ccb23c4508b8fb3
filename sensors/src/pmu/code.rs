//! How does perf name an event?

use perf_event_open_sys::bindings;

/// An event of perf: `type` and `config` of `struct perf_event_attr`
/// (include/uapi/linux/perf_event.h, Linux 6.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Device.
    pub device: u32,
    /// Event of the device.
    pub config: u64,
}

impl Code {
    /// Core cycles, of any CPU that perf knows.
    pub const CYCLES: Self = Self {
        device: bindings::PERF_TYPE_HARDWARE,
        config: bindings::PERF_COUNT_HW_CPU_CYCLES as u64,
    };
    /// Reference cycles, of any CPU that perf knows.
    pub const REF_CYCLES: Self = Self {
        device: bindings::PERF_TYPE_HARDWARE,
        config: bindings::PERF_COUNT_HW_REF_CPU_CYCLES as u64,
    };

    /// An event of the CPU by the value of its event-select register.
    #[must_use]
    pub const fn raw(config: u64) -> Self {
        Self { device: bindings::PERF_TYPE_RAW, config }
    }

    /// Whether the PMU of the cores counts the event: not a device of its own, such as `msr`.
    #[must_use]
    pub fn is_of_core(self) -> bool {
        [bindings::PERF_TYPE_HARDWARE, bindings::PERF_TYPE_RAW].contains(&self.device)
    }
}

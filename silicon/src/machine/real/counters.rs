//! Other sources of the frequency: the cycle counter, and APERF over MPERF, where allowed.

use std::time::Duration;

use kernels::{Tsc, chain};

/// Counters compared with the chain, in sentences.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Agreements and disagreements.
    pub(super) agreements: Vec<String>,
    /// Counters that cannot be read on this machine, with the reason.
    pub(super) missing: Vec<String>,
}

/// How long chain and counters run beside each other.
const COMPARISON: Duration = Duration::from_millis(20);

/// `struct perf_event_attr` in its first version (Linux include/uapi/linux/perf_event.h).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    breakpoint: u64,
}

const HARDWARE: u32 = 0;
const CPU_CYCLES: u64 = 0;
const EXCLUDE_KERNEL_AND_HYPERVISOR: u64 = 0b11 << 5;
/// Events of the `msr` source (Linux arch/x86/events/msr.c).
const APERF: u64 = 1;
const MPERF: u64 = 2;

/// A counter of this thread, closed when dropped.
struct Counter(libc::c_int);

impl Counter {
    fn open(kind: u32, config: u64, flags: u64) -> Result<Self, String> {
        let size = size_of::<Attributes>() as u32;
        let attributes = Attributes { kind, size, config, flags, ..Attributes::default() };
        let any_cpu: libc::c_int = -1;
        let no_group: libc::c_int = -1;
        // SAFETY: the kernel reads the struct up to the size in its field, and keeps no pointer.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                0 as libc::pid_t,
                any_cpu,
                no_group,
                0 as libc::c_ulong,
            )
        };
        match libc::c_int::try_from(descriptor) {
            Ok(descriptor) if descriptor >= 0 => Ok(Self(descriptor)),
            _ => Err(refusal(&std::io::Error::last_os_error())),
        }
    }

    fn read(&self) -> u64 {
        let mut count = 0u64;
        // SAFETY: the kernel writes at most the size given to the address given.
        unsafe { libc::read(self.0, (&raw mut count).cast(), size_of::<u64>()) };
        count
    }
}

/// What the kernel means by an error of `perf_event_open` (its manual page, section errors; that of
/// an event which the `msr` source does not have is EINVAL, Linux arch/x86/events/msr.c).
fn refusal(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::ENXIO | libc::EOPNOTSUPP | libc::EINVAL) => {
            "this machine has none, as most virtual ones".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "the kernel keeps it for privileged ones, see kernel.perf_event_paranoid".to_owned()
        }
        Some(libc::ENOSYS) => "this kernel has no perf events".to_owned(),
        _ => error.to_string(),
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this counter's own.
        unsafe { libc::close(self.0) };
    }
}

/// Runs a chain beside the counters.
pub(super) fn compare(tsc: &Tsc, msr_pmu: Option<u32>) -> Comparison {
    let mut comparison = Comparison::default();
    match Counter::open(HARDWARE, CPU_CYCLES, EXCLUDE_KERNEL_AND_HYPERVISOR) {
        Ok(cycles) => {
            let before = cycles.read();
            let (additions, _) = run_chain(tsc);
            let ratio = (cycles.read() - before) as f64 / additions;
            comparison.agreements.push(format!(
                "the cycle counter counts {ratio:.3} cycles for each addition of the chain"
            ));
        }
        Err(reason) => comparison
            .missing
            .push(format!("cycle counter: not available to this program ({reason})")),
    }
    match aperf_over_mperf(tsc, msr_pmu) {
        Ok(ratio) => comparison
            .agreements
            .push(format!("APERF over MPERF gives {ratio:.3} times the frequency of the chain")),
        Err(reason) => comparison
            .missing
            .push(format!("APERF and MPERF: not available to this program ({reason})")),
    }
    comparison
}

/// Frequency by APERF and MPERF (both tick only while the core runs) over that of the chain.
fn aperf_over_mperf(tsc: &Tsc, msr_pmu: Option<u32>) -> Result<f64, String> {
    let source = msr_pmu.ok_or("the kernel has no msr event source")?;
    let aperf = Counter::open(source, APERF, 0)?;
    let mperf = Counter::open(source, MPERF, 0)?;
    let before = (aperf.read(), mperf.read());
    let (additions, ticks) = run_chain(tsc);
    let (aperf, mperf) = (aperf.read() - before.0, mperf.read() - before.1);
    if mperf == 0 {
        return Err("MPERF stands still".to_owned());
    }
    Ok(aperf as f64 / mperf as f64 / (additions / ticks))
}

/// Additions done, and the ticks they took.
fn run_chain(tsc: &Tsc) -> (f64, f64) {
    const STEPS: u64 = 2000;
    let start = tsc.now();
    let end = start + tsc.ticks(COMPARISON);
    let mut additions = 0;
    while tsc.now() < end {
        chain::additions(STEPS);
        additions += STEPS * chain::STEP_ADDITIONS;
    }
    (additions as f64, (tsc.now() - start) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_refused_says_why_in_words() {
        for known in [libc::ENOENT, libc::EINVAL, libc::EACCES, libc::ENOSYS] {
            let said = refusal(&std::io::Error::from_raw_os_error(known));
            assert!(!said.contains("os error"), "{said}");
        }
        let said = refusal(&std::io::Error::from_raw_os_error(libc::EMFILE));
        assert!(said.contains("os error"), "{said}");
    }
}

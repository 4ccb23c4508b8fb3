//! The time-stamp counter: stamps between instructions, and how fast it ticks.

use std::arch::asm;
use std::arch::x86_64::__cpuid;
use std::time::Duration;

use thiserror::Error;

/// Why the counter cannot be used.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TscError {
    /// The counter changes its speed or stops with the core.
    #[error("this CPU's time-stamp counter does not tick evenly (no invariant TSC)")]
    Uneven,
    /// The kernel lets no program read the counter.
    #[error("the kernel does not let this program read the time-stamp counter")]
    Forbidden,
}

/// How the counter's frequency is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TscSource {
    /// Reported by the hypervisor (CPUID 0x40000010).
    Hypervisor,
    /// Reported by the CPU (CPUID 0x15).
    Cpu,
    /// Counted against `CLOCK_MONOTONIC_RAW`.
    Measured,
}

/// A counter that ticks evenly, and its frequency.
#[derive(Clone, Copy, Debug)]
pub struct Tsc {
    hz: u64,
    source: TscSource,
}

/// CPUID's figure is used only if the clock agrees within this share.
const AGREEMENT: f64 = 0.001;
/// How long the counter is compared with the clock.
const COMPARISON: Duration = Duration::from_millis(30);

impl Tsc {
    /// Finds out how fast the counter ticks; takes 30 ms.
    ///
    /// # Errors
    /// Why the counter cannot be used.
    pub fn calibrate() -> Result<Self, TscError> {
        if readable() != Some(true) {
            return Err(TscError::Forbidden);
        }
        if __cpuid(0x8000_0000).eax < 0x8000_0007 || __cpuid(0x8000_0007).edx & (1 << 8) == 0 {
            return Err(TscError::Uneven);
        }
        let measured = measured_hz();
        let agrees = |hz: u64| (hz as f64 / measured - 1.0).abs() < AGREEMENT;
        let said = hypervisor_hz()
            .map(|hz| (hz, TscSource::Hypervisor))
            .or_else(|| cpu_hz().map(|hz| (hz, TscSource::Cpu)))
            .filter(|&(hz, _)| agrees(hz));
        let (hz, source) = said.unwrap_or((measured.round() as u64, TscSource::Measured));
        Ok(Self { hz, source })
    }

    /// Ticks a second.
    #[must_use]
    pub fn hz(&self) -> u64 {
        self.hz
    }

    /// How the frequency is known.
    #[must_use]
    pub fn source(&self) -> TscSource {
        self.source
    }

    /// The counter now: after all earlier instructions, before all later ones.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        read()
    }

    /// Ticks of a duration.
    #[must_use]
    pub fn ticks(&self, duration: Duration) -> u64 {
        (duration.as_nanos() * u128::from(self.hz) / 1_000_000_000) as u64
    }

    /// Nanoseconds of that many ticks.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> f64 {
        ticks as f64 * 1e9 / self.hz as f64
    }
}

#[inline]
fn read() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: RDTSC and LFENCE are in every x86-64 CPU and touch only the declared registers. A
    // kernel that forbids RDTSC ends the program with a signal; `calibrate` asks before.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high,
             options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Whether the kernel lets this process read the counter (prctl(2), `PR_GET_TSC`).
fn readable() -> Option<bool> {
    let mut mode: libc::c_int = 0;
    // SAFETY: the kernel writes one number to the address given.
    let result = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
    (result == 0).then_some(mode == libc::PR_TSC_ENABLE)
}

/// The hypervisor's figure: kHz in EAX (the VMware leaf, which KVM has too).
fn hypervisor_hz() -> Option<u64> {
    const LEAF: u32 = 0x4000_0010;
    let is_virtual = __cpuid(1).ecx & (1 << 31) != 0;
    if !is_virtual || __cpuid(0x4000_0000).eax < LEAF {
        return None;
    }
    Some(u64::from(__cpuid(LEAF).eax) * 1000).filter(|&hz| hz > 0)
}

/// The CPU's figure: the crystal's frequency and the TSC's ratio to that (Intel SDM, CPUID 0x15).
fn cpu_hz() -> Option<u64> {
    const LEAF: u32 = 0x15;
    if __cpuid(0).eax < LEAF {
        return None;
    }
    let ratio = __cpuid(LEAF);
    let (denominator, numerator) = (u64::from(ratio.eax), u64::from(ratio.ebx));
    (denominator > 0).then(|| u64::from(ratio.ecx) * numerator / denominator).filter(|&hz| hz > 0)
}

/// Ticks a second of `CLOCK_MONOTONIC_RAW`.
fn measured_hz() -> f64 {
    let (start_ticks, start_ns) = pair();
    loop {
        let (ticks, ns) = pair();
        if ns - start_ns >= COMPARISON.as_nanos() as u64 {
            return (ticks - start_ticks) as f64 * 1e9 / (ns - start_ns) as f64;
        }
    }
}

/// Counter and clock at the same time: of eight readings the one that took the least.
fn pair() -> (u64, u64) {
    let readings = (0..8).map(|_| {
        let before = read();
        let ns = monotonic_raw_ns();
        let after = read();
        (after - before, before + (after - before) / 2, ns)
    });
    let (_, ticks, ns) = readings.min().expect("there are eight");
    (ticks, ns)
}

fn monotonic_raw_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one struct to the address given; the clock exists since 2.6.28.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_as_long_as_it_says() {
        let tsc = Tsc::calibrate().unwrap();
        let start = tsc.now();
        let clock = std::time::Instant::now();
        while clock.elapsed() < Duration::from_millis(20) {}
        let elapsed_ns = clock.elapsed().as_nanos() as f64;
        let counted_ns = tsc.ns(tsc.now() - start);
        assert!((counted_ns / elapsed_ns - 1.0).abs() < 0.01, "{counted_ns} {elapsed_ns}");
        assert_eq!(tsc.ticks(Duration::from_secs(1)), tsc.hz());
    }
}

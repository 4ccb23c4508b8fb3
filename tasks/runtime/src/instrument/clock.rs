//! The time of a recording: ticks of the time stamp counter, and moments on both clocks.

/// A moment, in ticks.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every such CPU has the instruction, and Linux lets programs use it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// A moment, in ticks.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn ticks() -> u64 {
    monotonic_ns()
}

/// `CLOCK_MONOTONIC`.
fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is ours; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time stamp counter.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`.
    pub ns: u64,
}

impl Moment {
    pub(crate) fn now() -> Self {
        // A thread that is interrupted between the two reads repeats both.
        let both = || {
            let (before, ns) = (ticks(), monotonic_ns());
            (ticks().wrapping_sub(before), Self { ticks: before, ns })
        };
        let nearest = std::iter::repeat_with(both).take(5).min_by_key(|(gap, _)| *gap);
        nearest.map_or(Self { ticks: 0, ns: 0 }, |(_, moment)| moment)
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_of_a_moment_go_on() {
        let (begin, end) = (Moment::now(), Moment::now());
        assert!(begin.ticks <= end.ticks && begin.ns <= end.ns);
    }
}

//! The time of a recording: ticks of the time stamp counter, and their length in ns.

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
pub(super) struct Moment {
    pub(super) ticks: u64,
    /// `CLOCK_MONOTONIC`.
    pub(super) ns: u64,
}

impl Moment {
    pub(super) fn now() -> Self {
        // A thread that is interrupted between the two reads repeats both.
        let both = || {
            let (before, ns) = (ticks(), monotonic_ns());
            (ticks().wrapping_sub(before), Self { ticks: before, ns })
        };
        let nearest = std::iter::repeat_with(both).take(5).min_by_key(|(gap, _)| *gap);
        nearest.map_or(Self { ticks: 0, ns: 0 }, |(_, moment)| moment)
    }
}

/// From ticks to ns, by two moments that lie as far apart as the recording is long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    begin: Moment,
    ns_per_tick: f64,
}

impl Scale {
    pub(super) fn between(begin: Moment, end: Moment) -> Self {
        let ticks = end.ticks.saturating_sub(begin.ticks).max(1);
        let ns = end.ns.saturating_sub(begin.ns).max(1);
        Self { begin, ns_per_tick: ns as f64 / ticks as f64 }
    }

    /// The length of `ticks` ticks.
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.ns_per_tick).round() as u64
    }

    /// `CLOCK_MONOTONIC` at `ticks` ticks after the begin.
    pub(super) fn at_ns(&self, ticks: u64) -> u64 {
        self.begin.ns + self.ns(ticks)
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn ticks_between_two_moments_are_the_time_between_them() {
        let (begin, end) = (Moment { ticks: 1000, ns: 50 }, Moment { ticks: 4000, ns: 1050 });
        let scale = Scale::between(begin, end);
        assert_eq!((scale.ns(3000), scale.at_ns(1500)), (1000, 550));
    }

    #[test]
    fn two_moments_at_once_are_no_division_by_nothing() {
        let now = Moment::now();
        assert_eq!(Scale::between(now, now).ns(0), 0);
    }
}

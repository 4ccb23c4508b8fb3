//! From ticks of a recording to ns.

use evenkeel_runtime::internal::recording::Moment;

/// From ticks to ns, by two moments that lie as far apart as the recording is long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    begin: Moment,
    ns_per_tick: f64,
}

impl Scale {
    pub(crate) fn between(begin: Moment, end: Moment) -> Self {
        let ticks = end.ticks.saturating_sub(begin.ticks).max(1);
        let ns = end.ns.saturating_sub(begin.ns).max(1);
        Self { begin, ns_per_tick: ns as f64 / ticks as f64 }
    }

    /// The length of `ticks` ticks.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.ns_per_tick).round() as u64
    }

    /// `CLOCK_MONOTONIC` at `ticks` ticks after the begin.
    pub(crate) fn at_ns(&self, ticks: u64) -> u64 {
        self.begin.ns + self.ns(ticks)
    }
}

#[cfg(test)]
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
        let now = Moment { ticks: 7, ns: 7 };
        assert_eq!(Scale::between(now, now).ns(0), 0);
    }
}

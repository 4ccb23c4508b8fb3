//! Disturbances of a modelled machine, drawn from a seed.

use random::SplitMix64;

/// How a modelled machine is disturbed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of a stamp, in ns.
    pub jitter_ns: f64,
    /// Step of the clock that stamps, in ns.
    pub tick_ns: f64,
    /// Interrupts a second, of 1 to 20 us each.
    pub interrupts_hz: f64,
    /// Times a second that the CPU is taken away for 0.1 to 4 ms: preemption and steal.
    pub gaps_hz: f64,
    /// How far the base clock wanders slowly, as a share of itself.
    pub drift: f64,
    /// Times a second that a neighbour starts or stops and moves the base clock.
    pub neighbour_hz: f64,
    /// Size of the movement, as a share of the clock.
    pub neighbour_share: f64,
    /// Length in ns of the turns that a process on the same CPU takes; 0 means no such process.
    pub turn_ns: f64,
    /// How much longer than the table says a hold may be, as a share; evenly between.
    pub hold_spread: f64,
}

impl Noise {
    /// A quiet machine of one's own.
    pub const QUIET: Self = Self {
        jitter_ns: 3.0,
        tick_ns: 0.4,
        interrupts_hz: 250.0,
        gaps_hz: 2.0,
        drift: 0.002,
        neighbour_hz: 0.0,
        neighbour_share: 0.0,
        turn_ns: 0.0,
        hold_spread: 0.0,
    };
    /// A virtual CPU beside other users, with a coarse clock.
    pub const SHARED: Self = Self {
        jitter_ns: 8.0,
        tick_ns: 10.0,
        interrupts_hz: 1000.0,
        gaps_hz: 20.0,
        drift: 0.02,
        neighbour_hz: 8.0,
        neighbour_share: 0.12,
        turn_ns: 0.0,
        hold_spread: 0.0,
    };
    /// Noise of [`Self::SHARED`], and another process takes turns on the CPU.
    pub const BUSY: Self = Self { turn_ns: 2_800_000.0, ..Self::SHARED };
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Evenly from [0, 1).
    pub(crate) fn share(&mut self) -> f64 {
        self.0.unit()
    }

    /// About a standard normal deviate: four even ones of 16 bits, whose sum has a variance of a
    /// third.
    pub(crate) fn normal(&mut self) -> f64 {
        let bits = self.next();
        let sum: u64 = (0..4).map(|part| bits >> (16 * part) & 0xffff).sum();
        (sum as f64 / 65_536.0 - 2.0) * 3f64.sqrt()
    }

    /// Time to the next of events that come so often a second, in ns.
    pub(crate) fn wait_ns(&mut self, per_second: f64) -> f64 {
        if per_second <= 0.0 {
            f64::INFINITY
        } else {
            -(1.0 - self.share()).ln() * 1e9 / per_second
        }
    }

    /// An order of `0..n`, each as likely as any other.
    pub(crate) fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            order.swap(last, (self.share() * (last + 1) as f64) as usize);
        }
        order
    }
}

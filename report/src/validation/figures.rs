//! The figures of a program, and when a replay hits them.

use serde::Serialize;

use super::profile::Tally;

/// A count below this, in recording and replay, is left to chance.
const COUNT_MIN: u64 = 20;
/// Latencies below this are one value.
pub(super) const LATENCY_MIN_NS: u64 = 100_000;

/// Whether a replay comes near enough to its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within tolerance.
    Hit,
    /// Not within tolerance.
    Miss,
    /// Too rare to judge.
    TooFew,
}

/// One figure of one program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// As recorded; `None` for a distance.
    pub recorded: Option<f64>,
    /// In the replay.
    pub replay: f64,
    /// Of the model.
    pub verdict: Verdict,
    /// Of the model with slices four times as long.
    pub with_long_slices: Verdict,
    /// Of first come, first served.
    pub with_fifo: Verdict,
}

impl Figure {
    /// Whether a model known to be wrong misses this figure.
    #[must_use]
    pub fn tells(&self) -> bool {
        [self.with_long_slices, self.with_fifo].contains(&Verdict::Miss)
    }
}

/// The figures that are compared, in the order of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Share,
    Switches,
    Slice,
    Latency,
    Migrations,
}

pub(super) const KINDS: [Kind; 5] =
    [Kind::Share, Kind::Switches, Kind::Slice, Kind::Latency, Kind::Migrations];

/// Time of all CPUs that shares are of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub ns: u64,
}

impl Kind {
    /// The figure in percent, counts, ms; `None` for a distance.
    pub(super) fn value(self, tally: &Tally, capacity: Capacity) -> Option<f64> {
        Some(match self {
            Self::Share => 100.0 * ratio(tally.run_ns, capacity.ns),
            Self::Switches => tally.switches as f64,
            Self::Slice => ratio(tally.run_ns, tally.switches) / 1e6,
            Self::Latency => return None,
            Self::Migrations => tally.migrations as f64,
        })
    }

    /// Number of events behind the figure.
    fn count(self, tally: &Tally) -> u64 {
        match self {
            Self::Share => u64::MAX,
            Self::Switches | Self::Slice => tally.switches,
            Self::Latency => tally.latencies_ns.len() as u64,
            Self::Migrations => tally.migrations,
        }
    }

    /// The figure of the replay, or its distance from the recording, with its verdict.
    pub(super) fn judge(
        self,
        recorded: &Tally,
        replay: &Tally,
        capacity: Capacity,
    ) -> (f64, Verdict) {
        let within = |tolerance: f64| {
            let (recorded, replay) = (self.value(recorded, capacity), self.value(replay, capacity));
            let (recorded, replay) = (recorded.unwrap_or(0.0), replay.unwrap_or(0.0));
            (replay, (replay - recorded).abs() <= tolerance * recorded)
        };
        let (value, hit) = match self {
            Self::Share => {
                let share = |tally: &Tally| 100.0 * ratio(tally.run_ns, capacity.ns);
                (share(replay), (share(replay) - share(recorded)).abs() <= 5.0)
            }
            Self::Switches => within(0.20),
            Self::Slice => within(0.10),
            Self::Latency => {
                let distance = distance(&recorded.latencies_ns, &replay.latencies_ns);
                (distance, distance <= 0.15)
            }
            Self::Migrations => within(0.30),
        };
        let verdict = if self.count(recorded).max(self.count(replay)) < COUNT_MIN {
            Verdict::TooFew
        } else if hit {
            Verdict::Hit
        } else {
            Verdict::Miss
        };
        (value, verdict)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Kolmogorov and Smirnov's distance of two ascending samples, with latencies below
/// [`LATENCY_MIN_NS`] as one value; 1 if one of them is empty.
fn distance(a: &[u64], b: &[u64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return if a.is_empty() && b.is_empty() { 0.0 } else { 1.0 };
    }
    let up_to = |sample: &[u64], ns: u64| sample.partition_point(|&x| x <= ns);
    let apart = |ns: u64| {
        let (in_a, in_b) = (up_to(a, ns) as u64, up_to(b, ns) as u64);
        (ratio(in_a, a.len() as u64) - ratio(in_b, b.len() as u64)).abs()
    };
    let steps = a.iter().chain(b).map(|&ns| ns.max(LATENCY_MIN_NS));
    steps.map(apart).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Capacity = Capacity { ns: 1_000_000_000 };

    fn tally(run_ns: u64, switches: u64, migrations: u64) -> Tally {
        Tally { run_ns, switches, migrations, latencies_ns: Vec::new() }
    }

    fn verdict(kind: Kind, recorded: &Tally, replay: &Tally) -> Verdict {
        kind.judge(recorded, replay, CAPACITY).1
    }

    #[test]
    fn tolerances_are_those_of_the_decision() {
        let recorded = tally(400_000_000, 1000, 100);
        let cases = [
            (Kind::Share, tally(449_000_000, 0, 0), tally(451_000_000, 0, 0)),
            (Kind::Switches, tally(0, 1200, 0), tally(0, 1201, 0)),
            (Kind::Slice, tally(439_000_000, 1000, 0), tally(441_000_000, 1000, 0)),
            (Kind::Migrations, tally(0, 0, 70), tally(0, 0, 69)),
        ];
        for (kind, near, far) in cases {
            assert_eq!(verdict(kind, &recorded, &near), Verdict::Hit, "{kind:?}");
            assert_eq!(verdict(kind, &recorded, &far), Verdict::Miss, "{kind:?}");
        }
    }

    #[test]
    fn figures_rare_on_both_sides_are_not_judged() {
        let few = tally(1, 19, 19);
        assert_eq!(verdict(Kind::Migrations, &few, &tally(1, 0, 0)), Verdict::TooFew);
        assert_eq!(verdict(Kind::Migrations, &few, &tally(1, 0, 400)), Verdict::Miss);
        assert_eq!(verdict(Kind::Slice, &few, &tally(9, 1, 0)), Verdict::TooFew);
    }

    #[test]
    fn distance_is_the_largest_gap_between_the_two_distributions() {
        const MS: u64 = 1_000_000;
        let a: Vec<u64> = (1..=100).map(|ms| ms * MS).collect();
        let b: Vec<u64> = (1..=100).map(|ms| (ms + 15) * MS).collect();
        assert!((distance(&a, &b) - 0.15).abs() < 1e-9);
        assert!(distance(&a, &a) == 0.0);
        assert!(distance(&a, &[]) == 1.0);
    }

    #[test]
    fn latencies_below_a_tenth_of_a_millisecond_are_alike() {
        assert!(distance(&[0, 2_000, 5_000_000], &[40_000, 99_999, 5_000_000]) == 0.0);
        assert!(distance(&[0, 2_000], &[0, 100_001]) == 0.5);
    }
}

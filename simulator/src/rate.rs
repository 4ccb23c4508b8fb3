//! How fast a task progresses: the linear stall model of D 4.3.2 with SMT sharing.
//!
//! Exact integer arithmetic; the formulas are in `docs/decisions/0002-machine-model.md`.

use cpu_model::Turbo;

/// Fractions in 2^-20.
const ONE_Q20: u64 = 1 << 20;

/// Constants of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    pub ref_khz: u32,
    /// Throughput of a compute-bound thread beside another one, relative to running alone.
    pub smt_share_permille: u32,
}

/// The inputs of a task's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Conditions {
    /// Frequency of the core.
    khz: u32,
    /// License rate: 0 halted.
    license_permille: u16,
    /// Stall share of the task at the reference frequency.
    stall_permille: u32,
    /// Stall share of the task on the sibling, if one runs.
    sibling_stall_permille: Option<u32>,
}

/// Rates of progress and loss on a CPU, constant between two changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pace {
    pub rate_q20: u64,
    /// Share of the time that is lost.
    pub lost_q20: u64,
    /// Share of the cycles that are stalled.
    pub stalled_q20: u64,
    /// 0 while halted.
    pub khz: u32,
    pub level: u8,
    pub throttled: bool,
}

/// The inputs of a pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Situation {
    /// Of the turbo table.
    pub row: usize,
    /// Whether the core has low priority, and frequencies of its own.
    pub is_slow: bool,
    /// Level whose frequency applies.
    pub level: u8,
    /// License rate: 0 halted.
    pub license_permille: u16,
    /// Stall share of the task at the reference frequency.
    pub stall_permille: u32,
    /// Stall share of the task on the sibling, if one runs.
    pub sibling_stall_permille: Option<u32>,
    /// Level that the task demands alone.
    pub own_level: u8,
    /// Whether the task loses time to a level or a width above its own.
    pub loses: bool,
}

impl Situation {
    /// The situation in one number: shares are at most 1000, rows and levels those of a table.
    #[inline]
    pub(crate) fn key(&self) -> u64 {
        let sibling = self.sibling_stall_permille.map_or(0, |stall| stall + 1);
        u64::from(self.is_slow) << 41
            | (self.row as u64) << 37
            | u64::from(self.level) << 34
            | u64::from(self.own_level) << 31
            | u64::from(self.loses) << 30
            | u64::from(self.license_permille) << 20
            | u64::from(self.stall_permille) << 10
            | u64::from(sibling)
    }
}

/// Paces that were computed before; few situations differ in a run.
pub(crate) struct Known {
    machine: Machine,
    /// Keys of situations with their paces.
    entries: Vec<(u64, Pace)>,
}

impl Known {
    const ENTRIES_LOG2: u32 = 10;
    /// No situation has this key.
    pub(crate) const NONE: u64 = u64::MAX;

    pub(crate) fn new(machine: Machine) -> Self {
        Self { machine, entries: vec![(Self::NONE, Pace::default()); 1 << Self::ENTRIES_LOG2] }
    }

    /// The pace in the situation with that key, from memory where possible.
    #[inline]
    pub(crate) fn pace(&mut self, turbo: &Turbo, situation: &Situation, key: u64) -> &Pace {
        let place = key.wrapping_mul(random::GOLDEN) >> (u64::BITS - Self::ENTRIES_LOG2);
        let entry = &mut self.entries[place as usize];
        if entry.0 != key {
            *entry = (key, pace(self.machine, turbo, situation));
        }
        &entry.1
    }
}

fn pace(machine: Machine, turbo: &Turbo, situation: &Situation) -> Pace {
    let conditions = Conditions {
        khz: turbo.khz(situation.row, situation.level),
        license_permille: situation.license_permille,
        stall_permille: situation.stall_permille,
        sibling_stall_permille: situation.sibling_stall_permille,
    };
    let rate = rate_q20(machine, &conditions);
    let lost = if situation.loses {
        let khz = turbo.khz(situation.row, situation.own_level);
        let ideal = Conditions { khz, license_permille: 1000, ..conditions };
        lost_q20(rate, rate_q20(machine, &ideal)).min(ONE_Q20)
    } else {
        0
    };
    Pace {
        rate_q20: rate,
        lost_q20: lost,
        stalled_q20: stalled_q20(conditions.stall_permille, rate),
        khz: if conditions.license_permille == 0 { 0 } else { conditions.khz },
        level: situation.level,
        throttled: conditions.license_permille < 1000,
    }
}

/// Reference ns per ns, in 2^-20, rounded down.
fn rate_q20(machine: Machine, c: &Conditions) -> u64 {
    if c.license_permille == 0 {
        return 0;
    }
    let compute = 1000 - u128::from(c.stall_permille);
    // 1/sigma = slow / (1000 * share).
    let share = u128::from(machine.smt_share_permille);
    let (slow, share) = match c.sibling_stall_permille {
        None => (1, 1),
        Some(sibling) => {
            (1000 * share + (1000 - share) * (1000 - u128::from(sibling)), 1000 * share)
        }
    };
    // 1/rate = stall/1000 + compute/1000 * ref/khz * 1000/license * slow/share.
    let khz_license = u128::from(c.khz) * u128::from(c.license_permille);
    let denominator = u128::from(c.stall_permille) * khz_license * share
        + compute * u128::from(machine.ref_khz) * 1000 * slow;
    let numerator = (1000 * khz_license * share) << 20;
    numerator.checked_div(denominator).unwrap_or(0) as u64
}

/// Share of the task's time that is stalled on memory, in 2^-20: m * rate.
fn stalled_q20(stall_permille: u32, rate_q20: u64) -> u64 {
    (u64::from(stall_permille) * rate_q20 / 1000).min(ONE_Q20)
}

/// Share of the time lost when `rate` is had instead of `ideal`, in 2^-20.
fn lost_q20(rate_q20: u64, ideal_q20: u64) -> u64 {
    if ideal_q20 <= rate_q20 { 0 } else { ((ideal_q20 - rate_q20) << 20) / ideal_q20 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine { ref_khz: 2_100_000, smt_share_permille: 625 };
    const ALONE: Conditions = Conditions {
        khz: 2_100_000,
        license_permille: 1000,
        stall_permille: 300,
        sibling_stall_permille: None,
    };

    fn close(actual: u64, expected: f64) {
        let actual = actual as f64 / ONE_Q20 as f64;
        assert!((actual - expected).abs() < 2e-6, "{actual} is not {expected}");
    }

    #[test]
    fn at_the_reference_frequency_time_is_reference_time() {
        close(rate_q20(MACHINE, &ALONE), 1.0);
    }

    #[test]
    fn only_the_compute_part_follows_the_frequency() {
        close(rate_q20(MACHINE, &Conditions { khz: 4_200_000, ..ALONE }), 1.0 / (0.3 + 0.35));
        close(rate_q20(MACHINE, &Conditions { khz: 1, stall_permille: 1000, ..ALONE }), 1.0);
    }

    #[test]
    fn a_throttle_multiplies_the_compute_part_and_a_halt_stops_all() {
        close(
            rate_q20(MACHINE, &Conditions { license_permille: 250, ..ALONE }),
            1.0 / (0.3 + 0.7 * 4.0),
        );
        assert_eq!(rate_q20(MACHINE, &Conditions { license_permille: 0, ..ALONE }), 0);
    }

    #[test]
    fn two_compute_bound_siblings_get_the_share_each() {
        let c = Conditions { stall_permille: 0, sibling_stall_permille: Some(0), ..ALONE };
        close(rate_q20(MACHINE, &c), 0.625);
    }

    #[test]
    fn a_stalled_sibling_takes_nothing() {
        let c = Conditions { stall_permille: 0, sibling_stall_permille: Some(1000), ..ALONE };
        close(rate_q20(MACHINE, &c), 1.0);
    }

    #[test]
    fn a_remembered_pace_equals_the_computed_one() {
        let cpu = crate::testing::skylake();
        let mut known = Known::new(MACHINE);
        let mut keys = std::collections::BTreeMap::new();
        for round in 0..2 {
            for place in 0..cpu.turbo.rows as usize * 18 {
                let (row, level, own_level) =
                    (place / 18, (place / 6 % 3) as u8, (place / 2 % 3) as u8);
                let loses = place % 2 == 1;
                for stall_permille in (0..=1000).step_by(50) {
                    for sibling_stall_permille in [None, Some(0), Some(1000)] {
                        for license_permille in [0, 250, 1000] {
                            let situation = Situation {
                                row,
                                is_slow: row % 2 == 1,
                                level,
                                license_permille,
                                stall_permille,
                                sibling_stall_permille,
                                own_level,
                                loses,
                            };
                            let key = situation.key();
                            let expected = pace(MACHINE, &cpu.turbo, &situation);
                            let found = *known.pace(&cpu.turbo, &situation, key);
                            assert_eq!(found, expected, "{round} {situation:?}");
                            assert_eq!(*keys.entry(key).or_insert(situation), situation);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn losing_a_third_of_the_rate_loses_a_third_of_the_time() {
        close(lost_q20(ONE_Q20 * 2 / 3, ONE_Q20), 1.0 / 3.0);
        assert_eq!(lost_q20(ONE_Q20, ONE_Q20), 0);
        assert_eq!(lost_q20(0, ONE_Q20), ONE_Q20);
    }
}

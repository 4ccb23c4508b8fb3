//! When to switch core specialization, and the changes that follow from the work done.

use serde::Serialize;
use thiserror::Error;

use super::{Verdict, judge};
use crate::Estimate;
use crate::changes::{VALUES_MIN, are_enough, of_changes};
use crate::machine::Random;

/// How an alternation is made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Length of a window with specialization or without.
    pub window_ns: u64,
    /// The beginning of each window, in which no work is counted: tasks move after a switch.
    pub settle_ns: u64,
    /// Pairs of windows to make at least.
    pub pairs_min: usize,
    /// Pairs of windows to make at most.
    pub pairs_max: usize,
    /// Half-width in points of the interval at which enough pairs were made.
    pub half_width_points: f64,
    /// Draws the order within pairs.
    pub seed: u64,
}

/// Two neighbouring windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Whether the window without specialization came first.
    pub off_first: bool,
    /// Work a second without specialization.
    pub off_rate: f64,
    /// Work a second with it.
    pub on_rate: f64,
}

impl Pair {
    /// Change by specialization, in percent.
    #[must_use]
    pub fn change_pct(&self) -> f64 {
        (self.on_rate / self.off_rate - 1.0) * 100.0
    }
}

/// What pairs say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// Change of the work done a second by specialization, in percent.
    pub change_pct: Estimate,
    /// The judgement.
    pub verdict: Verdict,
    /// Every pair in order.
    pub pairs: Vec<Pair>,
}

/// The work ended before there were enough pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "{pairs} pairs of windows had work in them, and {VALUES_MIN} are the least; \
         shorter windows or work that lasts longer would help"
)]
pub struct TooFewPairs {
    /// How many there were.
    pub pairs: usize,
}

/// The estimate of all pairs.
///
/// # Errors
/// [`TooFewPairs`].
pub fn advise(pairs: Vec<Pair>) -> Result<Advice, TooFewPairs> {
    let change_pct = of_changes(&changes_of(&pairs)).ok_or(TooFewPairs { pairs: pairs.len() })?;
    Ok(Advice { verdict: judge(&change_pct), change_pct, pairs })
}

fn changes_of(pairs: &[Pair]) -> Vec<f64> {
    pairs.iter().map(Pair::change_pct).collect()
}

/// Pairs between two looks at the interval.
const PAIRS_A_LOOK: usize = 10;
/// This many pairs without work are bad luck, if half as many pairs have some.
const WORKLESS_MAX: usize = 20;

/// The part of a window that is under way.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// No window has begun.
    Begins,
    /// The beginning of a window, where nothing is counted.
    Settles,
    /// The work is counted.
    Counts { since_ns: u64, work: u64 },
    /// Nothing more to do.
    Over,
}

/// The course of an alternation. It has no clock: the caller calls [`Alternation::act`] at each
/// [`Alternation::acts_ns`].
#[derive(Clone, Debug)]
pub struct Alternation {
    plan: Plan,
    random: Random,
    stage: Stage,
    acts_ns: u64,
    off_first: bool,
    /// The rate of the first window of the pair, once it is over.
    first_rate: Option<f64>,
    pairs: Vec<Pair>,
    /// Pairs in which nothing was done without specialization.
    workless: usize,
}

impl Alternation {
    /// The first window begins at `begin_ns`.
    #[must_use]
    pub fn new(plan: Plan, begin_ns: u64) -> Self {
        Self {
            random: Random::new(plan.seed),
            plan,
            stage: Stage::Begins,
            acts_ns: begin_ns,
            off_first: false,
            first_rate: None,
            pairs: Vec::new(),
            workless: 0,
        }
    }

    /// When to call [`Alternation::act`]; `None`: the alternation is over.
    #[must_use]
    pub fn acts_ns(&self) -> Option<u64> {
        (!matches!(self.stage, Stage::Over)).then_some(self.acts_ns)
    }

    /// Reads the work done so far, and returns whether specialization is on from now on.
    pub fn act(&mut self, now_ns: u64, work: u64) -> bool {
        match self.stage {
            Stage::Over => return true,
            Stage::Begins => self.begin_pair(now_ns),
            Stage::Settles => {
                self.stage = Stage::Counts { since_ns: now_ns, work };
                self.acts_ns = now_ns + (self.plan.window_ns - self.plan.settle_ns).max(1);
            }
            Stage::Counts { since_ns, work: before } => {
                let seconds = now_ns.saturating_sub(since_ns).max(1) as f64 / 1e9;
                self.end_window(now_ns, work.saturating_sub(before) as f64 / seconds);
            }
        }
        self.is_on()
    }

    /// The pairs made so far.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    fn is_on(&self) -> bool {
        let is_first = self.first_rate.is_none();
        matches!(self.stage, Stage::Over) || self.off_first != is_first
    }

    fn begin_pair(&mut self, now_ns: u64) {
        self.off_first = self.random.next() & 1 == 1;
        self.begin_window(now_ns);
    }

    fn begin_window(&mut self, now_ns: u64) {
        self.stage = Stage::Settles;
        self.acts_ns = now_ns + self.plan.settle_ns;
    }

    fn end_window(&mut self, now_ns: u64, rate: f64) {
        let Some(first_rate) = self.first_rate.take() else {
            self.first_rate = Some(rate);
            self.begin_window(now_ns);
            return;
        };
        let (off_rate, on_rate) =
            if self.off_first { (first_rate, rate) } else { (rate, first_rate) };
        if off_rate > 0.0 {
            self.pairs.push(Pair { off_first: self.off_first, off_rate, on_rate });
        } else {
            self.workless += 1;
        }
        if self.has_enough() {
            self.stage = Stage::Over;
        } else {
            self.begin_pair(now_ns);
        }
    }

    fn has_enough(&self) -> bool {
        let Plan { pairs_min, pairs_max, half_width_points, .. } = self.plan;
        let pairs = self.pairs.len();
        pairs >= pairs_max.max(VALUES_MIN)
            || self.workless > WORKLESS_MAX.max(2 * pairs)
            || are_enough(&changes_of(&self.pairs), pairs_min, PAIRS_A_LOOK, half_width_points)
    }
}

impl simulator::Operator for Alternation {
    fn acts_ns(&self) -> Option<u64> {
        self.acts_ns()
    }

    fn act(&mut self, machine: &mut dyn simulator::Operated) {
        let is_on = self.act(machine.now_ns(), machine.ref_cycles_done());
        machine.specialize(is_on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn plan(pairs_max: usize) -> Plan {
        Plan {
            window_ns: 100 * MS,
            settle_ns: 20 * MS,
            pairs_min: 10,
            pairs_max,
            half_width_points: 0.5,
            seed: 7,
        }
    }

    /// Plays a machine of which each window's rate is drawn; specialization changes it by `gain`,
    /// and just after a switch nothing is done. Returns the pairs and whether it ended on.
    fn play(plan: Plan, gain: f64, spread: f64, drift: f64) -> (Vec<Pair>, bool) {
        let mut random = Random::new(plan.seed + 1000);
        let mut alternation = Alternation::new(plan, 0);
        let (mut now_ns, mut work, mut is_on) = (0, 0.0, true);
        let mut switched_ns = 0;
        let mut noise = 0.0;
        while let Some(at_ns) = alternation.acts_ns() {
            let rate = (1000.0 + drift * now_ns as f64 / 1e9)
                * if is_on { 1.0 + gain } else { 1.0 }
                * (1.0 + noise);
            let idle_ns = (switched_ns + 20 * MS).saturating_sub(now_ns).min(at_ns - now_ns);
            work += rate * (at_ns - now_ns - idle_ns) as f64 / 1e3;
            now_ns = at_ns;
            let turns_on = alternation.act(now_ns, work as u64);
            if turns_on != is_on {
                (switched_ns, is_on) = (now_ns, turns_on);
                noise = spread * (random.share() - 0.5);
            }
        }
        (alternation.pairs().to_vec(), is_on)
    }

    #[test]
    fn a_gain_is_found_whatever_follows_a_switch() {
        let held = (0..100).filter(|&seed| {
            let (pairs, is_on) = play(Plan { seed, ..plan(40) }, 0.042, 0.02, 0.0);
            let advice = advise(pairs).unwrap();
            assert_eq!((advice.verdict, is_on), (Verdict::Pays, true));
            advice.change_pct.contains(4.2)
        });
        // 95 % less three deviations, and a little less for ending where the interval is narrow.
        assert!(held.count() >= 86);
    }

    #[test]
    fn quiet_pairs_end_early_and_loud_ones_go_on_to_the_most() {
        assert_eq!(play(plan(500), 0.0, 0.0001, 0.0).0.len(), 10);
        assert_eq!(play(plan(60), 0.0, 0.5, 0.0).0.len(), 60);
    }

    #[test]
    fn a_load_that_grows_is_no_gain() {
        let (pairs, _) = play(plan(200), 0.0, 0.001, 20.0);
        let firsts = pairs.iter().filter(|pair| pair.off_first).count();
        assert!(pairs.len() < 20 || (firsts > pairs.len() / 3 && firsts < pairs.len() * 2 / 3));
        let advice = advise(pairs).unwrap();
        assert!(advice.change_pct.contains(0.0), "{:?}", advice.change_pct);
    }

    #[test]
    fn a_machine_without_work_ends_without_advice() {
        let mut alternation = Alternation::new(plan(1000), 5);
        let mut acts = 0;
        while let Some(at_ns) = alternation.acts_ns() {
            alternation.act(at_ns, 17);
            acts += 1;
        }
        assert_eq!(acts, 1 + 4 * (WORKLESS_MAX + 1));
        assert_eq!(advise(alternation.pairs().to_vec()), Err(TooFewPairs { pairs: 0 }));
    }
}

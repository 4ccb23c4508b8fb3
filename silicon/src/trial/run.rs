//! The order of blocks, and the changes that they yield.

use std::time::{Duration, Instant};

use kernels::Tsc;
use serde::Serialize;

use crate::Estimate;
use crate::changes::{VALUES_MIN, are_enough, of_changes};
use crate::machine::Random;

use super::{Culprit, Form, Progress, TrialError, Victim, culprit, victim};

/// How a trial is made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// CPU of the victim.
    pub victim_cpu: u32,
    /// CPU of the culprit; the victim's CPU for a shared one.
    pub culprit_cpu: u32,
    /// Length of a block.
    pub block: Duration,
    /// Pairs to make at least, placebos aside.
    pub pairs_min: usize,
    /// Pairs to make at most, placebos aside.
    pub pairs_max: usize,
    /// Half-width in points at which enough pairs were made.
    pub half_width_points: f64,
    /// Draws the order within pairs.
    pub seed: u64,
}

/// Two neighbouring blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Control against control.
    pub placebo: bool,
    /// Whether the control came first; of a placebo, the block that counts as the control.
    pub control_first: bool,
    /// Victim's work a CPU second beside the control.
    pub control_rate: f64,
    /// Victim's work a CPU second beside the wide form.
    pub wide_rate: f64,
    /// Share of the wall clock that the victim had in both blocks.
    pub cpu_share: f64,
}

impl Pair {
    /// Change of the victim's progress a CPU second, in percent.
    #[must_use]
    pub fn change_pct(&self) -> f64 {
        (self.wide_rate / self.control_rate - 1.0) * 100.0
    }
}

/// The results of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// Change of the victim's progress a CPU second, in percent.
    pub change_pct: Estimate,
    /// The change between equal blocks; `None` for too few placebos.
    pub placebo_pct: Option<Estimate>,
    /// Pairs thrown away because the victim did nothing in one of their blocks.
    pub discarded: usize,
    /// Every pair in order.
    pub pairs: Vec<Pair>,
}

/// Time after a change of the culprit that belongs to neither block: the new form must first run.
const GUARD: Duration = Duration::from_millis(12);
/// How often a culprit that ended is looked for.
const LOOK: Duration = Duration::from_millis(10);
/// One pair in this many is a placebo.
const PLACEBO_ONE_IN: usize = 3;
/// This many pairs without progress are bad luck on a busy machine, if as many pairs are fine.
const DISCARDED_MAX: usize = 20;
/// Pairs between two looks at the interval.
const PAIRS_A_LOOK: usize = 25;

/// Runs a trial; `progress` hears the pairs made so far, of how many at most.
///
/// # Errors
/// When a program does not start, fails or ends too soon, and when the victim does nothing in most
/// blocks.
pub fn run(
    plan: &Plan,
    victim: &Victim,
    culprit: &Culprit,
    tsc: &Tsc,
    mut progress: impl FnMut(usize, usize),
) -> Result<Trial, TrialError> {
    let mut bench = Bench {
        plan,
        victim,
        running: victim::Running::start(victim, plan.victim_cpu, tsc)?,
        culprit: culprit::Running::start(culprit, plan.culprit_cpu, tsc)?,
    };
    let mut random = Random::new(plan.seed);
    let mut pairs: Vec<Pair> = Vec::new();
    let mut changes = Vec::new();
    let mut discarded = 0;
    while changes.len() < plan.pairs_max.max(VALUES_MIN) {
        let placebo = pairs.len() % PLACEBO_ONE_IN == PLACEBO_ONE_IN - 1;
        let Some(pair) = bench.pair(placebo, random.next() & 1 == 1)? else {
            discarded += 1;
            if discarded > DISCARDED_MAX.max(2 * pairs.len()) {
                return Err(TrialError::NoProgress { block_ms: plan.block.as_millis() });
            }
            continue;
        };
        pairs.push(pair);
        if placebo {
            continue;
        }
        changes.push(pair.change_pct());
        progress(changes.len(), plan.pairs_max);
        if are_enough(&changes, plan.pairs_min, PAIRS_A_LOOK, plan.half_width_points) {
            break;
        }
    }
    let placebos: Vec<f64> =
        pairs.iter().filter(|pair| pair.placebo).map(Pair::change_pct).collect();
    Ok(Trial {
        change_pct: of_changes(&changes).expect("there are enough pairs"),
        placebo_pct: of_changes(&placebos),
        discarded,
        pairs,
    })
}

/// Victim and culprit at work.
struct Bench<'a> {
    plan: &'a Plan,
    victim: &'a Victim,
    running: Option<victim::Running>,
    culprit: culprit::Running,
}

/// The victim's progress in a block.
struct Block {
    rate: f64,
    cpu_share: f64,
}

impl Bench<'_> {
    fn pair(&mut self, placebo: bool, control_first: bool) -> Result<Option<Pair>, TrialError> {
        let other = if placebo { Form::Control } else { Form::Wide };
        let (control, wide) = if control_first {
            let control = self.block(Form::Control)?;
            (control, self.block(other)?)
        } else {
            let wide = self.block(other)?;
            (self.block(Form::Control)?, wide)
        };
        let (Some(control), Some(wide)) = (control, wide) else {
            return Ok(None);
        };
        Ok(Some(Pair {
            placebo,
            control_first,
            control_rate: control.rate,
            wide_rate: wide.rate,
            cpu_share: (control.cpu_share + wide.cpu_share) / 2.0,
        }))
    }

    /// `None` where the victim did nothing.
    fn block(&mut self, form: Form) -> Result<Option<Block>, TrialError> {
        self.culprit.show(form)?;
        std::thread::sleep(GUARD);
        let start = Instant::now();
        let (work, cpu_s) = if let Some(running) = &mut self.running {
            let before = running.reading()?;
            while start.elapsed() < self.plan.block {
                std::thread::sleep(LOOK.min(self.plan.block.saturating_sub(start.elapsed())));
                self.culprit.keep_alive()?;
            }
            let after = running.reading()?;
            (after.work - before.work, after.cpu_s - before.cpu_s)
        } else {
            let Victim::Command(command, Progress::Completion) = self.victim else {
                unreachable!("every other victim goes on");
            };
            let cpu = self.plan.victim_cpu;
            (1.0, victim::complete(command, cpu, || self.culprit.keep_alive())?)
        };
        if work <= 0.0 || cpu_s <= 0.0 {
            return Ok(None);
        }
        Ok(Some(Block { rate: work / cpu_s, cpu_share: cpu_s / start.elapsed().as_secs_f64() }))
    }
}

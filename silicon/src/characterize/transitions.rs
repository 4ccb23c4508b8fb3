//! Ways between two levels of which neither is scalar's.

use cpu_model::Class;
use kernels::Rate;

use super::class::{PRINTED_ERROR, break_even_us, plateau_windows, returns};
use super::curve::ratio_curve;
use super::effect::{EFFECT, ratios};
use super::entry::entries;
use super::fall::{estimate_us, plateau};
use super::findings::{Cost, Findings, Transition};
use super::rounds::{Kind, Rounds};
use super::{Run, TRANSITIONS_SHARE};
use crate::machine::{Machine, Others, Work};
use crate::statistics::Estimate;

/// Plays each slower level between the faster one, and that one alone as the control.
pub(super) fn ask<M: Machine>(run: &mut Run<'_, M>, findings: &mut Findings) {
    let classes: Vec<Class> = findings.levels.iter().map(|level| level.classes[0]).collect();
    let pairs: Vec<(Class, Class)> = classes
        .iter()
        .enumerate()
        .flat_map(|(index, &from)| classes[index + 1..].iter().map(move |&to| (from, to)))
        .collect();
    if pairs.is_empty() {
        return;
    }
    let others = match findings.telling(pairs[0].1) {
        Some((busy_others, _)) if busy_others > 0 => Others::Busy(busy_others),
        _ => Others::Idle,
    };
    let mut kinds: Vec<Kind> = pairs.iter().map(|&(from, to)| kind(from, to)).collect();
    kinds.extend(classes[..classes.len() - 1].iter().map(|&class| kind(class, class)));
    let rounds = run.play(&kinds, others, TRANSITIONS_SHARE);
    findings.transitions = pairs.iter().map(|&(from, to)| transition(&rounds, from, to)).collect();
}

fn kind(from: Class, to: Class) -> Kind {
    Kind { around: Work::Stream(from, Rate::Full), middle: Work::Stream(to, Rate::Full) }
}

fn transition(rounds: &Rounds, from: Class, to: Class) -> Transition {
    let (bursts, control) = (rounds.of(kind(from, to)), rounds.of(kind(from, from)));
    let entries = entries(bursts, control);
    let entry = estimate_us(&entries.cost_ns)
        .map(|us| Cost { us, discarded: entries.discarded })
        .filter(|cost| cost.us.low > 0.0);
    let mut found = Transition { from, to, entry, boost: None, hold_us: None, break_even_us: None };
    let Some((windows, level)) = plateau(&ratio_curve(bursts, control)) else { return found };
    let (hold, boost) = returns(bursts, control, level);
    found.hold_us = hold.map(|hold| hold.us);
    found.boost = boost;
    let ratio =
        Estimate::of_median(&ratios(bursts, control, plateau_windows(windows)), PRINTED_ERROR);
    found.break_even_us = ratio
        .filter(|ratio| ratio.high < 1.0 - EFFECT / 2.0)
        .and_then(|ratio| break_even_us(found.entry.as_ref(), found.boost.as_ref(), ratio));
    found
}

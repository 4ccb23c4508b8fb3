//! Is another CPU's clock lowered too: a sibling's, another core's, another package's?

use cpu_model::Class;

use super::effect::EFFECT;
use super::findings::{Findings, Neighbour, Verdict};
use super::rounds::{Burst, Kind, Rounds};
use super::{NEIGHBOURS_SHARE, Run};
use crate::machine::{Facts, Machine, Others, Relation};
use crate::statistics::{Estimate, typical};

/// Probability of a wrong word about any of the neighbours.
const ERROR: f64 = 0.01;
/// The observer's windows in this first part of the wide instructions are left out: the transition
/// still runs (D 3.2.2).
const ENTRY_NS: f64 = 60_000.0;
/// Fewest windows of a burst that the observer must have seen.
const WINDOWS_MIN: usize = 3;
/// What the observer sees after the last instruction at most, in ns.
const AFTER_NS_MAX: f64 = 500_000.0;

/// Lets one CPU of each kind observe itself beside the affected class that lowers the clock most.
pub(super) fn ask<M: Machine>(run: &mut Run<'_, M>, facts: &Facts, findings: &mut Findings) {
    let Some(class) = findings.levels.last().map(|level| level.classes[0]) else { return };
    let observers: Vec<usize> = [Relation::Sibling, Relation::Package, Relation::Elsewhere]
        .into_iter()
        .filter_map(|relation| facts.others.iter().position(|&(_, other)| other == relation))
        .collect();
    let hold_ns = findings
        .telling(class)
        .and_then(|(_, found)| found.hold.as_ref())
        .map_or(f64::INFINITY, |hold| hold.us.value * 1000.0);
    let kinds = [Kind::of(Class::Scalar), Kind::of(class)];
    for &observer in &observers {
        let share = NEIGHBOURS_SHARE / observers.len() as f64;
        let rounds = run.play(&kinds, Others::Observes(observer), share);
        let (cpu, relation) = facts.others[observer];
        let found = neighbour(&rounds, class, relation, hold_ns, observers.len());
        findings.neighbours.push(Neighbour { cpu, ..found });
    }
}

fn neighbour(
    rounds: &Rounds,
    class: Class,
    relation: Relation,
    hold_ns: f64,
    tests: usize,
) -> Neighbour {
    let (bursts, scalar) = (rounds.of(Kind::of(class)), rounds.of(Kind::of(Class::Scalar)));
    // Beside a sibling wide instructions also take execution units, so only what comes after
    // them tells of the clock.
    let beside = |burst: &Burst| seen(burst, relation == Relation::Sibling, hold_ns);
    let ratios: Vec<f64> = bursts
        .iter()
        .zip(scalar)
        .filter_map(|(burst, scalar)| Some(beside(scalar)? / beside(burst)?))
        .collect();
    let ratio = Estimate::of_median(&ratios, ERROR / tests as f64);
    let verdict = match ratio {
        Some(ratio) if ratio.high < 1.0 && ratio.value <= 1.0 - EFFECT => Verdict::Affected,
        Some(ratio) if ratio.is_inside(1.0 - EFFECT, 1.0 + EFFECT) => Verdict::Unaffected,
        Some(_) => Verdict::Hidden("noise".to_owned()),
        None => Verdict::Hidden("it was seldom observed undisturbed".to_owned()),
    };
    let place = match relation {
        Relation::Sibling => "sibling",
        Relation::Package => "core",
        Relation::Elsewhere => "package",
    };
    Neighbour { cpu: 0, place, class, verdict, ratio }
}

/// How long the observer's windows took while the clock of this core was low.
fn seen(burst: &Burst, only_after: bool, hold_ns: f64) -> Option<f64> {
    let sum = |windows: &[f32]| windows.iter().map(|&ns| f64::from(ns)).sum::<f64>();
    let begins = sum(&burst.0.windows[0]);
    let ends = begins + sum(burst.during());
    let from = if only_after { ends } else { begins + ENTRY_NS };
    let to = if only_after { ends + (0.9 * hold_ns).min(AFTER_NS_MAX) } else { ends };
    let windows: Vec<f32> = burst
        .0
        .observed
        .iter()
        .filter(|(start, ns)| *start >= from && start + f64::from(*ns) <= to)
        .map(|&(_, ns)| ns)
        .collect();
    if windows.len() < WINDOWS_MIN { None } else { typical(&windows) }
}

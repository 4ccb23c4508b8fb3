//! How dense must the instructions of an affected class be?

use cpu_model::Class;
use kernels::Rate;

use super::class::{PRINTED_ERROR, plateau_windows};
use super::effect::ratios;
use super::findings::{Findings, RateFinding};
use super::rounds::{Kind, Rounds};
use super::{RATES_SHARE, Run};
use crate::machine::{Machine, Others, WINDOW_NS, Work};
use crate::statistics::Estimate;

/// Cycles an instruction, from dense to sparse. A threshold of one in two is known (D 3.2.1).
const CYCLES: [u32; 6] = [1, 2, 4, 16, 64, 256];
/// The same for tile products, of which a core does one in 16 cycles.
const AMX_CYCLES: [u32; 4] = [16, 32, 64, 256];

/// Plays affected classes at several rates.
pub(super) fn ask<M: Machine>(run: &mut Run<'_, M>, findings: &mut Findings) {
    let classes = findings.affected();
    if classes.is_empty() {
        return;
    }
    let others = classes
        .iter()
        .filter_map(|&class| findings.telling(class))
        .map(|(busy_others, _)| busy_others)
        .max()
        .filter(|&busy| busy > 0)
        .map_or(Others::Idle, Others::Busy);
    let mut kinds = vec![Kind::of(Class::Scalar)];
    for &class in &classes {
        kinds.push(Kind::of(class));
        kinds.extend(cycles(class).iter().map(|&cycles| kind(class, cycles)));
    }
    let rounds = run.play(&kinds, others, RATES_SHARE);
    findings.rates =
        classes.iter().filter_map(|&class| finding(&rounds, class, findings)).collect();
}

fn cycles(class: Class) -> &'static [u32] {
    if class == Class::Amx { &AMX_CYCLES } else { &CYCLES }
}

fn kind(class: Class, cycles: u32) -> Kind {
    Kind { middle: Work::Stream(class, Rate::OneIn(cycles)), ..Kind::of(class) }
}

fn finding(rounds: &Rounds, class: Class, findings: &Findings) -> Option<RateFinding> {
    let (_, found) = findings.telling(class)?;
    let hold_us = found.hold.as_ref().map_or(f64::INFINITY, |hold| hold.us.value);
    // A whole hold is not needed; its first part is the most undisturbed.
    let band = plateau_windows((hold_us * 1000.0 / WINDOW_NS).clamp(1.0, 100.0) as usize);
    let scalar = rounds.of(Kind::of(Class::Scalar));
    let ratio = |kind| Estimate::of_median(&ratios(rounds.of(kind), scalar, band), PRINTED_ERROR);
    let full = ratio(Kind::of(class))?;
    let ratios: Vec<(u32, Estimate)> = cycles(class)
        .iter()
        .filter_map(|&cycles| Some((1000 / cycles, ratio(kind(class, cycles))?)))
        .collect();
    // Half way between the level and no effect, and the half surely passed.
    let reaches = |ratio: &Estimate| ratio.high < (1.0 + full.value) / 2.0;
    let dense = ratios.iter().take_while(|(_, ratio)| reaches(ratio)).last();
    let reaches_level_from_permille = dense.map(|&(permille, _)| permille);
    Some(RateFinding { class, ratios, reaches_level_from_permille })
}

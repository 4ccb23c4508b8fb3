//! Transitions between levels: stages and costs.

use serde::Serialize;

use super::{CpuTable, RiseRule, StageRule};
use crate::{Rise, Stage};

/// The stages and the cost of a transition from one level to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// Level before.
    pub from: u8,
    /// Level after.
    pub to: u8,
    /// For heavy or for light instructions; `None`: the same for both.
    pub heavy: Option<bool>,
    /// Stages, in order; a fall is one halt.
    pub stages: Vec<StageRule>,
    /// Time lost, as if the core had been halted that long.
    pub cost_ns: u64,
    /// Time lost while few cores are active.
    pub cost_few_ns: u64,
}

impl RiseRule {
    /// The stages of this rise from the given level.
    pub(super) fn dense(&self, from: u8) -> Rise {
        let stages: Vec<Stage> = self
            .stages
            .iter()
            .map(|stage| {
                Stage::new(
                    stage.duration_ns,
                    stage.duration_few_ns,
                    stage.rate_permille,
                    stage.level.unwrap_or(from),
                )
            })
            .collect();
        Rise::new(&stages)
    }
}

impl CpuTable {
    /// The rise that applies: one for this `from` before one for any, then one for this kind of
    /// instructions before one for both.
    #[must_use]
    pub fn rise(&self, from: u8, to: u8, heavy: bool) -> Option<&RiseRule> {
        self.rises
            .iter()
            .filter(|rise| from < to && rise.to == to)
            .filter(|rise| rise.from.is_none_or(|level| level == from))
            .filter(|rise| rise.heavy.is_none_or(|kind| kind == heavy))
            .max_by_key(|rise| (rise.from.is_some(), rise.heavy.is_some()))
    }

    /// Cost of a transition in ns of an equivalent halt; `None`: the table lacks a value.
    ///
    /// A fall costs its halt, staying costs nothing.
    #[must_use]
    pub fn transition_cost_ns(&self, from: u8, to: u8, heavy: bool, few: bool) -> Option<u64> {
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => Some(0),
            std::cmp::Ordering::Less => Some(self.rise(from, to, heavy)?.dense(from).cost_ns(few)),
            std::cmp::Ordering::Greater => self.license.as_ref()?.fall_halt_ns.map(u64::from),
        }
    }

    /// Every rise the table gives, by level before and after.
    #[must_use]
    pub fn transitions(&self) -> Vec<Transition> {
        let mut transitions = Vec::new();
        let levels = self.levels.names.len() as u8;
        for (from, to) in (0..levels).flat_map(|from| (from + 1..levels).map(move |to| (from, to)))
        {
            let (light, heavy) = (self.rise(from, to, false), self.rise(from, to, true));
            let both = light.map(|rise| &rise.stages) == heavy.map(|rise| &rise.stages);
            if both {
                transitions.extend(light.map(|rise| transition(rise, from, None)));
            } else {
                transitions.extend(light.map(|rise| transition(rise, from, Some(false))));
                transitions.extend(heavy.map(|rise| transition(rise, from, Some(true))));
            }
        }
        transitions
    }

    /// A rise in words, such as `non-avx -> avx2 (heavy)`.
    pub(super) fn describe(&self, rise: &RiseRule) -> String {
        let from = rise.from.map_or("any", |from| &self.levels.names[usize::from(from)]);
        describe(from, &self.levels.names[usize::from(rise.to)], rise.heavy)
    }
}

pub(super) fn describe(from: &str, to: &str, heavy: Option<bool>) -> String {
    let kind = match heavy {
        None => "",
        Some(true) => " (heavy)",
        Some(false) => " (light)",
    };
    format!("{from} -> {to}{kind}")
}

fn transition(rise: &RiseRule, from: u8, heavy: Option<bool>) -> Transition {
    let dense = rise.dense(from);
    Transition {
        from,
        to: rise.to,
        heavy,
        stages: rise.stages.clone(),
        cost_ns: dense.cost_ns(false),
        cost_few_ns: dense.cost_ns(true),
    }
}

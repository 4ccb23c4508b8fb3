//! The matrix of losses by victim and culprit, with intervals.

use std::collections::BTreeMap;

use cpu_model::LEVELS_MAX;
use random::SplitMix64;

use crate::basis::Basis;
use crate::culprits::Cause;
use crate::evidence::Evidence;
use crate::items::{Item, Items};
use crate::joint::{Table, times_ns};
use crate::overhead::Method;
use crate::profile::{Profile, Times};
use crate::shown::Shown;
use crate::times::by_group;
use crate::unseen::{TAIL, Unseen};

/// A value and its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The loss of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Victim {
    /// Index into [`Profile::groups`].
    pub group: usize,
    /// CPU time of its tasks.
    pub cpu_time_ns: u64,
    /// Time that its tasks were runnable without a CPU.
    pub waited_ns: u64,
    /// CPU time lost.
    pub lost_ns: Estimate,
    /// By how much longer its work took, in percent.
    pub overhead_pct: Estimate,
    /// Samples of its tasks.
    pub samples: usize,
    /// The basis of the estimate.
    pub basis: Basis,
    /// The highest level that its tasks demand themselves.
    pub own_level: u8,
}

/// The loss of one group to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Index into [`Profile::groups`].
    pub victim: usize,
    /// Index into [`Profile::groups`]; `None`: unknown.
    pub culprit: Option<usize>,
    /// CPU time lost, by [`Cause::ALL`].
    pub by_cause_ns: [f64; 3],
    /// CPU time lost.
    pub lost_ns: Estimate,
    /// Time for which the victim was runnable while the culprit had the CPU.
    pub waited_ns: u64,
    /// Time for which both ran on CPUs of one core.
    pub beside_ns: u64,
}

/// Losses by victim and culprit.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// By group.
    pub victims: Vec<Victim>,
    /// By victim and culprit; pairs that never met are left out.
    pub entries: Vec<Entry>,
    /// By how much longer the work of all groups took, in percent.
    pub overhead_pct: Estimate,
}

/// The model of stalls errs by 4.3 % of the speed on average where the clock falls from 2.8 to
/// 1.9 GHz, which is an overhead of 47 % (D 4.3.2). Chance does not show that error, so intervals
/// are wider by this share of the value.
const MODEL_ERROR: f64 = 0.043 / 0.474;
/// Bootstrap replicates of an interval.
const REPLICATES: usize = 400;

impl Matrix {
    /// The estimator with pauses: samples say which share of the time at each level was lost, and
    /// counters at switches say how much time that was. `seed` decides the intervals' draws.
    #[must_use]
    pub fn of_samples(profile: &Profile, method: Method, seed: u64) -> Self {
        let times = by_group(&profile.times, &profile.group_of, profile.groups.len());
        let evidence = Evidence::of(profile);
        let shown = Shown::by_samples(profile, &evidence.shown);
        let items = Items::of_samples(profile, &shown, &evidence, &times, method);
        Self::of(profile, &items, &shown, &times, seed)
    }

    /// The estimator without pauses: which levels a group's tasks demand themselves follows from
    /// counters at switches.
    #[must_use]
    pub fn of_slices(profile: &Profile, seed: u64) -> Self {
        let times = by_group(&profile.times, &profile.group_of, profile.groups.len());
        let evidence = Evidence::of(profile);
        let items = Items::of_slices(profile, &evidence, &times);
        Self::of(profile, &items, &evidence.shown, &times, seed)
    }

    /// The estimator with pauses and without counters: how much faster the core of a task ran when
    /// the task had been alone. Stalls are not known, so a loss is the most that it can be.
    #[must_use]
    pub fn of_clocks(profile: &Profile, seed: u64) -> Self {
        let times = by_group(&profile.times, &profile.group_of, profile.groups.len());
        let shown = Evidence::of(profile).shown;
        let items = Items::of_clocks(profile, &shown);
        Self::of(profile, &items, &shown, &times, seed)
    }

    fn of(profile: &Profile, items: &Items, shown: &Shown, times: &[Times], seed: u64) -> Self {
        let draws = Draws::of(items, times, seed);
        let unseen = Unseen::of(profile, items, times);
        let victims = (0..times.len()).map(|group| {
            let time_ns = times[group].cpu_time_ns as f64;
            Victim {
                group,
                cpu_time_ns: times[group].cpu_time_ns,
                waited_ns: times[group].waited_ns,
                lost_ns: draws.estimate(|sums| sums.lost_ns(group), unseen.ns[group]),
                overhead_pct: draws.estimate(
                    |sums| longer_pct(time_ns, sums.lost_ns(group)),
                    longer_pct(time_ns, unseen.ns[group]),
                ),
                samples: items.samples[group],
                basis: items.basis[group],
                own_level: shown.highest(group),
            }
        });
        let victims: Vec<Victim> = victims.collect();
        let all_ns: u64 = times.iter().map(|times| times.cpu_time_ns).sum();
        let overhead_pct = draws.estimate(
            |sums| {
                let lost_ns = (0..times.len()).map(|group| sums.lost_ns(group)).sum();
                longer_pct(all_ns as f64, lost_ns)
            },
            longer_pct(all_ns as f64, unseen.all_ns),
        );
        Self { entries: entries(profile, &draws, &victims, &unseen), victims, overhead_pct }
    }
}

/// By how much longer work takes that loses so much of its time.
fn longer_pct(time_ns: f64, lost_ns: f64) -> f64 {
    let left_ns = time_ns - lost_ns;
    if left_ns > 0.0 { 100.0 * (time_ns / left_ns - 1.0) } else { 0.0 }
}

/// The pairs that met.
fn entries(profile: &Profile, draws: &Draws, victims: &[Victim], unseen: &Unseen) -> Vec<Entry> {
    let groups = victims.len();
    let waits_ns = profile.by_groups(&profile.waits_ns);
    let beside_ns = profile.by_groups(&profile.beside_ns);
    let mut entries = Vec::new();
    for victim in 0..groups {
        let row = victim * groups..(victim + 1) * groups;
        let explained_ns: u64 = waits_ns[row].iter().sum();
        for column in 0..=groups {
            let culprit = (column < groups).then_some(column);
            let by_cause_ns = draws.whole.pair_ns(victim, column);
            let (waited_ns, beside_ns) = match culprit {
                Some(it) => (waits_ns[victim * groups + it], beside_ns[victim * groups + it]),
                None => (victims[victim].waited_ns.saturating_sub(explained_ns), 0),
            };
            if by_cause_ns.iter().any(|&ns| ns != 0.0) || waited_ns + beside_ns > 0 {
                entries.push(Entry {
                    victim,
                    culprit,
                    by_cause_ns,
                    lost_ns: draws.estimate(
                        |sums| sums.pair_ns(victim, column).iter().sum(),
                        unseen.ns[victim],
                    ),
                    waited_ns,
                    beside_ns,
                });
            }
        }
    }
    entries
}

/// The sums of all items, and those of items drawn again (bootstrap).
struct Draws {
    whole: Sums,
    again: Vec<Sums>,
}

impl Draws {
    fn of(all: &Items, times: &[Times], seed: u64) -> Self {
        let items = &all.items;
        let mut random = SplitMix64::new(seed);
        let mut draw = || &items[random.below(items.len() as u64) as usize];
        let sums =
            |drawn: &mut dyn Iterator<Item = &Item>| Sums::of(drawn, times, all.is_published);
        let again = (0..REPLICATES).map(|_| sums(&mut (0..items.len()).map(|_| draw())));
        let again = again.collect();
        Self { whole: sums(&mut items.iter()), again }
    }

    /// A value with its interval. Its upper end is at least `unseen`, that of no loss in any item:
    /// items drawn again show nothing that the items do not.
    fn estimate(&self, of: impl Fn(&Sums) -> f64, unseen: f64) -> Estimate {
        let mut values: Vec<f64> = self.again.iter().map(&of).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[(REPLICATES as f64 * share) as usize];
        let value = of(&self.whole);
        let wider = MODEL_ERROR * value.abs();
        // Only clocks that fell for other reasons make a loss negative.
        let least = values[0].min(0.0);
        Estimate {
            value,
            low: (at(TAIL) - wider).max(least),
            high: (at(1.0 - TAIL) + wider).max(unseen),
        }
    }
}

/// Losses by victim, then by culprit, and cause; the culprit after the last group is unknown.
struct Sums(Vec<BTreeMap<usize, [f64; 3]>>);

impl Sums {
    fn of(items: &mut dyn Iterator<Item = &Item>, times: &[Times], is_published: bool) -> Self {
        let mut groups: Vec<GroupSums> = times.iter().map(|_| GroupSums::default()).collect();
        let unknown = times.len();
        items.for_each(|item| groups[item.group].add(item, unknown));
        let of_group = |(group, times): (&GroupSums, &Times)| {
            if is_published {
                return group.published_ns(times.cpu_time_ns as f64);
            }
            let at_ns = times_ns(&group.seen, &times.at_level_ns, &group.demanded());
            let mut lost_ns = group.lost_ns(&at_ns);
            add_transitions(&mut lost_ns, times.transition_ns, &at_ns);
            lost_ns
        };
        Self(groups.iter().zip(times).map(of_group).collect())
    }

    fn pair_ns(&self, victim: usize, column: usize) -> [f64; 3] {
        self.0[victim].get(&column).copied().unwrap_or_default()
    }

    fn lost_ns(&self, victim: usize) -> f64 {
        self.0[victim].values().flatten().sum()
    }
}

/// Transitions have the culprits of the levels that they lead to.
fn add_transitions(lost_ns: &mut BTreeMap<usize, [f64; 3]>, transition_ns: f64, at_ns: &Table) {
    let share = share_of_others(at_ns, lost_ns);
    let all_ns: f64 = lost_ns.values().flatten().sum();
    if all_ns > 0.0 {
        for by_cause in lost_ns.values_mut() {
            let of_pair = by_cause.iter().sum::<f64>() / all_ns;
            by_cause[Cause::Transition as usize] = transition_ns * share * of_pair;
        }
    }
}

/// Sums of losses by level in force, level demanded and cause.
type Losses = [[[f64; 3]; LEVELS_MAX]; LEVELS_MAX];

/// The items of a group.
#[derive(Default)]
struct GroupSums {
    /// By level in force and level demanded.
    seen: Table,
    /// By culprit.
    losses: BTreeMap<usize, Losses>,
    /// By culprit and cause: of the levels that items were seen to demand.
    as_seen: BTreeMap<usize, [f64; 3]>,
    /// Weight of the items whose loss is not known.
    unknown: f64,
}

impl GroupSums {
    fn add(&mut self, item: &Item, unknown: usize) {
        self.seen[item.level][item.own] += item.weight;
        if item.losses.is_empty() {
            self.unknown += item.weight;
        }
        for (own, loss) in item.losses.iter().enumerate() {
            for part in &loss.parts {
                let culprit = part.culprit.unwrap_or(unknown);
                let lost = item.weight * loss.share * part.share;
                let losses = self.losses.entry(culprit).or_default();
                losses[item.level][own][part.cause as usize] += lost;
                if own == item.own {
                    self.as_seen.entry(culprit).or_default()[part.cause as usize] += lost;
                }
            }
        }
    }

    /// By level demanded.
    fn demanded(&self) -> [f64; LEVELS_MAX] {
        std::array::from_fn(|own| self.seen.iter().map(|row| row[own]).sum())
    }

    /// By culprit and cause, for those times by level in force and level demanded.
    fn lost_ns(&self, at_ns: &Table) -> BTreeMap<usize, [f64; 3]> {
        let of_culprit = |losses: &Losses| {
            let mut lost_ns = [0.0; 3];
            for level in 0..LEVELS_MAX {
                let weight: f64 = self.seen[level].iter().sum();
                for own in (0..level).filter(|_| weight > 0.0) {
                    let time_ns = at_ns[level][own] / weight;
                    for (sum_ns, loss) in lost_ns.iter_mut().zip(losses[level][own]) {
                        *sum_ns += time_ns * loss;
                    }
                }
            }
            lost_ns
        };
        self.losses.iter().map(|(&culprit, losses)| (culprit, of_culprit(losses))).collect()
    }

    /// The same as published (Eq. D 4.2): samples alone, which their weights turn into shares of
    /// the CPU time.
    fn published_ns(&self, cpu_time_ns: f64) -> BTreeMap<usize, [f64; 3]> {
        let weight: f64 = self.seen.iter().flatten().sum();
        let slowed: f64 = self.seen[1..].iter().flatten().sum();
        let known = slowed - self.unknown;
        // Those at a level whose loss is known stand for the others there.
        let per_known = if known > 0.0 { slowed / known } else { 1.0 };
        let scale = if weight > 0.0 { per_known * cpu_time_ns / weight } else { 0.0 };
        let scaled = |by_cause: &[f64; 3]| by_cause.map(|lost| lost * scale);
        self.as_seen.iter().map(|(&culprit, by_cause)| (culprit, scaled(by_cause))).collect()
    }
}

/// The share of the transitions on a group's CPUs that its siblings demanded, not its own tasks:
/// by the time for which either did.
fn share_of_others(at_ns: &Table, lost_ns: &BTreeMap<usize, [f64; 3]>) -> f64 {
    let (mut own_ns, mut others_ns) = (0.0, 0.0);
    for (level, row) in at_ns.iter().enumerate().skip(1) {
        own_ns += row[1..].iter().sum::<f64>();
        others_ns += row[..level].iter().sum::<f64>();
    }
    if own_ns <= 0.0 {
        return 1.0;
    }
    let sum = |cause: Cause| lost_ns.values().map(|by_cause| by_cause[cause as usize]).sum::<f64>();
    let by_siblings = sum(Cause::Sibling) / f64::max(sum(Cause::Sibling) + sum(Cause::Hold), 1.0);
    let siblings_ns = others_ns * by_siblings;
    siblings_ns / (siblings_ns + own_ns)
}

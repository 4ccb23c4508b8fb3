//! The matrix of losses by victim and culprit, with intervals.

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
    /// By how much longer its work took, in percent (Eq. D 4.2).
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
}

/// The model of stalls errs by so much of a change of speed on average (D 4.3.2), which chance does
/// not show: intervals are wider by that.
const MODEL_ERROR: f64 = 0.043;
/// Bootstrap replicates of an interval.
const REPLICATES: usize = 400;

impl Matrix {
    /// The estimator with pauses: samples say which share of the time at each level was lost, and
    /// counters at switches say how much time that was. `seed` decides the intervals' draws.
    #[must_use]
    pub fn of_samples(profile: &Profile, method: Method, seed: u64) -> Self {
        let shown = Shown::by_samples(profile);
        let items = Items::of_samples(profile, &shown, method);
        Self::of(profile, &items, &shown, seed)
    }

    /// The estimator without pauses: which levels a group's tasks demand themselves follows from
    /// counters at switches.
    #[must_use]
    pub fn of_slices(profile: &Profile, seed: u64) -> Self {
        let evidence = Evidence::of(profile);
        let items = Items::of_slices(profile, &evidence);
        Self::of(profile, &items, &evidence.shown, seed)
    }

    fn of(profile: &Profile, items: &Items, shown: &Shown, seed: u64) -> Self {
        let times = by_group(&profile.times, &profile.group_of, profile.groups.len());
        let draws = Draws::of(&items.items, &times, seed);
        let groups = 0..times.len();
        let victims = groups.clone().map(|group| {
            let time_ns = times[group].cpu_time_ns as f64;
            Victim {
                group,
                cpu_time_ns: times[group].cpu_time_ns,
                waited_ns: times[group].waited_ns,
                lost_ns: draws.estimate(|sums| sums.lost_ns(group)),
                overhead_pct: draws.estimate(|sums| {
                    let left_ns = time_ns - sums.lost_ns(group);
                    if left_ns > 0.0 { 100.0 * (time_ns / left_ns - 1.0) } else { 0.0 }
                }),
                samples: items.samples[group],
                basis: items.basis[group],
                own_level: shown.highest(group),
            }
        });
        let columns = times.len() + 1;
        let waits_ns = profile.by_groups(&profile.waits_ns);
        let beside_ns = profile.by_groups(&profile.beside_ns);
        let pairs = groups.flat_map(|victim| (0..columns).map(move |column| (victim, column)));
        let entries = pairs.filter_map(|(victim, column)| {
            let by_cause_ns = draws.whole.pair_ns(victim, column);
            let culprit = (column + 1 < columns).then_some(column);
            let of_pair = |sums: &[u64]| culprit.map_or(0, |it| sums[victim * times.len() + it]);
            let (waited_ns, beside_ns) = (of_pair(&waits_ns), of_pair(&beside_ns));
            let met = by_cause_ns.iter().sum::<f64>() > 0.0 || waited_ns + beside_ns > 0;
            met.then(|| Entry {
                victim,
                culprit,
                by_cause_ns,
                lost_ns: draws.estimate(|sums| sums.pair_ns(victim, column).iter().sum()),
                waited_ns,
                beside_ns,
            })
        });
        Self { victims: victims.collect(), entries: entries.collect() }
    }
}

/// The sums of all items, and those of items drawn again (bootstrap).
struct Draws {
    whole: Sums,
    again: Vec<Sums>,
}

impl Draws {
    fn of(items: &[Item], times: &[Times], seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut draw = || &items[random.below(items.len() as u64) as usize];
        let again =
            (0..REPLICATES).map(|_| Sums::of((0..items.len()).map(|_| draw()), times)).collect();
        Self { whole: Sums::of(items.iter(), times), again }
    }

    fn estimate(&self, of: impl Fn(&Sums) -> f64) -> Estimate {
        let mut values: Vec<f64> = self.again.iter().map(&of).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[(REPLICATES as f64 * share) as usize];
        let value = of(&self.whole);
        let wider = MODEL_ERROR * value;
        Estimate { value, low: (at(0.025) - wider).max(0.0), high: at(0.975) + wider }
    }
}

/// Losses by victim, culprit and cause.
struct Sums {
    columns: usize,
    lost_ns: Vec<[f64; 3]>,
}

impl Sums {
    fn of<'a>(items: impl Iterator<Item = &'a Item>, times: &[Times]) -> Self {
        let columns = times.len() + 1;
        let mut groups: Vec<GroupSums> = times.iter().map(|_| GroupSums::new(columns)).collect();
        items.for_each(|item| groups[item.group].add(item));
        let mut sums = Self { columns, lost_ns: Vec::with_capacity(times.len() * columns) };
        for (group, times) in groups.iter().zip(times) {
            let at_ns = times_ns(&group.seen, &times.at_level_ns, &group.demanded);
            let lost_ns = group.lost_ns(&at_ns);
            let share = share_of_others(&at_ns, &lost_ns);
            sums.lost_ns.extend(lost_ns);
            sums.add_transitions(times.transition_ns * share);
        }
        sums
    }

    /// Transitions of the last group have the culprits of the levels that they lead to.
    fn add_transitions(&mut self, time_ns: f64) {
        let first = self.lost_ns.len() - self.columns;
        let row = &mut self.lost_ns[first..];
        let lost_ns: f64 = row.iter().flatten().sum();
        if lost_ns > 0.0 {
            for pair in row {
                let share = pair.iter().sum::<f64>() / lost_ns;
                pair[Cause::Transition as usize] = time_ns * share;
            }
        }
    }

    fn pair_ns(&self, victim: usize, column: usize) -> [f64; 3] {
        self.lost_ns[victim * self.columns + column]
    }

    fn lost_ns(&self, victim: usize) -> f64 {
        let row = &self.lost_ns[victim * self.columns..(victim + 1) * self.columns];
        row.iter().flatten().sum()
    }
}

/// The items of a group.
struct GroupSums {
    /// By level in force and level demanded.
    seen: Table,
    demanded: [f64; LEVELS_MAX],
    at_level: [f64; LEVELS_MAX],
    /// By culprit, level in force and level demanded: sums of the losses by cause.
    losses: Vec<[[[f64; 3]; LEVELS_MAX]; LEVELS_MAX]>,
}

impl GroupSums {
    fn new(columns: usize) -> Self {
        Self {
            seen: Table::default(),
            demanded: [0.0; LEVELS_MAX],
            at_level: [0.0; LEVELS_MAX],
            losses: vec![Default::default(); columns],
        }
    }

    fn add(&mut self, item: &Item) {
        self.seen[item.level][item.own] += item.weight;
        self.demanded[item.own] += item.weight;
        self.at_level[item.level] += item.weight;
        let unknown = self.losses.len() - 1;
        for (own, loss) in item.losses.iter().enumerate() {
            for part in &loss.parts {
                let by_level = &mut self.losses[part.culprit.unwrap_or(unknown)][item.level];
                by_level[own][part.cause as usize] += item.weight * loss.share * part.share;
            }
        }
    }

    /// By culprit and cause, for those times by level in force and level demanded.
    fn lost_ns(&self, at_ns: &Table) -> Vec<[f64; 3]> {
        let mut lost_ns = vec![[0.0; 3]; self.losses.len()];
        for (lost_ns, losses) in lost_ns.iter_mut().zip(&self.losses) {
            for level in 0..LEVELS_MAX {
                for own in 0..level {
                    if self.at_level[level] > 0.0 {
                        let time_ns = at_ns[level][own] / self.at_level[level];
                        for (sum_ns, loss) in lost_ns.iter_mut().zip(losses[level][own]) {
                            *sum_ns += time_ns * loss;
                        }
                    }
                }
            }
        }
        lost_ns
    }
}

/// The share of the transitions on a group's CPUs that its siblings demanded, not its own tasks:
/// by the time for which either did.
fn share_of_others(at_ns: &Table, lost_ns: &[[f64; 3]]) -> f64 {
    let (mut own_ns, mut others_ns) = (0.0, 0.0);
    for (level, row) in at_ns.iter().enumerate().skip(1) {
        own_ns += row[1..].iter().sum::<f64>();
        others_ns += row[..level].iter().sum::<f64>();
    }
    if own_ns <= 0.0 {
        return 1.0;
    }
    let sum = |cause: Cause| lost_ns.iter().map(|by_cause| by_cause[cause as usize]).sum::<f64>();
    let by_siblings = sum(Cause::Sibling) / f64::max(sum(Cause::Sibling) + sum(Cause::Hold), 1.0);
    let siblings_ns = others_ns * by_siblings;
    siblings_ns / (siblings_ns + own_ns)
}

//! What one interval shows: CPUs, victims, and culprits, in the units of screens.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use sensors::sums::{Group, GroupSum, PairSum};
use serde::Serialize;

use super::names::Names;
use super::steps::Steps;

/// One interval.
#[derive(Clone, Debug, Default, Serialize)]
pub struct View {
    /// Version of these fields.
    pub schema: u32,
    /// What the machine and this command are.
    #[serde(flatten)]
    pub machine: Machine,
    /// Length of the interval.
    pub interval_s: f64,
    /// Times that found no room in the kernel's tables; all figures are too small if there are any.
    pub without_room: u64,
    /// By number of the CPU.
    pub cpus: Vec<CpuRow>,
    /// Groups that ran or waited.
    pub groups: Vec<GroupRow>,
    /// Victims and culprits.
    pub pairs: Vec<PairRow>,
    /// Names of several groups.
    #[serde(skip)]
    pub shared_names: BTreeSet<String>,
}

/// What the machine and this command are.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Machine {
    /// Name of the machine.
    pub machine: String,
    /// The scheduler that runs, such as `EEVDF`.
    pub scheduler: String,
    /// What groups are: `process` or `control-group`.
    pub by: &'static str,
    /// Name of the CPU table; `None`: there is none, and nothing is known of lost clock.
    pub cpu_table: Option<String>,
    /// Whether the table is that of this machine's CPU; else losses are as if on that CPU.
    pub is_own_table: bool,
    /// Whether this machine's CPU has license levels, as far as its model name tells.
    pub has_levels: bool,
    /// CPU time of this command, of one CPU; without what its probes add to each switch.
    pub own_cpu_pct: f64,
    /// What `scx_evenkeel` did, where it runs.
    pub given_back: Option<GivenBack>,
}

/// What `scx_evenkeel` did in the interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GivenBack {
    /// Its mode.
    pub mode: String,
    /// Time that it gave back, of the time of all CPUs.
    pub refunded_pct: f64,
    /// The part of it that was billed to culprits.
    pub billed_pct: f64,
    /// Refunds a second.
    pub refunds_per_s: f64,
}

/// A CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CpuRow {
    pub cpu: usize,
    /// Time with a task.
    pub busy_pct: f64,
    /// Time with a task while the core was believed to hold a level.
    pub held_pct: f64,
    /// The level that the core is believed to hold.
    pub level: u8,
    /// The group that demanded the level.
    pub holder: Option<String>,
    /// The group that ran when the interval ended.
    pub running: Option<String>,
    /// The clock; `None` where the machine does not say, or it was not asked for.
    pub clock_mhz: Option<u32>,
}

/// A group of tasks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupRow {
    /// The process id, or the inode number of the control group's folder.
    pub group: Group,
    pub name: String,
    /// CPU time, of one CPU.
    pub cpu_pct: f64,
    /// Time that its tasks were runnable without a CPU, all added, of the interval.
    pub waited_pct: f64,
    /// Of its CPU time, the part lost to a level that others demanded; `None` without a CPU table.
    pub slower_pct: Option<f64>,
    /// Of its CPU time, the part beside a busy sibling.
    pub beside_pct: f64,
    /// Whether its tasks left a CPU with 512-bit registers or tiles in use.
    pub is_wide: bool,
}

/// A victim and a culprit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PairRow {
    pub victim_group: Group,
    pub victim: String,
    /// 0: it is not known which.
    pub culprit_group: Group,
    pub culprit: String,
    /// Waiting of the victim for the culprit, a second.
    pub waited_ms_per_s: f64,
    /// CPU time of the victim beside the culprit, a second.
    pub beside_ms_per_s: f64,
    /// CPU time that the victim lost to the culprit's level, a second; `None` without a CPU table.
    pub lost_ms_per_s: Option<f64>,
}

/// What rows are sorted by; the largest is first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Waiting,
    Slower,
    Beside,
    Cpu,
}

impl Sort {
    /// The next one in a ring.
    pub fn next(self) -> Self {
        match self {
            Self::Waiting => Self::Slower,
            Self::Slower => Self::Beside,
            Self::Beside => Self::Cpu,
            Self::Cpu => Self::Waiting,
        }
    }

    /// The title of the column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Slower => "slower",
            Self::Beside => "beside",
            Self::Cpu => "CPU",
        }
    }
}

/// What an interval shows, unsorted. `clocks_mhz`: by CPU, as far as they are known.
pub fn view(steps: &Steps, names: &Names, machine: Machine, clocks_mhz: &[Option<u32>]) -> View {
    let length_ns = steps.length_ns.max(1) as f64;
    let has_table = machine.cpu_table.is_some();
    let mut beside_ns: BTreeMap<Group, u64> = BTreeMap::new();
    for ((victim, _), step) in &steps.pairs {
        *beside_ns.entry(*victim).or_default() += step.beside_ns;
    }
    let cpus = steps.cpus.iter().enumerate().map(|(cpu, step)| CpuRow {
        cpu,
        // CPUs are read one after the other, and so for a little longer or shorter.
        busy_pct: percent(step.busy_ns, length_ns).min(100.0),
        held_pct: percent(step.held_ns, length_ns).min(100.0),
        level: step.level,
        holder: step.holder.map(|group| names.of(group)),
        running: step.running.map(|group| names.of(group)),
        clock_mhz: clocks_mhz.get(cpu).copied().flatten(),
    });
    let group = |(&group, step): (&Group, &GroupSum)| GroupRow {
        group,
        name: names.of(group),
        cpu_pct: percent(step.cpu_time_ns, length_ns),
        waited_pct: percent(step.waited_ns, length_ns),
        slower_pct: has_table.then(|| percent(step.lost_ns, step.cpu_time_ns as f64)),
        beside_pct: percent(beside_ns.get(&group).copied().unwrap_or(0), step.cpu_time_ns as f64),
        is_wide: step.wide_leaves > 0,
    };
    let pair = |(&(victim, culprit), step): (&(Group, Group), &PairSum)| PairRow {
        victim_group: victim,
        victim: names.of(victim),
        culprit_group: culprit,
        culprit: names.of(culprit),
        waited_ms_per_s: step.waited_ns as f64 * 1e3 / length_ns,
        beside_ms_per_s: step.beside_ns as f64 * 1e3 / length_ns,
        lost_ms_per_s: has_table.then(|| step.lost_ns as f64 * 1e3 / length_ns),
    };
    let all = steps.pairs.keys().flat_map(|&(victim, culprit)| [victim, culprit]);
    let all: BTreeSet<Group> = all.chain(steps.groups.keys().copied()).collect();
    let mut seen = BTreeSet::new();
    let is_second = |name: &String| !seen.insert(name.clone());
    View {
        schema: 1,
        machine,
        interval_s: steps.length_ns as f64 / 1e9,
        without_room: steps.without_room,
        cpus: cpus.collect(),
        groups: steps.groups.iter().map(group).collect(),
        pairs: steps.pairs.iter().map(pair).collect(),
        shared_names: all.into_iter().map(|group| names.of(group)).filter(is_second).collect(),
    }
}

fn percent(part_ns: u64, whole_ns: f64) -> f64 {
    if whole_ns > 0.0 { part_ns as f64 * 100.0 / whole_ns } else { 0.0 }
}

/// Figures below this are shown as 0.0.
const SHOWN_MIN: f64 = 0.05;

impl View {
    /// The name of a group in a pair, with its number where several groups have the name.
    pub fn named(&self, group: Group, name: &str) -> String {
        if self.shared_names.contains(name) { format!("{name} {group}") } else { name.to_owned() }
    }

    /// The heading of the numbers of groups.
    pub fn number_title(&self) -> &'static str {
        if self.machine.by == "process" { "PID" } else { "CGROUP" }
    }

    /// The groups of which any figure is shown as more than 0.
    pub fn shown_groups(&self) -> impl Iterator<Item = &GroupRow> {
        let is_shown = |row: &&GroupRow| row.cpu_pct.max(row.waited_pct) >= SHOWN_MIN;
        self.groups.iter().filter(is_shown)
    }

    /// The pairs of which any figure is shown as more than 0.
    pub fn shown_pairs(&self) -> impl Iterator<Item = &PairRow> {
        self.pairs.iter().filter(|row| {
            let lost = row.lost_ms_per_s.unwrap_or(0.0);
            row.waited_ms_per_s.max(row.beside_ms_per_s).max(lost) >= SHOWN_MIN
        })
    }

    /// Sorts groups and pairs, the largest first; pairs by waiting where their figure is not that
    /// of a pair.
    pub fn sort(&mut self, by: Sort) {
        let of_group = |row: &GroupRow| match by {
            Sort::Waiting => row.waited_pct,
            Sort::Slower => row.slower_pct.unwrap_or(0.0),
            Sort::Beside => row.beside_pct,
            Sort::Cpu => row.cpu_pct,
        };
        let of_pair = |row: &PairRow| match by {
            Sort::Waiting | Sort::Cpu => row.waited_ms_per_s,
            Sort::Slower => row.lost_ms_per_s.unwrap_or(0.0),
            Sort::Beside => row.beside_ms_per_s,
        };
        let all = |row: &PairRow| {
            row.waited_ms_per_s + row.beside_ms_per_s + row.lost_ms_per_s.unwrap_or(0.0)
        };
        self.groups.sort_by(|a, b| {
            let cpu = |a: &GroupRow, b: &GroupRow| b.cpu_pct.total_cmp(&a.cpu_pct);
            falling(of_group(a), of_group(b)).then(cpu(a, b)).then(a.group.cmp(&b.group))
        });
        self.pairs.sort_by(|a, b| {
            let key = |row: &PairRow| (row.victim_group, row.culprit_group);
            falling(of_pair(a), of_pair(b)).then(falling(all(a), all(b))).then(key(a).cmp(&key(b)))
        });
    }
}

/// Larger numbers first; numbers that are shown alike are alike.
fn falling(a: f64, b: f64) -> Ordering {
    let shown = |number: f64| (number * 10.0).round();
    shown(b).total_cmp(&shown(a))
}

#[cfg(test)]
mod tests {
    use sensors::sums::CpuSum;

    use super::*;

    fn machine(cpu_table: Option<&str>) -> Machine {
        Machine { cpu_table: cpu_table.map(str::to_owned), ..Machine::default() }
    }

    fn steps() -> Steps {
        let second = 1_000_000_000;
        let group = |cpu_time_ns, waited_ns, lost_ns| GroupSum {
            cpu_time_ns,
            waited_ns,
            lost_ns,
            ..GroupSum::default()
        };
        let pair = PairSum { waited_ns: second, beside_ns: second / 4, lost_ns: second / 10 };
        let cpu = CpuSum {
            busy_ns: second,
            held_ns: second,
            holder: Some(2),
            level: 2,
            ..CpuSum::default()
        };
        Steps {
            end_ns: second,
            length_ns: 2 * second,
            cpus: vec![cpu],
            groups: BTreeMap::from([
                (1, group(second, second, second / 10)),
                (2, GroupSum { wide_leaves: 3, ..group(3 * second, 0, 0) }),
            ]),
            pairs: BTreeMap::from([((1, 2), pair)]),
            without_room: 0,
        }
    }

    #[test]
    fn figures_are_shares_of_the_interval_and_of_the_cpu_time() {
        let view = view(&steps(), &Names::default(), machine(Some("a")), &[Some(2100)]);
        let [victim, culprit] = &view.groups[..] else { panic!("two groups") };
        assert_eq!((victim.cpu_pct, victim.waited_pct, victim.beside_pct), (50.0, 50.0, 25.0));
        assert_eq!((victim.slower_pct, culprit.is_wide), (Some(10.0), true));
        assert_eq!(
            (view.pairs[0].waited_ms_per_s, view.pairs[0].lost_ms_per_s),
            (500.0, Some(50.0))
        );
        let cpu = &view.cpus[0];
        assert_eq!(
            (cpu.busy_pct, cpu.clock_mhz, cpu.holder.as_deref()),
            (50.0, Some(2100), Some("#2"))
        );
    }

    #[test]
    fn without_a_cpu_table_nothing_is_said_of_the_clock() {
        let view = view(&steps(), &Names::default(), machine(None), &[]);
        assert_eq!((view.groups[0].slower_pct, view.pairs[0].lost_ms_per_s), (None, None));
    }

    #[test]
    fn the_largest_is_first_and_each_column_can_be_sorted_by() {
        let mut view = view(&steps(), &Names::default(), machine(None), &[]);
        let mut first = Vec::new();
        let mut by = Sort::default();
        for _ in 0..4 {
            view.sort(by);
            first.push(view.groups[0].group);
            by = by.next();
        }
        assert_eq!((first, by), (vec![1, 2, 1, 2], Sort::default()));
    }
}

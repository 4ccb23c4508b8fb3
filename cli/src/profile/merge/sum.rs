//! Sums over machines.

use std::collections::BTreeMap;

use sensors::control_groups::{Labels, shown};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Cpu, Loss, Machine, Victim};

/// The sums.
#[derive(Serialize, Clone, Debug)]
pub struct Merged {
    schema: u32,
    /// The CPUs, in order of their names, and how many machines have each.
    pub cpus: Vec<CpuSum>,
    /// Those that lost most first.
    pub machines: Vec<MachineSum>,
    /// Pairs of programs on each CPU, those with the greatest losses first.
    pub losses: Vec<LossSum>,
    /// Of groups that have labels, those that are the same on all machines, by name.
    labels: BTreeMap<String, Map<String, Value>>,
    /// CPU time of all machines.
    pub cpu_time_s: f64,
}

/// Machines of one CPU.
#[derive(Serialize, Clone, Debug)]
pub struct CpuSum {
    #[serde(flatten)]
    pub cpu: Cpu,
    pub machines: usize,
}

/// The sums of a machine.
#[derive(Serialize, Clone, Debug)]
pub struct MachineSum {
    pub name: String,
    #[serde(flatten)]
    pub cpu: Cpu,
    pub length_s: f64,
    pub cpu_time_s: f64,
    /// Whether its losses of clock are known.
    pub has_clock: bool,
    /// CPU time lost to the clock of other programs, and time waited for CPUs that these had.
    pub lost_s: f64,
    pub waited_s: f64,
    /// The program that cost the others most there.
    pub worst: Option<String>,
}

/// What programs of one name lost to those of another, on all machines of a CPU.
#[derive(Serialize, Clone, Debug)]
pub struct LossSum {
    #[serde(flatten)]
    pub cpu: Cpu,
    pub victim: String,
    /// `None`: unknown.
    pub culprit: Option<String>,
    /// Whether victim and culprit are the same group, and not two of one name.
    pub is_own: bool,
    /// Machines on which both met.
    pub machines: u64,
    /// Of them, those whose losses of clock are known. Without any, 0 is none lost as far as known.
    pub machines_with_clock: u64,
    pub lost_s: f64,
    /// The 95 % interval, if that of every machine is known: machines err independently.
    pub lost_low_s: Option<f64>,
    pub lost_high_s: Option<f64>,
    pub waited_s: f64,
    pub by_shared_core_s: f64,
}

/// What is added up: CPU, victim, culprit, and whether these are the same group.
type Key = (Cpu, String, Option<String>, bool);

/// Sums of a pair.
#[derive(Default)]
struct Pair {
    /// Machines, those whose clock is known, and the number of the last one.
    machines: u64,
    machines_with_clock: u64,
    last: Option<usize>,
    lost_s: f64,
    /// Squares of the halves of intervals.
    halves: [f64; 2],
    waited_s: f64,
    by_shared_core_s: f64,
}

impl Pair {
    fn add(&mut self, number: usize, has_clock: bool, loss: &Loss) {
        if self.last != Some(number) {
            self.machines += 1;
            self.machines_with_clock += u64::from(has_clock && loss.lost_s.value.is_some());
            self.last = Some(number);
        }
        self.waited_s += loss.waited_s;
        self.by_shared_core_s += loss.by_shared_core_s;
        let Some(lost_s) = loss.lost_s.value else { return };
        self.lost_s += lost_s;
        // A bound that is not known leaves that of the sum open.
        let half = |bound: Option<f64>| bound.map_or(f64::INFINITY, |it| (it - lost_s).abs());
        self.halves[0] += half(loss.lost_s.low).powi(2);
        self.halves[1] += half(loss.lost_s.high).powi(2);
    }

    fn sum(self, (cpu, victim, culprit, is_own): Key) -> LossSum {
        let [low, high] = self.halves.map(f64::sqrt);
        LossSum {
            cpu,
            victim,
            culprit,
            is_own,
            machines: self.machines,
            machines_with_clock: self.machines_with_clock,
            lost_s: self.lost_s,
            lost_low_s: low.is_finite().then(|| (self.lost_s - low).max(self.lost_s.min(0.0))),
            lost_high_s: high.is_finite().then_some(self.lost_s + high),
            waited_s: self.waited_s,
            by_shared_core_s: self.by_shared_core_s,
        }
    }
}

impl Merged {
    /// The sums of these machines.
    pub fn of(machines: &[Machine]) -> Self {
        let mut pairs: BTreeMap<Key, Pair> = BTreeMap::new();
        let mut cpus: BTreeMap<Cpu, usize> = BTreeMap::new();
        for (number, machine) in machines.iter().enumerate() {
            *cpus.entry(machine.cpu()).or_default() += 1;
            let groups = machine.by_name();
            let name_of = |group: &str| name(groups.get(group).copied(), group);
            for loss in &machine.losses {
                let victim = name_of(&loss.victim);
                let culprit = loss.culprit.as_deref().map(name_of);
                let key = (machine.cpu(), victim, culprit, loss.is_own());
                pairs.entry(key).or_default().add(number, machine.has_clock(), loss);
            }
        }
        let mut losses: Vec<LossSum> = pairs.into_iter().map(|(key, pair)| pair.sum(key)).collect();
        losses
            .sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(b.waited_s.total_cmp(&a.waited_s)));
        let mut sums: Vec<MachineSum> = machines.iter().map(MachineSum::of).collect();
        sums.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(b.waited_s.total_cmp(&a.waited_s)));
        let cpu_time_s = sums.iter().map(|machine| machine.cpu_time_s).sum();
        let cpus = cpus.into_iter().map(|(cpu, machines)| CpuSum { cpu, machines }).collect();
        Self { schema: 1, cpus, machines: sums, losses, labels: labels(machines), cpu_time_s }
    }

    /// The number of a CPU, from 1, where there are several.
    pub fn number(&self, cpu: &Cpu) -> Option<usize> {
        let number = self.cpus.iter().position(|it| it.cpu == *cpu)?;
        (self.cpus.len() > 1).then_some(number + 1)
    }
}

/// The name that a group has on every machine: what tells it from others of its name on one machine
/// is left out.
fn name(victim: Option<&Victim>, group: &str) -> String {
    let labels = victim.and_then(|it| it.labels.as_ref()).filter(|it| it.path != "/");
    shown(&labels.map_or_else(|| group.to_owned(), Labels::short_name))
}

/// By name of a group: the labels that all groups of that name have.
fn labels(machines: &[Machine]) -> BTreeMap<String, Map<String, Value>> {
    let mut all: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for machine in machines {
        for victim in &machine.victims {
            let own = victim.labels.as_ref().and_then(|it| serde_json::to_value(it).ok());
            let own = own.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
            let name = name(Some(victim), &victim.name);
            let known = all.entry(name).or_insert_with(|| own.clone());
            known.retain(|name, value| own.get(name) == Some(value));
        }
    }
    all.retain(|_, labels| !labels.is_empty());
    all
}

impl MachineSum {
    fn of(machine: &Machine) -> Self {
        let to_others = || machine.losses.iter().filter(|it| !it.is_own());
        let mut by_culprit: BTreeMap<&str, f64> = BTreeMap::new();
        for loss in to_others() {
            if let Some(culprit) = &loss.culprit {
                *by_culprit.entry(culprit).or_default() +=
                    loss.lost_s.value.unwrap_or_default() + loss.waited_s;
            }
        }
        let worst = by_culprit.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            name: machine.name.clone(),
            cpu: machine.cpu(),
            length_s: machine.length_s,
            cpu_time_s: machine.victims.iter().map(|it| it.cpu_time_s).sum(),
            has_clock: machine.has_clock(),
            lost_s: to_others().filter_map(|it| it.lost_s.value).sum(),
            waited_s: to_others().filter(|it| it.culprit.is_some()).map(|it| it.waited_s).sum(),
            worst: worst.filter(|(_, cost_s)| *cost_s > 0.0).map(|(worst, _)| {
                let victim = machine.victims.iter().find(|it| it.name == worst);
                name(victim, worst)
            }),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use trace::ControlGroup;

    use super::super::Interval;
    use super::*;

    pub fn machine(name: &str, lost_s: f64, half_s: f64) -> Machine {
        let interval = |value: f64, half: f64| Interval {
            value: Some(value),
            low: Some(value - half),
            high: Some(value + half),
        };
        let lost_s = interval(lost_s, half_s);
        let loss = |victim: &str, culprit: &str, lost_s| Loss {
            victim: victim.to_owned(),
            culprit: Some(culprit.to_owned()),
            lost_s,
            by_hold_s: Some(0.0),
            by_sibling_s: Some(0.0),
            by_transition_s: Some(0.0),
            waited_s: 2.0,
            by_shared_core_s: 1.0,
        };
        let own = loss("x265", "x265", interval(90.0, 0.0));
        let victim =
            Victim { name: "nginx".to_owned(), labels: None, cpu_time_s: 50.0, waited_s: 1.0 };
        Machine {
            name: name.to_owned(),
            schema: 1,
            machine_cpu: Some("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz".to_owned()),
            cpu: Some("xeon-gold-6130".to_owned()),
            scheduler: None,
            is_own_table: true,
            estimator: "registers".to_owned(),
            length_s: 10.0,
            victims: vec![victim],
            losses: vec![loss("nginx", "x265", lost_s), own],
        }
    }

    #[test]
    fn losses_add_up_and_their_intervals_as_independent_ones_do() {
        let merged = Merged::of(&[machine("a", 3.0, 0.3), machine("b", 5.0, 0.4)]);
        let loss = merged.losses.iter().find(|it| it.victim == "nginx").unwrap();
        assert_eq!((loss.machines, loss.lost_s, loss.waited_s), (2, 8.0, 4.0));
        let bounds = [loss.lost_low_s.unwrap(), loss.lost_high_s.unwrap()];
        assert!((bounds[0] - 7.5).abs() < 1e-9 && (bounds[1] - 8.5).abs() < 1e-9);
        assert_eq!(merged.cpu_time_s, 100.0);
    }

    #[test]
    fn a_sum_is_as_open_as_its_parts_are_unknown() {
        let with = |lost_s: Interval| {
            let mut machine = machine("b", 5.0, 0.0);
            machine.losses[0].lost_s = lost_s;
            Merged::of(&[super::tests::machine("a", 3.0, 0.3), machine]).losses
        };
        let of_nginx = |all: Vec<LossSum>| all.into_iter().find(|it| it.victim == "nginx").unwrap();
        let table = Interval { value: Some(5.0), low: None, high: None };
        let sum = of_nginx(with(table));
        assert_eq!((sum.lost_s, sum.lost_low_s, sum.lost_high_s), (8.0, None, None));
        let sum = of_nginx(with(Interval { value: None, ..table }));
        assert_eq!((sum.lost_s, sum.machines, sum.machines_with_clock), (3.0, 2, 1));
        assert!(sum.lost_high_s.is_some());
    }

    #[test]
    fn a_machine_is_judged_by_what_its_programs_lose_to_others() {
        let merged = Merged::of(&[machine("a", 3.0, 0.0), machine("b", 5.0, 0.0)]);
        let names: Vec<&str> = merged.machines.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        let first = &merged.machines[0];
        assert_eq!((first.lost_s, first.waited_s), (5.0, 2.0));
        assert_eq!(first.worst.as_deref(), Some("x265"));
    }

    #[test]
    fn losses_of_different_cpus_or_tables_are_not_added() {
        let as_if = Machine { is_own_table: false, ..machine("b", 5.0, 0.0) };
        let amd = Machine {
            machine_cpu: Some("AMD EPYC 9R14".to_owned()),
            estimator: "no-levels".to_owned(),
            ..machine("c", 0.0, 0.0)
        };
        let merged = Merged::of(&[machine("a", 3.0, 0.0), as_if, amd, machine("d", 4.0, 0.0)]);
        let of_nginx: Vec<(f64, u64)> = merged
            .losses
            .iter()
            .filter(|it| it.victim == "nginx")
            .map(|it| (it.lost_s, it.machines))
            .collect();
        assert_eq!(of_nginx, [(7.0, 2), (5.0, 1), (0.0, 1)]);
        let sentences: Vec<String> = merged.cpus.iter().map(|it| it.cpu.sentence()).collect();
        let gold = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz";
        let expected = [
            "AMD EPYC 9R14, which has no license levels".to_owned(),
            format!("{gold}, as if on xeon-gold-6130"),
            format!("{gold}, by its table xeon-gold-6130"),
        ];
        assert_eq!(sentences, expected);
        assert_eq!(merged.number(&merged.cpus[2].cpu), Some(3));
        assert_eq!(Merged::of(&[machine("a", 3.0, 0.0)]).number(&merged.cpus[2].cpu), None);
    }

    /// A machine with two containers of one name, of which the first costs the second.
    pub fn with_containers(name: &str, digits: [&str; 2]) -> Machine {
        let mut machine = machine(name, 3.0, 0.0);
        let [one, two] = digits.map(|digit| format!("proxy ({})", digit.repeat(12)));
        machine.victims = [(&one, digits[0]), (&two, digits[1])]
            .map(|(name, digit)| Victim {
                name: name.clone(),
                labels: Some(Labels::of_recorded(&ControlGroup {
                    path: format!("/kubepods/podab/{}", digit.repeat(64)),
                    name: "proxy".to_owned(),
                    pod: None,
                })),
                cpu_time_s: 10.0,
                waited_s: 0.0,
            })
            .into();
        machine.losses[0].victim.clone_from(&two);
        machine.losses[0].culprit = Some(one.clone());
        machine.losses[1].victim.clone_from(&one);
        machine.losses[1].culprit = Some(one);
        machine
    }

    #[test]
    fn containers_of_one_name_add_up_and_are_no_loss_of_their_own() {
        let merged =
            Merged::of(&[with_containers("a", ["1", "2"]), with_containers("b", ["3", "4"])]);
        let found: Vec<_> =
            merged.losses.iter().map(|it| (it.is_own, it.machines, it.lost_s)).collect();
        assert_eq!(found, [(true, 2, 180.0), (false, 2, 6.0)]);
        assert!(merged.losses.iter().all(|it| it.victim == "proxy"));
        assert_eq!(merged.machines[0].worst.as_deref(), Some("proxy"));
        let labels = &merged.labels["proxy"];
        let keys: Vec<&str> = labels.keys().map(String::as_str).collect();
        assert_eq!(keys, ["container_name", "kube_pod_uid", "kube_qos"]);
    }
}

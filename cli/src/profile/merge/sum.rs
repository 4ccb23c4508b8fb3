//! Sums over machines.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Machine;

/// The sums.
#[derive(Serialize, Clone, Debug)]
pub struct Merged {
    schema: u32,
    /// Those that lost most first.
    pub machines: Vec<MachineSum>,
    /// Pairs of programs, those with the greatest losses first.
    pub losses: Vec<LossSum>,
    /// CPU time of all machines.
    pub cpu_time_s: f64,
}

/// The sums of a machine.
#[derive(Serialize, Clone, Debug)]
pub struct MachineSum {
    pub name: String,
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

/// What programs of one name lost to those of another, on all machines.
#[derive(Serialize, Clone, Debug)]
pub struct LossSum {
    pub victim: String,
    /// `None`: unknown.
    pub culprit: Option<String>,
    /// Machines on which both met.
    pub machines: u64,
    pub lost_s: f64,
    /// The 95 % interval: machines err independently.
    pub lost_low_s: f64,
    pub lost_high_s: f64,
    pub waited_s: f64,
    pub by_shared_core_s: f64,
}

impl Merged {
    /// The sums of these machines.
    pub fn of(machines: &[Machine]) -> Self {
        let mut pairs: BTreeMap<(&str, Option<&str>), LossSum> = BTreeMap::new();
        // Squares of the halves of intervals.
        let mut halves: BTreeMap<(&str, Option<&str>), [f64; 2]> = BTreeMap::new();
        for loss in machines.iter().flat_map(|machine| &machine.losses) {
            let key = (loss.victim.as_str(), loss.culprit.as_deref());
            let sum = pairs.entry(key).or_insert_with(|| LossSum {
                victim: loss.victim.clone(),
                culprit: loss.culprit.clone(),
                machines: 0,
                lost_s: 0.0,
                lost_low_s: 0.0,
                lost_high_s: 0.0,
                waited_s: 0.0,
                by_shared_core_s: 0.0,
            });
            sum.machines += 1;
            sum.lost_s += loss.lost_s.value;
            sum.waited_s += loss.waited_s;
            sum.by_shared_core_s += loss.by_shared_core_s;
            let [low, high] = halves.entry(key).or_default();
            *low += (loss.lost_s.value - loss.lost_s.low).powi(2);
            *high += (loss.lost_s.high - loss.lost_s.value).powi(2);
        }
        for (key, sum) in &mut pairs {
            let [low, high] = halves[key];
            sum.lost_low_s = (sum.lost_s - low.sqrt()).max(0.0);
            sum.lost_high_s = sum.lost_s + high.sqrt();
        }
        let mut losses: Vec<LossSum> = pairs.into_values().collect();
        losses
            .sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(b.waited_s.total_cmp(&a.waited_s)));
        let mut sums: Vec<MachineSum> = machines.iter().map(MachineSum::of).collect();
        sums.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(b.waited_s.total_cmp(&a.waited_s)));
        let cpu_time_s = sums.iter().map(|machine| machine.cpu_time_s).sum();
        Self { schema: 1, machines: sums, losses, cpu_time_s }
    }
}

impl MachineSum {
    fn of(machine: &Machine) -> Self {
        let to_others =
            || machine.losses.iter().filter(|it| it.culprit.as_ref() != Some(&it.victim));
        let mut by_culprit: BTreeMap<&str, f64> = BTreeMap::new();
        for loss in to_others() {
            if let Some(culprit) = &loss.culprit {
                *by_culprit.entry(culprit).or_default() += loss.lost_s.value + loss.waited_s;
            }
        }
        let worst = by_culprit.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            name: machine.name.clone(),
            length_s: machine.length_s,
            cpu_time_s: machine.victims.iter().map(|it| it.cpu_time_s).sum(),
            has_clock: machine.has_clock(),
            lost_s: to_others().map(|it| it.lost_s.value).sum(),
            waited_s: to_others().filter(|it| it.culprit.is_some()).map(|it| it.waited_s).sum(),
            worst: worst.filter(|(_, cost_s)| *cost_s > 0.0).map(|(name, _)| name.to_owned()),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::{Interval, Loss, Victim};
    use super::*;

    pub fn machine(name: &str, lost_s: f64, half_s: f64) -> Machine {
        let lost_s = Interval { value: lost_s, low: lost_s - half_s, high: lost_s + half_s };
        let loss = |victim: &str, culprit: &str, lost_s| Loss {
            victim: victim.to_owned(),
            culprit: Some(culprit.to_owned()),
            lost_s,
            by_hold_s: 0.0,
            by_sibling_s: 0.0,
            by_transition_s: 0.0,
            waited_s: 2.0,
            by_shared_core_s: 1.0,
        };
        let own = loss("x265", "x265", Interval { value: 90.0, low: 90.0, high: 90.0 });
        let victim = Victim { name: "nginx".to_owned(), cpu_time_s: 50.0, waited_s: 1.0 };
        Machine {
            name: name.to_owned(),
            schema: 1,
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
        assert!((loss.lost_low_s - 7.5).abs() < 1e-9 && (loss.lost_high_s - 8.5).abs() < 1e-9);
        assert_eq!(merged.cpu_time_s, 100.0);
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
}

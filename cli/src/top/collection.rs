//! Collects sums with the kernel's help, one interval after another.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Error, Result, anyhow};
use cpu_model::CpuModel;
use sensors::sums::{By, CollectError, Collector, Costs, Group, Sums};
use sensors::topology::{FOLDER as CPUS, Topology, cpu_list};

use super::machine;
use super::names::Names;
use super::steps::{self, Steps};

/// Readings between two looks for control groups that are gone.
const LOOK: u64 = 60;

/// A running collection.
pub struct Collection {
    collector: Collector,
    by: By,
    before: Sums,
    names: Names,
    /// Groups that had ended at the reading before. They are kept for one more, in which a task
    /// that waited for one of them may get its CPU.
    ended: BTreeSet<Group>,
    readings: u64,
}

impl Collection {
    /// Begins to collect; without a CPU no loss of clock is known.
    pub fn start(by: By, cpu: Option<&CpuModel>) -> Result<Self> {
        let read = |name: &str| fs::read_to_string(Path::new(CPUS).join(name)).ok();
        let online = read("online").and_then(|list| cpu_list(&list));
        let online = online.with_context(|| format!("{CPUS}/online: expected a list of CPUs"))?;
        let cpus = online.last().map_or(0, |&last| last as usize + 1);
        let siblings = Topology::new(cpus, read).cores.ring();
        let costs = cpu.map(Costs::new);
        let started = Collector::start(&online, &siblings, by, costs.as_ref());
        let mut collector = started.map_err(advise)?;
        let before = collector.read().map_err(advise)?;
        let (names, ended) = (Names::default(), BTreeSet::new());
        Ok(Self { collector, by, before, names, ended, readings: 0 })
    }

    /// The growth since the last call.
    pub fn step(&mut self) -> Result<Steps> {
        let now = self.collector.read().map_err(advise)?;
        let steps = steps::between(&self.before, &now);
        let is_known = |group| now.groups.contains_key(&group);
        self.names.keep(is_known);
        let ended = match self.by {
            By::Process => {
                for &group in now.groups.keys() {
                    self.names.learn(group, self.collector.name(group).as_deref());
                }
                self.collector.ended().clone()
            }
            By::ControlGroup => self.look_at_control_groups(&now, &steps),
        };
        let gone: BTreeSet<Group> = ended.intersection(&self.ended).copied().collect();
        self.collector.forget(&gone, &now).map_err(advise)?;
        self.before = now;
        self.before.groups.retain(|group, _| !gone.contains(group));
        let has_gone = |(a, b): &(Group, Group)| gone.contains(a) || gone.contains(b);
        self.before.pairs.retain(|pair, _| !has_gone(pair));
        self.ended = ended;
        self.readings += 1;
        Ok(steps)
    }

    /// The names of the groups of the last step.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Learns names where a group is new, and returns the groups whose folders are gone.
    fn look_at_control_groups(&mut self, now: &Sums, steps: &Steps) -> BTreeSet<Group> {
        let is_new = steps.groups.keys().any(|&group| group != 0 && !self.names.has(group));
        let is_due = self.readings.is_multiple_of(LOOK) || !self.ended.is_empty();
        if !is_new && !is_due {
            return BTreeSet::new();
        }
        let folders = machine::control_groups();
        for (group, path) in &folders {
            if now.groups.contains_key(group) {
                self.names.learn(*group, Some(path));
            }
        }
        for &group in steps.groups.keys() {
            if !self.names.has(group) {
                // A folder that is gone already: its name is not looked for again.
                let number = self.names.of(group);
                self.names.learn(group, Some(&number));
            }
        }
        if !is_due || folders.is_empty() {
            return BTreeSet::new();
        }
        let folders: BTreeSet<Group> = folders.into_iter().map(|(group, _)| group).collect();
        let is_gone =
            |group: &&Group| !folders.contains(group) && !steps.groups.contains_key(group);
        now.groups.keys().filter(is_gone).copied().collect()
    }
}

/// The error in one sentence: what the kernel said is of no use where the remedy is known.
fn advise(error: CollectError) -> Error {
    match error {
        CollectError::Refused { .. } => Error::new(error).context("collecting"),
        error => anyhow!("{error}"),
    }
}

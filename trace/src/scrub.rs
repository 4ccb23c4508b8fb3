//! Removes names, control groups, stacks and the kernel's version from a history.

use std::collections::HashMap;

use crate::glob::Glob;
use crate::{COUNTED_FACT, Event, History};

/// Facts that say how good a recording is and how its scheduler works, and nothing about whose
/// machine it is.
const FACTS_KEPT: [&str; 11] = [
    COUNTED_FACT,
    "hz",
    "interrupts",
    "lost_events",
    "mhz",
    "missing_events",
    "preemption",
    "recorder",
    "repaired_switches",
    "runtime_per_wall_permille",
    "scheduler",
];

/// Gives every task and application whose name fits none of `keep` a name of its own:
/// `task-1`, `task-2`, in order of ids; equal names stay equal. Facts that could tell
/// whose machine it is are dropped. Addresses are never in a history.
pub fn scrub(history: &mut History, keep: &[Glob]) {
    let mut names: HashMap<String, String> = HashMap::new();
    let mut rename = |name: &mut String| {
        if keep.iter().any(|glob| glob.fits(name)) {
            return;
        }
        let number = names.len() + 1;
        let new = names.entry(std::mem::take(name)).or_insert_with(|| format!("task-{number}"));
        name.clone_from(new);
    };
    for task in &mut history.header.tasks {
        rename(&mut task.comm);
        rename(&mut task.app);
        task.control_group = None;
    }
    history.header.stacks.clear();
    history.records.retain(|record| !matches!(record.event, Event::Stack { .. }));
    history.header.facts.retain(|name, _| FACTS_KEPT.contains(&name.as_str()));
}

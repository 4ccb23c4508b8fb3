//! The names of groups, as a screen, a scraper and a JSON reader may see them.

use std::collections::BTreeMap;

use sensors::sums::Group;

/// The culprit of waiting and losses that no group is known to have caused.
pub const UNKNOWN: &str = "unknown";

/// Longest name of a control group, in bytes; names of processes are shorter.
const LENGTH_MAX: usize = 120;

/// Kernel threads that exist once a CPU, by the part of their names before `/`.
const PER_CPU: [&str; 9] =
    ["cpuhp", "idle_inject", "irq", "ksoftirqd", "kworker", "migration", "rcuc", "rcuog", "rcuop"];

/// The names of groups, as they were learnt last.
#[derive(Default)]
pub struct Names(BTreeMap<Group, String>);

impl Names {
    /// Learns the name of a group; a group without a name keeps the one it had.
    pub fn learn(&mut self, group: Group, said: Option<&str>) {
        if let Some(said) = said.filter(|said| group != 0 && !said.is_empty()) {
            self.0.insert(group, trace::clean_up_to(said.as_bytes(), LENGTH_MAX));
        }
    }

    /// The name of a group that was learnt; else its number.
    pub fn of(&self, group: Group) -> String {
        self.0.get(&group).cloned().unwrap_or_else(|| number(group))
    }

    /// Whether a name was learnt.
    pub fn has(&self, group: Group) -> bool {
        self.0.contains_key(&group)
    }

    /// Forgets the names of all groups for which `is_kept` says no.
    pub fn keep(&mut self, is_kept: impl Fn(Group) -> bool) {
        self.0.retain(|&group, _| is_kept(group));
    }
}

fn number(group: Group) -> String {
    if group == 0 { UNKNOWN.to_owned() } else { format!("#{group}") }
}

/// The name of a label: that of the group, and one for all CPUs of a kernel thread that exists once
/// a CPU.
pub fn label(name: &str) -> &str {
    match name.split_once('/') {
        Some((before, _)) if PER_CPU.contains(&before) => before,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_no_control_characters_and_are_short() {
        let mut names = Names::default();
        names.learn(7, Some("a\x1b[2Jb\n\u{202e}"));
        names.learn(8, None);
        names.learn(9, Some(&"x".repeat(1000)));
        names.learn(0, Some("swapper"));
        assert_eq!(names.of(7), "a\u{fffd}[2Jb\u{fffd}\u{fffd}");
        assert_eq!((names.of(8), names.of(0)), ("#8".to_owned(), UNKNOWN.to_owned()));
        assert_eq!(names.of(9).len(), LENGTH_MAX);
        names.learn(7, Some("x265"));
        assert_eq!(names.of(7), "x265");
        names.keep(|group| group != 7);
        assert_eq!(names.of(7), "#7");
    }

    #[test]
    fn kernel_threads_of_all_cpus_have_one_label() {
        assert_eq!(label("kworker/u9:3"), "kworker");
        assert_eq!(label("migration/511"), "migration");
        assert_eq!(label("/system.slice/nginx.service"), "/system.slice/nginx.service");
        assert_eq!(label("x265"), "x265");
    }
}

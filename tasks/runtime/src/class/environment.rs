//! The environment's choices about wide tasks.

use std::collections::BTreeSet;
use std::env;
use std::sync::{Mutex, Once};

use super::{Placement, WideCpus};
use crate::fork::forks;
use crate::notice::tell;
use crate::sync::lock_std;
use crate::topology::CpuList;

/// A name that differs in more letters from every function's is not taken for a misspelling.
const SLIPS_MAX: usize = 3;

/// The functions that the environment names, and those that had tasks.
struct Names {
    /// Names of functions that had no task yet.
    unseen: BTreeSet<String>,
    /// All functions that had a task.
    seen: BTreeSet<String>,
    /// The count of forks: a child process has run no task of its parent.
    forks: u32,
}

static NAMES: Mutex<Names> =
    Mutex::new(Names { unseen: BTreeSet::new(), seen: BTreeSet::new(), forks: 0 });

impl Names {
    fn sees(&mut self, function: &str) {
        self.unseen.remove(function);
        self.seen.insert(function.to_owned());
    }

    /// A line about each function that had no task: a misspelt name has no other effect. A process
    /// without tasks, such as a shell, prints none.
    fn mistakes(&self) -> Vec<String> {
        if self.seen.is_empty() {
            return Vec::new();
        }
        let line = |name: &String| {
            let distances = self.seen.iter().map(|seen| (strsim::levenshtein(name, seen), seen));
            let nearest = distances.min().filter(|&(distance, _)| distance <= SLIPS_MAX);
            let meant = nearest.map(|(_, seen)| format!("; is `{seen}` meant?"));
            format!(
                "no task was seen of `{name}`, which EVENKEEL_WIDE names{}",
                meant.unwrap_or_default()
            )
        };
        self.unseen.iter().map(line).collect()
    }
}

/// Notes that a function has had a task, while the environment names functions.
pub(super) fn sees(function: &str) {
    lock_std(&NAMES).sees(function);
}

/// Has the end of the process report the names without a task.
fn expect(functions: &[String]) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut names = lock_std(&NAMES);
        names.unseen.extend(functions.iter().cloned());
        names.forks = forks();
        // SAFETY: the handler may be called at any time after this.
        unsafe { libc::atexit(at_exit) };
    });
}

extern "C" fn at_exit() {
    // A thread that ended with the lock leaves no report.
    let Ok(names) = NAMES.try_lock() else { return };
    if names.forks == forks() {
        names.mistakes().iter().for_each(|line| tell(line));
    }
}

impl Placement {
    /// The placement of the environment: `EVENKEEL_WIDE_CPUS` is a list or a file, `EVENKEEL_WIDE`
    /// names functions, separated by commas.
    #[must_use]
    pub fn of_environment() -> Option<Self> {
        let given = |name| env::var_os(name).filter(|value| !value.is_empty());
        let functions = given("EVENKEEL_WIDE");
        let Some(cpus) = given("EVENKEEL_WIDE_CPUS") else {
            if functions.is_some() {
                tell("EVENKEEL_WIDE is ignored without EVENKEEL_WIDE_CPUS");
            }
            return None;
        };
        let list: Option<CpuList> = cpus.to_str().and_then(|text| text.parse().ok());
        if let Some(list) = &list {
            let allowed = CpuList::allowed();
            if !list.iter().any(|cpu| allowed.contains(cpu)) {
                tell(&format!(
                    "EVENKEEL_WIDE_CPUS is `{list}`, and this process may run on {allowed} alone; \
                     wide tasks run anywhere"
                ));
            }
        }
        let cpus = list.map_or_else(|| WideCpus::File(cpus.into()), WideCpus::Cpus);
        let placement = Self::on(cpus);
        let names = functions.unwrap_or_default().to_string_lossy().into_owned();
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<String> = names.map(str::to_owned).collect();
        if !names.is_empty() {
            expect(&names);
        }
        Some(placement.functions(names))
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_task_had_is_told_with_one_that_is_near() {
        let unseen = ["nosuch", "main._omp_fn.0"].map(str::to_owned).into();
        let mut names = Names { unseen, seen: BTreeSet::new(), forks: 0 };
        assert!(names.mistakes().is_empty());
        names.sees("main._omp_fn.0");
        names.sees("such");
        let line = "no task was seen of `nosuch`, which EVENKEEL_WIDE names; is `such` meant?";
        assert_eq!(names.mistakes(), [line]);
        names.sees("nosuch");
        assert!(names.mistakes().is_empty());
    }
}

//! The known variables of the environment, so that a misspelt one is reported.

use std::env;
use std::ffi::OsStr;
use std::sync::Once;

use crate::notice::tell;

/// The prefix of all of them.
const PREFIX: &str = "EVENKEEL_";

/// Those of the task runtime, from whichever way in.
const KNOWN: [&str; 7] = [
    "EVENKEEL_PAGE",
    "EVENKEEL_RULES",
    "EVENKEEL_SUMMARY",
    "EVENKEEL_TOPOLOGY",
    "EVENKEEL_TRACE",
    "EVENKEEL_WIDE",
    "EVENKEEL_WIDE_CPUS",
];

/// Variables with this prefix belong to tests, which pass them to their own processes.
const TEST: &str = "EVENKEEL_TEST_";

/// A name that differs in more letters is no slip.
const SLIPS_MAX: usize = 3;

/// Reports, once a process, the variables of the environment that have our prefix and an unknown
/// name. Every reader of the environment for a runtime must call this.
pub fn tell_unknown() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (name, _) in env::vars_os() {
            if let Some(line) = mistake(&name.to_string_lossy()) {
                tell(&line);
            }
        }
    });
}

/// Those that ask for a recording: a sister crate reads them, and writes the recording.
const RECORDINGS: [&str; 3] = ["EVENKEEL_SUMMARY", "EVENKEEL_TRACE", "EVENKEEL_PAGE"];

/// Reports, once a process, the variables that ask for a recording, where none is written.
pub(crate) fn tell_unwritten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for name in RECORDINGS {
            if !env::var_os(name).is_some_and(|value| asks_for_recording(&value)) {
                continue;
            }
            tell(&format!(
                "{name} is ignored: the program has not called \
                 `evenkeel_observe::of_environment()` before its first task"
            ));
        }
    });
}

/// Whether the value of such a variable asks for a recording.
#[must_use]
pub fn asks_for_recording(value: &OsStr) -> bool {
    !value.is_empty() && value != "0"
}

/// A line about a name that looks like one of ours, and is none.
fn mistake(name: &str) -> Option<String> {
    let is_known = !name.starts_with(PREFIX) || name.starts_with(TEST) || KNOWN.contains(&name);
    if is_known {
        return None;
    }
    let distances = KNOWN.into_iter().map(|known| (strsim::levenshtein(name, known), known));
    let nearest = distances.min().filter(|&(distance, _)| distance <= SLIPS_MAX);
    let meant = nearest.map(|(_, known)| format!("; is {known} meant?")).unwrap_or_default();
    Some(format!("no variable {name} is known, and it is ignored{meant}"))
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_told_with_the_nearest_and_others_are_not() {
        for (name, nearest) in [
            ("EVENKEEL_SUMARY", "EVENKEEL_SUMMARY"),
            ("EVENKEEL_RULE", "EVENKEEL_RULES"),
            ("EVENKEEL_WIDE_CPU", "EVENKEEL_WIDE_CPUS"),
            ("EVENKEEL_TRACES", "EVENKEEL_TRACE"),
        ] {
            let line = mistake(name).unwrap();
            assert!(line.contains(&format!("{name} is")), "{line}");
            assert!(line.ends_with(&format!("; is {nearest} meant?")), "{line}");
        }
        assert!(mistake("EVENKEEL_NONSENSE").unwrap().ends_with("ignored"));
        let fine = ["EVENKEEL_PAGE", "EVENKEEL_TEST_X", "OMP_FOO", "EVENKEELS"];
        assert!(fine.iter().all(|name| mistake(name).is_none()));
    }
}

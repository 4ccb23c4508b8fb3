//! Phases in the language of scenario files.

use crate::random::Stream;

/// A share or factor below ten from permille, exactly.
pub(super) fn share(permille: u64) -> String {
    format!("{}.{:03}", permille / 1000, permille % 1000)
}

/// Scalar work; `spread` is a result of [`spread`].
pub(super) fn compute(work_us: u64, spread: &str) -> String {
    format!("{{ compute = {{ work_us = {}, {spread} }} }}", work_us.max(1))
}

/// Work of the class that the background binds to `kernel`.
pub(super) fn wide(work_us: u64, spread: &str) -> String {
    format!("{{ compute = {{ work_us = {}, {spread}, class = \"@kernel\" }} }}", work_us.max(1))
}

/// Uniform within a percentage.
pub(super) fn within_pct(pct: u64) -> String {
    format!("spread_pct = {pct}")
}

/// The spread of an application's amounts: one in three is exponential, two in three are uniform
/// within 10 to 50 %.
pub(super) fn spread(stream: &mut Stream) -> String {
    if stream.once_in(3) {
        "spread = \"exponential\"".to_owned()
    } else {
        within_pct(stream.between(10, 50))
    }
}

pub(super) fn sleep(us: u64, spread: &str) -> String {
    format!("{{ sleep = {{ us = {}, {spread} }} }}", us.max(1))
}

pub(super) fn repeat(times: u64, phases: &[String]) -> String {
    format!("{{ repeat = {{ times = {}, phases = [{}] }} }}", times.max(1), phases.join(", "))
}

/// An endless loop.
pub(super) fn forever(phases: &[String]) -> String {
    format!("{{ forever = [{}] }}", phases.join(", "))
}

pub(super) fn first(phases: &[String]) -> String {
    format!("{{ first = [{}] }}", phases.join(", "))
}

pub(super) fn others(phases: &[String]) -> String {
    format!("{{ others = [{}] }}", phases.join(", "))
}

/// A phase with a synchronisation object by name: `barrier`, `lock`, `wait` and so on.
pub(super) fn sync(kind: &str, name: &str) -> String {
    format!("{{ {kind} = \"{name}\" }}")
}

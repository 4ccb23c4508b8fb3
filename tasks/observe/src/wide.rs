//! The report on wide tasks, where the program or its environment has chosen their CPUs.

use evenkeel_runtime::internal::recording::Why;

use crate::format::{counted, grouped, percent};
use crate::view::{Function, View};

/// Functions with wide tasks.
pub(crate) fn functions(view: &View) -> impl Iterator<Item = &Function> {
    view.tasks().filter(|function| function.wide != [0; 2])
}

/// The report in a sentence, if the program or its environment has chosen CPUs.
pub(crate) fn sentence(view: &View) -> Option<String> {
    if view.places.is_empty() {
        return None;
    }
    let places = view.places.join(" or ");
    let [there, elsewhere] = functions(view)
        .fold([0, 0], |sum, function| [sum[0] + function.wide[0], sum[1] + function.wide[1]]);
    let all = there + elsewhere;
    if all == 0 {
        return Some(format!(
            "No task was wide; such were to run on {places}. `wide()` declares them, or \
             EVENKEEL_WIDE."
        ));
    }
    let hint = if there < elsewhere && view.places.iter().any(|place| place.contains("CPU")) {
        " Where no worker is on these CPUs within 1 ms, others run them: bind threads, as by \
             OMP_PROC_BIND=true."
    } else {
        ""
    };
    Some(format!(
        "{} were to run on {places}: {} ({}) did, {} ran elsewhere.{hint}",
        counted(all, "wide task"),
        grouped(there),
        percent(there, all),
        grouped(elsewhere)
    ))
}

/// Why a function's tasks were taken for wide.
pub(crate) fn why(function: &Function) -> String {
    let all = [(Why::Declared, "declared"), (Why::Named, "named"), (Why::Learned, "learned")];
    let given = all.iter().filter(|(why, _)| function.why_wide & *why as u64 != 0);
    given.map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

/// The meaning of the words.
pub(crate) const ABOUT: &str = "Declared is what says so when it is created, named what \
     EVENKEEL_WIDE names, learned what left wide registers in use. Counted is a task that was \
     taken for wide when it began, where it began.";

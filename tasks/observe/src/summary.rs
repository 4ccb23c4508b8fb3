//! A recording as text for a terminal.

use std::fmt::Write as _;

use evenkeel_runtime::internal::recording::{
    Role, SLOT_CODE, SLOT_LOOKS, SLOT_OUTSIDE, SLOT_RUNTIME, SLOT_SLEEPS, SLOT_TASKS, SLOTS,
};

use crate::format::{counted, decimal, grouped, percent, time};
use crate::view::{Function, Row, View};
use crate::wide;

/// Functions that are listed.
const FUNCTIONS_MAX: usize = 20;
/// Threads that are.
const ROWS_MAX: usize = 64;
/// Steps that the threshold is shown in.
const STEPS: usize = 16;

/// The time of all threads: how much of the time is recorded, and its uses.
fn went(view: &View) -> [String; 2] {
    let (by_slot, inside, unseen) = (view.by_slot(), view.inside_ns(), view.unseen_ns());
    let outside = by_slot[SLOT_OUTSIDE];
    let all = inside + outside + unseen;
    let part = |ns: u64| format!("{} ({})", time(ns), percent(ns, all));
    let mut whole = format!(
        "Of {} of threads' time {} were inside of scopes and parallel regions, {} outside",
        time(all),
        part(inside),
        part(outside)
    );
    if percent(unseen, all) != percent(0, all) {
        whole += &format!(", and {} before a thread was first seen or after its end", part(unseen));
    }
    let in_tasks: u64 = by_slot[SLOT_TASKS..].iter().sum();
    let of_inside = format!(
        "Of the time inside {} was in tasks, {} in code around them, {} in the runtime, {} \
         looking or waiting, {} asleep.",
        percent(in_tasks, inside),
        percent(by_slot[SLOT_CODE], inside),
        percent(by_slot[SLOT_RUNTIME], inside),
        percent(by_slot[SLOT_LOOKS], inside),
        percent(by_slot[SLOT_SLEEPS], inside),
    );
    [whole + ".", of_inside]
}

/// The first sentences.
pub(crate) fn sentences(view: &View) -> Vec<String> {
    let (tasks, inlined, task_ns) = view.task_sums();
    let wall = time(view.wall_ns);
    let threads = counted(view.rows.len() as u64, "thread");
    let head = match task_ns.checked_div(tasks) {
        Some(each) => {
            format!("{} in {wall} on {threads}, {} each", counted(tasks, "task"), time(each))
        }
        None => format!("No tasks in {wall} on {threads}"),
    };
    let mut all = vec![head];
    all.extend(went(view));
    if tasks > 0 {
        all.push(format!(
            "{} ran from a queue, {} at once by their creators.",
            counted(tasks - inlined, "task"),
            grouped(inlined),
        ));
    }
    all.extend(wide::sentence(view));
    if view.runs_code() {
        all.push(
            "Code around tasks is a scope's own, and what the threads of a parallel region run \
             themselves, as its loops."
                .to_owned(),
        );
    }
    if let Some((dropped, since)) = view.dropped {
        all.push(format!(
            "The trace ends after {}, when its memory was full: {} since then are in no trace. \
             All numbers here are whole.",
            time(since),
            counted(dropped, "event"),
        ));
    }
    all
}

/// Steps of the scheduler, each with name, number and meaning.
pub(crate) fn steps(view: &View) -> Vec<(&'static str, u64, &'static str)> {
    let steps = &view.steps;
    vec![
        ("overflows", steps.overflows, "a leaf's queue was over the threshold; part of it went up"),
        ("requests", steps.requests, "a worker without tasks asked above, then beside"),
        ("fetches", steps.fetches, "sets of tasks taken from a queue above"),
        ("pulls", steps.pulls, "sets of tasks taken from another worker's queue"),
        ("moved", steps.moved, "tasks in those sets"),
        ("sleeps", steps.waits, "a worker gave up looking"),
        ("gifts", steps.gifts, "it was given tasks, or woken to look, while it slept"),
        ("rises", steps.rises, "the threshold doubled: the root overflowed"),
        ("falls", steps.falls, "the threshold halved: the root was asked and empty"),
    ]
}

/// The whole text.
pub(crate) fn text(view: &View) -> String {
    let mut text = sentences(view).join("\n") + "\n";
    functions(&mut text, view);
    wide_ones(&mut text, view);
    rows(&mut text, view);
    let listed = steps(view).into_iter().filter(|&(_, number, _)| number > 0);
    let listed: Vec<String> =
        listed.map(|(name, number, _)| format!("{name} {}", grouped(number))).collect();
    if !listed.is_empty() {
        let _ = writeln!(text, "\nscheduler: {}", listed.join(", "));
    }
    threshold(&mut text, view);
    let bytes = |bytes: usize| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let _ = writeln!(
        text,
        "memory: {} for tasks, {} for the trace",
        bytes(view.task_bytes),
        bytes(view.trace_bytes)
    );
    text
}

fn functions(text: &mut String, view: &View) {
    if view.functions.is_empty() {
        return;
    }
    let inside = view.inside_ns();
    let _ = writeln!(
        text,
        "\n{:>12} {:>9} {:>8} {:>9} {:>9} {:>9} {:>9}  function",
        "runs", "total", "share", "mean", "median", "99 %", "longest"
    );
    for function in view.functions.iter().take(FUNCTIONS_MAX) {
        let Function { runs, ns, median_ns, high_ns, longest_ns, role, .. } = function;
        let around = if *role == Role::Code { ", around tasks" } else { "" };
        let _ = writeln!(
            text,
            "{:>12} {:>9} {:>8} {:>9} {:>9} {:>9} {:>9}  {}{around}",
            grouped(*runs),
            time(*ns),
            percent(*ns, inside),
            time(ns / runs),
            time(*median_ns),
            time(*high_ns),
            time(*longest_ns),
            function.name.title()
        );
    }
    left_out(text, view.functions.len(), FUNCTIONS_MAX, "functions");
}

fn wide_ones(text: &mut String, view: &View) {
    let all: Vec<&Function> = wide::functions(view).collect();
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{:>12} {:>12}  wide tasks", "where chosen", "elsewhere");
    for function in all.iter().take(FUNCTIONS_MAX) {
        let ([there, elsewhere], title) = (function.wide.map(grouped), function.name.title());
        let _ = writeln!(text, "{there:>12} {elsewhere:>12}  {title}, {}", wide::why(function));
    }
    left_out(text, all.len(), FUNCTIONS_MAX, "functions");
}

fn left_out(text: &mut String, all: usize, shown: usize, what: &str) {
    if all > shown {
        let _ = writeln!(text, "{} more {what} are left out", grouped((all - shown) as u64));
    }
}

fn rows(text: &mut String, view: &View) {
    let _ = writeln!(
        text,
        "\n{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  thread",
        "tasks", "around", "runtime", "looking", "asleep", "outside", "unseen"
    );
    for Row { name, ns, unseen_ns, .. } in view.rows.iter().take(ROWS_MAX) {
        let of: [u64; SLOTS] = *ns;
        let _ = writeln!(
            text,
            "{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {name}",
            time(of[SLOT_TASKS..].iter().sum()),
            time(of[SLOT_CODE]),
            time(of[SLOT_RUNTIME]),
            time(of[SLOT_LOOKS]),
            time(of[SLOT_SLEEPS]),
            time(of[SLOT_OUTSIDE]),
            time(*unseen_ns),
        );
    }
    left_out(text, view.rows.len(), ROWS_MAX, "threads");
}

/// The meaning of the threshold, in words.
pub(crate) const THRESHOLD: &str =
    "how many ready tasks a worker's queue holds before part of them go up, where others find them";

fn threshold(text: &mut String, view: &View) {
    if view.task_sums().0 == 0 {
        return;
    }
    let whole = view.series.whole();
    let Some((threshold, ready)) = whole.means() else { return };
    let _ = writeln!(
        text,
        "ready tasks: {} in the mean, at most {}; seen {}",
        decimal(ready),
        grouped(whole.ready_max),
        counted(whole.samples, "time"),
    );
    if whole.threshold_max == 0 {
        let _ = writeln!(text, "threshold, {THRESHOLD}: 0 all the time");
        return;
    }
    let _ = writeln!(
        text,
        "threshold, {THRESHOLD}: {} in the mean, at most {}",
        decimal(threshold),
        grouped(whole.threshold_max),
    );
    let bins = &view.series.bins;
    let steps = bins.chunks(bins.len().div_ceil(STEPS)).map(|part| {
        let means: Vec<f64> = part.iter().filter_map(|bin| Some(bin.means()?.0)).collect();
        match means.len() {
            0 => "-".to_owned(),
            number => format!("{:.0}", means.iter().sum::<f64>() / number as f64),
        }
    });
    let steps: Vec<String> = steps.collect();
    let _ = writeln!(
        text,
        "threshold over time, in {} steps, - where nobody looked: {}",
        steps.len(),
        steps.join(" ")
    );
}

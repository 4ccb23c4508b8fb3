//! The advice as text.

use silicon::Estimate;
use silicon::advice::NO_DIFFERENCE_POINTS;

use super::action::Action;
use super::gains::Verdict;
use super::recommend::{Advised, BreakEven, Changes, Report};

/// The question, the table, the answer, each action with its commands, and the limits.
pub fn text(report: &Report, width: usize) -> String {
    let fit = |text: &str| report::fit(text, width);
    let mut text = fit(&question(report)) + "\n";
    if let Some(why) = &report.nothing_to_gain {
        return text + &fit(&format!("Do nothing: {why}."));
    }
    text += &table(report);
    text += "\n";
    text += &fit(&answer(report));
    for advised in report.actions.iter().filter(|it| it.action != Action::Nothing) {
        text += "\n";
        text += &fit(&format!("{}: {}", advised.name, verdict(advised)));
        text += &fit(&format!("  {}", advised.effect));
        text.extend(sentences(advised).iter().map(|line| fit(&format!("  {line}"))));
        // A command stays on one line, to be copied.
        text.extend(advised.commands.iter().map(|command| format!("    {command}\n")));
    }
    text += "\n";
    text += &fit(LIMITS);
    text.extend(report.notes.iter().map(|note| fit(note)));
    text
}

/// What is said of a best mode that gains nothing beyond the plain scheduler.
const AS_FAIR: &str = "\
 Most of that gain is not compensation: against --mode fair, which compensates nothing, no gain is \
certain.";

const LIMITS: &str = "\
Everything here is predicted, not measured. Values are medians over seeds of the simulator with \
intervals of 95 %, which do not contain the errors of its model: for core specialization, \
predictions from recordings err by 0 to 21 points (docs/measurements/specialization.md). Changes \
are of the work done in half of the recorded time, against the kernel's EEVDF. Victims are \
programs whose own code does not lower the clock. ARGUMENTS stands for a program's own arguments. \
evenkeel trial and evenkeel advise --live measure on the machine.";

fn question(report: &Report) -> String {
    match &report.cpu {
        Some(cpu) if report.seeds > 0 => format!(
            "What should be done? Predicted for {} on {cpu}, against EEVDF, {} seeds",
            report.work, report.seeds
        ),
        Some(cpu) => format!("What should be done? {} on {cpu}", report.work),
        None => format!("What should be done? {}", report.work),
    }
}

fn table(report: &Report) -> String {
    let mut lines = vec![format!(
        "{:36}{:<23}{:<23}{:<23}{}",
        "action", "all work, %", "victims, %", "wide programs, %", "verdict"
    )];
    for advised in &report.actions {
        let cells = match &advised.changes {
            Some(it) => [Some(it.all_pct), it.victims_pct, it.wide_pct].map(cell),
            None => [const { String::new() }; 3],
        };
        let [all, victims, wide] = cells;
        let line =
            format!("{:36}{all:<23}{victims:<23}{wide:<23}{}", advised.name, verdict(advised));
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n") + "\n"
}

fn cell(change: Option<Estimate>) -> String {
    change.as_ref().map_or_else(|| "-".to_owned(), interval)
}

fn interval(change: &Estimate) -> String {
    let sign = |value: f64| format!("{:+.1}", if value.abs() < 0.05 { 0.0 } else { value });
    format!("{} [{}, {}]", sign(change.value), sign(change.low), sign(change.high))
}

fn verdict(advised: &Advised) -> &'static str {
    match (&advised.action, advised.verdict) {
        (Action::Nothing, _) => "",
        (_, None) => "needs --speedup",
        (_, Some(Verdict::Gains)) => "gains",
        (_, Some(Verdict::Trades)) => "trades",
        (_, Some(Verdict::NoDifference)) => "no difference",
        (_, Some(Verdict::Undecided)) => "undecided",
        (_, Some(Verdict::Loses)) => "loses",
    }
}

fn answer(report: &Report) -> String {
    let first_of = |verdict| report.actions.iter().find(|it| it.verdict == Some(verdict));
    let wide = report.wide_programs.join(", ");
    if let Some(best) = first_of(Verdict::Gains) {
        return format!(
            "Best: {}. An action gains if one of all work, the victims and the wide programs \
             ({wide}) gains more than {NO_DIFFERENCE_POINTS} % by the whole interval, and none of \
             the three loses as much.{}",
            best.name,
            if gains_as_fair(best) { AS_FAIR } else { "" }
        );
    }
    let nothing = format!(
        "Do nothing: no action that is judged gains more than {NO_DIFFERENCE_POINTS} % by the \
         whole interval, for all work, for the victims or for the wide programs ({wide}), without \
         a loss for one of them."
    );
    match first_of(Verdict::Trades) {
        None => nothing,
        Some(trade) => format!(
            "{nothing} Where some programs matter more than others, {} is a trade: the table \
             says which programs gain and which lose.",
            trade.name
        ),
    }
}

/// Whether a mode that compensates gains nothing for certain beyond the one that does not.
fn gains_as_fair(advised: &Advised) -> bool {
    let verdict = advised.changes_from_fair.as_ref().map(Changes::verdict);
    verdict.is_some_and(|it| !matches!(it, Verdict::Gains | Verdict::Trades))
}

/// The programs that gain and lose, or the missing value.
fn sentences(advised: &Advised) -> Vec<String> {
    if let (Action::Narrow { program, .. }, Some(break_even)) =
        (&advised.action, &advised.break_even)
    {
        return vec![missing(program, break_even)];
    }
    let mut sentences = advised.changes.as_ref().map(gainers).unwrap_or_default();
    sentences.extend(advised.changes_from_fair.as_ref().map(from_fair));
    sentences
}

/// What compensation itself changes.
fn from_fair(changes: &Changes) -> String {
    let part = |name: &str, change: Option<&Estimate>| {
        change.map(|it| format!("{name} {} %", interval(it)))
    };
    let parts = [
        part("all work", Some(&changes.all_pct)),
        part("victims", changes.victims_pct.as_ref()),
        part("wide programs", changes.wide_pct.as_ref()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("Against --mode fair, which compensates nothing: {}.", parts.join(", "))
}

fn missing(program: &str, break_even: &BreakEven) -> String {
    let how = format!(
        "--speedup '{program}=FACTOR' judges it, where FACTOR is the cycles that {program} takes \
         with 256-bit code over those with 512-bit code (perf stat -e cycles:u of both)"
    );
    match break_even.speedup {
        Some(at) if at.high <= 1.0 => format!(
            "512-bit code pays for the whole machine whatever {program} gains by it; {how}."
        ),
        Some(at) => format!(
            "512-bit code pays for the whole machine if {program} does more than {:.2} \
             [{:.2}, {:.2}] times as much a cycle with it; {how}.",
            at.value, at.low, at.high
        ),
        None => format!(
            "In some seeds, 512-bit code pays for the whole machine at no speed-up of {program}; \
             {how}."
        ),
    }
}

fn gainers(changes: &Changes) -> Vec<String> {
    let listed = |is_meant: &dyn Fn(&Estimate) -> bool| {
        let programs = changes.programs.iter().filter(|it| is_meant(&it.change_pct));
        let shown: Vec<String> =
            programs.map(|it| format!("{} {} %", it.name, interval(&it.change_pct))).collect();
        shown.join(", ")
    };
    let gain = listed(&|change| change.low > NO_DIFFERENCE_POINTS);
    let lose = listed(&|change| change.high < -NO_DIFFERENCE_POINTS);
    let mut sentences = Vec::new();
    if !gain.is_empty() {
        sentences.push(format!("Gain: {gain}."));
    }
    if !lose.is_empty() {
        sentences.push(format!("Lose: {lose}."));
    }
    if sentences.is_empty() {
        sentences.push("No program gains or loses for certain.".to_owned());
    }
    sentences
}

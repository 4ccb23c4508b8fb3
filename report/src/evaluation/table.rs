//! The tables of `evaluate`: goals, and the same goals under deliberate errors.

use super::{Evaluation, Judged, Work};
use crate::format::{clean, counted, variant};
use crate::text_table::{Column, TextTable, Tone, wrap};

/// Every goal of the works as they are, and those missed in each variant.
///
/// `width` is that of the terminal in columns; `color` allows escape sequences of ours.
#[must_use]
pub fn evaluation_table(evaluation: &Evaluation, width: usize, color: bool) -> String {
    let mut text = format!("{}\n\n", verdict(evaluation));
    let as_they_are = || evaluation.works.iter().filter(|work| work.variant.is_none());
    if as_they_are().any(|work| !work.goals.is_empty()) {
        text += &goals(as_they_are(), width, color);
    }
    if !evaluation.variants().is_empty() {
        text += &format!("\n{}", variants(evaluation, width, color));
    }
    text + "\n" + &wrap(LEGEND, width)
}

/// How many goals are reached.
pub(crate) fn verdict(evaluation: &Evaluation) -> String {
    let (missed, all) = evaluation.missed();
    let as_it_is = |work: &&Work| work.variant.is_none();
    let plain = || evaluation.works.iter().filter(as_it_is).flat_map(|work| &work.goals);
    let reached = plain().filter(|goal| goal.holds()).count();
    let count = plain().count();
    let mut text = format!(
        "{} reaches {reached} of {}",
        clean(&evaluation.about.judged),
        counted(count, "goal")
    );
    if all > count {
        text += &format!(
            ", and {} of {} in variants",
            all - count - (missed - (count - reached)),
            all - count
        );
    }
    text + "."
}

fn goals<'a>(works: impl Iterator<Item = &'a Work>, width: usize, color: bool) -> String {
    let mut table = TextTable::new(vec![
        Column::words("work", 0),
        Column::words("beside", 0),
        Column::words("figure", 0),
        Column::numbers("found", 0),
        Column::words("goal", 0),
        Column::words("", 0),
    ]);
    for work in works {
        for goal in &work.goals {
            let (outcome, tone) =
                if goal.holds() { ("reached", Tone::Good) } else { ("MISSED", Tone::Bad) };
            table.push(vec![
                (clean(&work.name), Tone::Plain),
                (variant(&goal.background), Tone::Plain),
                (goal.figure.to_owned(), Tone::Plain),
                (goal.found_words(), Tone::Plain),
                (goal.bound_words(), Tone::Plain),
                (outcome.to_owned(), tone),
            ]);
        }
    }
    table.render(width, color)
}

fn variants(evaluation: &Evaluation, width: usize, color: bool) -> String {
    let mut table = TextTable::new(vec![
        Column::words("variant", 0),
        Column::numbers("goals times", 2),
        Column::numbers("reached", 0),
        Column::words("furthest off", 0),
        Column::words("beside", 0),
        Column::words("figure", 1),
        Column::numbers("found", 0),
        Column::words("goal", 0),
    ]);
    for one in evaluation.variants() {
        let works = evaluation.works.iter().filter(|work| work.variant.as_ref() == Some(one));
        let goals: Vec<(&Work, &Judged)> =
            works.flat_map(|work| work.goals.iter().map(move |goal| (work, goal))).collect();
        let reached = goals.iter().filter(|(_, goal)| goal.holds()).count();
        let tone = if reached == goals.len() { Tone::Good } else { Tone::Bad };
        let excess = |goal: &Judged| goal.found.unwrap_or(f64::MAX) / goal.bound;
        let worst = goals
            .iter()
            .filter(|(_, goal)| !goal.holds())
            .max_by(|(_, a), (_, b)| excess(a).total_cmp(&excess(b)));
        let of_worst = |words: fn(&Work, &Judged) -> String| {
            (worst.map_or_else(String::new, |(work, goal)| words(work, goal)), Tone::Plain)
        };
        table.push(vec![
            (clean(&one.name), Tone::Plain),
            (one.allowance.to_string(), Tone::Plain),
            (format!("{reached} of {}", goals.len()), tone),
            of_worst(|work, _| clean(&work.name)),
            of_worst(|_, goal| variant(&goal.background)),
            of_worst(|_, goal| goal.figure.to_owned()),
            of_worst(|_, goal| goal.found_words()),
            of_worst(|_, goal| goal.bound_words()),
        ]);
    }
    table.render(width, color)
}

const LEGEND: &str = "\
slowdown: mean of |completion beside this background over completion beside the control - 1| over \
programs; slower: the same with speed-ups as 0; the page and --csv have all schedulers";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::testing::evaluation;

    #[test]
    fn each_goal_has_its_line_and_each_variant_its_worst() {
        let text = evaluation_table(&evaluation(), 120, false);
        assert!(text.starts_with("even reaches 1 of 2 goals, and 1 of 2 in variants"), "{text}");
        let line = |starts: &str| text.lines().find(|line| line.starts_with(starts)).unwrap();
        assert!(line("mixes").ends_with("MISSED"), "{text}");
        assert!(line("names only").contains("1 of 2"), "{text}");
        let worst = line("names only").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(worst.contains("mixes AVX-512 slowdown, % 5.0 ≤ 3.0"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    }
}

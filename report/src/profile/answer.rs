//! Which program lost most, and to which, in one to three sentences.

use super::words::{SHOWN_MIN, all_cpu_time_s, bounds_pct, culprit, known, name, share_pct, time};
use super::{Loss, Victim, View};
use crate::format::percent;

/// A culprit that neither registers nor classes show, such as AVX2 code.
pub(crate) const UNKNOWN_PROGRAM: &str = "A program that is not known";
/// The program that measured: what it took of others is no finding.
const PROFILER: &str = "evenkeel";

/// The answer of a profile: sentences for a person, the most important first; at least one.
#[must_use]
pub fn answer(view: &View) -> Vec<String> {
    if view.victims.is_empty() {
        return vec!["The profile has no program.".to_owned()];
    }
    let mut all = match &view.verdict {
        Some(verdict) => vec![verdict.clone()],
        None if view.has_clock => clock(view),
        None => Vec::new(),
    };
    all.extend(longest_wait(view));
    if !view.has_clock && view.verdict.is_none() {
        all.push("What programs lost to the clock of others is not known.".to_owned());
    }
    all
}

/// Whether a loss is one to another program that a reader asks about.
pub(crate) fn is_finding(view: &View, loss: &Loss) -> bool {
    let is_asked_for = |name: &String| view.focus.is_empty() || view.focus.contains(name);
    let is_asked = is_asked_for(&loss.victim) || loss.culprit.as_ref().is_some_and(is_asked_for);
    let is_of_profiler = loss.victim == PROFILER || loss.culprit.as_deref() == Some(PROFILER);
    loss.culprit.as_ref() != Some(&loss.victim) && is_asked && !is_of_profiler
}

/// The findings, the largest loss of clock first.
fn findings(view: &View) -> Vec<&Loss> {
    let mut losses: Vec<&Loss> = view.losses.iter().filter(|it| is_finding(view, it)).collect();
    losses.sort_by(|a, b| known(b.lost_s.value).total_cmp(&known(a.lost_s.value)));
    losses
}

/// The largest loss, whether it may be chance, and the sum of all; never none.
fn clock(view: &View) -> Vec<String> {
    let all_s = all_cpu_time_s(view);
    let losses = findings(view);
    // Estimates of small losses may be negative, and so may their sum.
    let lost_s: f64 = losses.iter().map(|loss| known(loss.lost_s.value)).sum();
    let largest = losses.first().filter(|loss| is_worth_a_sentence(loss.lost_s.value, all_s));
    let mut all = Vec::new();
    match largest {
        Some(largest) => {
            all.push(largest_loss(view, largest));
            if largest.lost_s.low.is_finite() && largest.lost_s.low <= 0.0 {
                all.push("That may be chance: no loss at all is within the interval.".to_owned());
            }
        }
        None => all.push(no_loss(view)),
    }
    let told_s = largest.map_or(0.0, |largest| largest.lost_s.value);
    if lost_s > told_s && is_worth_a_sentence(lost_s, all_s) {
        all.push(format!(
            "In all, programs lost {} to the clock of others: {} of all CPU time.",
            time(lost_s),
            percent(share_pct(lost_s, all_s))
        ));
    }
    all
}

/// Without a loss that is known: a program whose own loss is not known may have one.
fn no_loss(view: &View) -> String {
    let is_open = |it: &&Victim| {
        it.basis == "at least" && is_worth_a_sentence(it.cpu_time_s, all_cpu_time_s(view))
    };
    match view.victims.iter().find(is_open) {
        Some(victim) => format!(
            "What {} lost to the clock is not known: it uses wide code itself, and nothing tells \
             when; pauses measure it.",
            name(&victim.name)
        ),
        None => {
            "No program lost 0.1 % of all CPU time to a clock that another one lowered.".to_owned()
        }
    }
}

fn is_worth_a_sentence(time_s: f64, all_cpu_time_s: f64) -> bool {
    known(time_s) > 0.0 && known(time_s) >= SHOWN_MIN * all_cpu_time_s
}

fn largest_loss(view: &View, loss: &Loss) -> String {
    let victim = view.victims.iter().find(|victim| victim.name == loss.victim);
    let cpu_time_s = victim.map_or(0.0, |victim| known(victim.cpu_time_s));
    let is_least = victim.is_some_and(|victim: &Victim| victim.basis == "at least");
    let bounds = bounds_pct(&loss.lost_s, 100.0 / cpu_time_s);
    let bounds = bounds.map_or_else(String::new, |bounds| format!(", 95 %: {bounds}"));
    let by_whom = match &loss.culprit {
        Some(name_of) => format!("to the clock that {} lowered", name(name_of)),
        None => "to a clock that a program not known lowered".to_owned(),
    };
    format!(
        "{} lost {}{} of its CPU time {by_whom} ({}{bounds}).",
        name(&loss.victim),
        if is_least { "at least " } else { "" },
        percent(share_pct(loss.lost_s.value, cpu_time_s)),
        time(loss.lost_s.value)
    )
}

/// The longest wait of a program for another, if it is worth a sentence.
fn longest_wait(view: &View) -> Option<String> {
    let named = findings(view).into_iter().filter(|loss| loss.culprit.is_some());
    let longest = named.max_by(|a, b| known(a.waited_s).total_cmp(&known(b.waited_s)))?;
    let waited_s = known(longest.waited_s);
    if !is_worth_a_sentence(waited_s, all_cpu_time_s(view)) {
        return None;
    }
    let victim = view.victims.iter().find(|victim| victim.name == longest.victim)?;
    let runnable_s = known(victim.cpu_time_s) + known(victim.waited_s);
    Some(format!(
        "{} waited {} for a CPU that {} had: {} of the time for which it was runnable.",
        name(&longest.victim),
        time(waited_s),
        culprit(longest.culprit.as_deref()),
        percent(share_pct(waited_s, runnable_s))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Interval;

    fn view(lost_s: f64, waited_s: f64, has_clock: bool) -> View {
        let victim = |name: &str| Victim {
            name: name.to_owned(),
            cpu_time_s: 10.0,
            waited_s,
            basis: "measured",
            ..Victim::default()
        };
        let lost_s = Interval { value: lost_s, low: lost_s * 0.9, high: lost_s * 1.1 };
        let loss = |victim: &str, culprit: &str, lost_s, waited_s| Loss {
            victim: victim.to_owned(),
            culprit: Some(culprit.to_owned()),
            lost_s,
            waited_s,
            ..Loss::default()
        };
        // What a program loses to itself is larger, and no answer.
        let own = loss("x265", "x265", Interval::unbounded(5.0), 50.0);
        let losses = vec![own, loss("nginx", "x265", lost_s, waited_s)];
        View {
            has_clock,
            victims: vec![victim("nginx"), victim("x265")],
            losses,
            ..View::default()
        }
    }

    #[test]
    fn the_largest_loss_is_the_answer() {
        let expected = "nginx lost 4.0 % of its CPU time to the clock that x265 lowered (0.40 s, \
                        95 %: 3.6 to 4.4 %).";
        assert_eq!(answer(&view(0.4, 0.0, true)), [expected]);
        // An estimate may be below 0, and takes nothing from the others' losses.
        let mut noisy = view(0.4, 0.0, true);
        noisy.losses.push(Loss { lost_s: Interval::unbounded(-0.5), ..noisy.losses[1].clone() });
        assert_eq!(answer(&noisy), [expected]);
        let mut least = view(0.4, 0.0, true);
        least.victims[0].basis = "at least";
        assert!(answer(&least)[0].starts_with("nginx lost at least 4.0 %"));
    }

    #[test]
    fn a_loss_below_a_thousandth_is_none() {
        let none = "No program lost 0.1 % of all CPU time to a clock that another one lowered.";
        assert_eq!(answer(&view(0.019, 0.0, true)), [none]);
        let waits = "nginx waited 10.00 s for a CPU that x265 had: 50.0 % of the time for which it \
                     was runnable.";
        assert_eq!(answer(&view(0.019, 10.0, true)), [none, waits]);
    }

    #[test]
    fn only_what_was_asked_for_and_not_the_profiler_is_a_finding() {
        let mut asked = view(0.4, 10.0, true);
        asked.losses.push(Loss { victim: "sshd".to_owned(), waited_s: 20.0, ..Loss::default() });
        asked.losses.push(Loss {
            culprit: Some(PROFILER.to_owned()),
            waited_s: 90.0,
            ..asked.losses[1].clone()
        });
        asked.focus = vec!["nginx".to_owned()];
        let found = answer(&asked);
        assert!(found[0].starts_with("nginx lost 4.0 %"), "{found:?}");
        assert!(found[1].starts_with("nginx waited 10.00 s for a CPU that x265 had"), "{found:?}");
        asked.focus = vec!["redis".to_owned()];
        assert_eq!(answer(&asked).len(), 1, "no loss of redis");
    }

    #[test]
    fn small_losses_that_add_up_are_not_denied() {
        let mut many = view(0.015, 0.0, true);
        many.losses.push(Loss { culprit: None, ..many.losses[1].clone() });
        let found = answer(&many);
        assert!(
            found[0].starts_with("No program") && found[1].starts_with("In all, programs lost")
        );
    }

    #[test]
    fn noise_below_zero_contradicts_no_answer() {
        let mut noisy = view(0.4, 0.0, true);
        noisy.losses.push(Loss {
            culprit: None,
            lost_s: Interval::unbounded(-1.0),
            ..noisy.losses[1].clone()
        });
        assert_eq!(answer(&noisy), answer(&view(0.4, 0.0, true)));
        noisy.losses[1].lost_s.low = -0.1;
        let found = answer(&noisy);
        assert!(found.len() == 2 && found[1].starts_with("That may be chance"), "{found:?}");
    }

    #[test]
    fn without_a_clock_the_answer_says_that_it_is_not_known() {
        let found = answer(&view(0.0, 0.0, false));
        assert!(found.len() == 1 && found[0].starts_with("What programs lost"), "{found:?}");
        let found = answer(&view(0.0, 10.0, false));
        assert!(found[0].starts_with("nginx waited") && found[1].starts_with("What programs lost"));
    }
}

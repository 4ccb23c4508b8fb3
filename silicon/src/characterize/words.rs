//! Findings in words: the answer in a sentence, and a table.

use cpu_model::Class;

use super::findings::{ClassFinding, Findings, Verdict};

/// A start that costs so much without a lower clock is worth saying, in us.
const START_MIN_US: f64 = 1.0;
/// So much lower a clock with other cores busy is worth saying, as a share of it.
const MORE: f64 = 0.01;

/// The usual name of a class.
#[must_use]
pub fn class_words(class: Class) -> &'static str {
    match class {
        Class::Scalar => "scalar",
        Class::Avx2Light => "light 256-bit",
        Class::Avx2Heavy => "heavy 256-bit",
        Class::Avx512Light => "light 512-bit",
        Class::Avx512Heavy => "heavy 512-bit",
        Class::Amx => "AMX",
    }
}

/// Both classes of a width, where the findings have two.
fn width_words(class: Class) -> &'static str {
    match class.width() {
        0 => "scalar",
        1 => "256-bit",
        _ => "512-bit",
    }
}

/// A duration in two digits and its unit.
#[must_use]
pub fn duration_words(us: f64) -> String {
    match us {
        us if us >= 10_000.0 => format!("{:.0} ms", us / 1000.0),
        us if us >= 1000.0 => format!("{:.1} ms", us / 1000.0),
        us if us >= 100.0 => format!("{:.2} ms", us / 1000.0),
        us if us >= 10.0 => format!("{us:.0} µs"),
        us => format!("{us:.1} µs"),
    }
}

/// By how many percent a clock is lower.
fn percent_words(ratio: f64) -> String {
    let percent = (1.0 - ratio) * 100.0;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// The answer.
pub(super) fn sentence(findings: &Findings) -> String {
    let found: Vec<(usize, &ClassFinding)> =
        Class::ALL.into_iter().filter_map(|class| findings.telling(class)).collect();
    let with = |is: fn(&Verdict) -> bool| -> Vec<(usize, &ClassFinding)> {
        found.iter().filter(|(_, one)| is(&one.verdict)).copied().collect()
    };
    let affected = with(|verdict| *verdict == Verdict::Affected);
    let hidden = with(|verdict| matches!(verdict, Verdict::Hidden(_)));
    let unaffected = with(|verdict| *verdict == Verdict::Unaffected);
    let unsupported = with(|verdict| matches!(verdict, Verdict::Unsupported(_)));
    let mut parts: Vec<String> = affected
        .iter()
        .rev()
        .enumerate()
        .map(|(index, one)| effect_words(findings, *one, index == 0))
        .collect();
    let starts_us = |one: &ClassFinding| one.entry.map_or(0.0, |entry| entry.us.value);
    let (throttled, untouched): (Vec<_>, Vec<_>) =
        unaffected.iter().partition(|(_, one)| starts_us(one) >= START_MIN_US);
    if !untouched.is_empty() {
        let none = names(&untouched);
        parts.push(match affected.is_empty() {
            false => format!("{none}: nothing measurable"),
            true => format!("{none} code leaves the clock as scalar code does, within 1 %"),
        });
    }
    if !throttled.is_empty() {
        let most_us = throttled.iter().map(|(_, one)| starts_us(one)).fold(0.0, f64::max);
        parts.push(format!(
            "{}: the clock stays within 1 %, but each start costs up to {}",
            names(&throttled),
            duration_words(most_us)
        ));
    }
    if !hidden.is_empty() {
        parts.push(format!("{}: hidden by the noise of this machine", names(&hidden)));
    }
    for (reason, classes) in by_reason(&unsupported) {
        parts.push(format!("{}: {reason}", names(&classes)));
    }
    let answer = match (affected.is_empty(), hidden.is_empty()) {
        (false, _) => "yes",
        (true, true) if !unaffected.is_empty() => "no",
        (true, _) => "cannot say",
    };
    format!("{answer}: {}", parts.join("; "))
}

fn busy_words(busy_others: usize) -> String {
    match busy_others {
        1 => "with another core busy".to_owned(),
        count => format!("with {count} other cores busy"),
    }
}

/// What a class does where it first shows, and by how much more where it does most; the first
/// class of a sentence in full.
fn effect_words(
    findings: &Findings,
    (busy_others, found): (usize, &ClassFinding),
    is_first: bool,
) -> String {
    let when = match busy_others {
        0 => String::new(),
        count => busy_words(count) + " ",
    };
    let least = found.ratio.map_or(1.0, |ratio| ratio.value) - MORE;
    let most = findings
        .conditions
        .iter()
        .filter_map(|condition| {
            let class = condition.class(found.class)?;
            let ratio = class.ratio.filter(|_| class.verdict == Verdict::Affected)?.value;
            (ratio <= least).then_some((ratio, condition.busy_others))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let more = most.map_or_else(String::new, |(ratio, busy_others)| {
        format!(" ({} {})", percent_words(ratio), busy_words(busy_others))
    });
    let name = class_words(found.class);
    let lowered = found.ratio.map_or_else(String::new, |ratio| percent_words(ratio.value));
    let hold = found.hold.as_ref().map(|hold| duration_words(hold.us.value));
    match (is_first, hold) {
        (true, Some(hold)) => format!(
            "{when}{name} code lowers a core by {lowered}{more} and it stays low for {hold} after \
             the last instruction"
        ),
        (true, None) => format!(
            "{when}{name} code lowers a core by {lowered}{more}; how long it stays low cannot be \
             told"
        ),
        (false, Some(hold)) => format!("{when}{name} by {lowered}{more} for {hold}"),
        (false, None) => format!("{when}{name} by {lowered}{more}"),
    }
}

/// Names of classes, both of a width together.
fn names(found: &[(usize, &ClassFinding)]) -> String {
    let classes: Vec<Class> = found.iter().map(|(_, one)| one.class).collect();
    let mut names: Vec<&str> = Vec::new();
    for &class in &classes {
        let both = class != Class::Amx
            && classes
                .iter()
                .filter(|other| **other != Class::Amx && other.width() == class.width())
                .count()
                == 2;
        let name = if both { width_words(class) } else { class_words(class) };
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

type Reasons<'a> = Vec<(&'a str, Vec<(usize, &'a ClassFinding)>)>;

fn by_reason<'a>(unsupported: &[(usize, &'a ClassFinding)]) -> Reasons<'a> {
    let mut reasons: Reasons<'a> = Vec::new();
    for &(busy, one) in unsupported {
        let Verdict::Unsupported(reason) = &one.verdict else { continue };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, classes)) => classes.push((busy, one)),
            None => reasons.push((reason, vec![(busy, one)])),
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_digits_and_a_unit() {
        let words = [0.4, 4.53, 23.4, 662.0, 1500.0, 31_000.0].map(duration_words);
        assert_eq!(words, ["0.4 µs", "4.5 µs", "23 µs", "0.66 ms", "1.5 ms", "31 ms"]);
        assert_eq!((percent_words(0.868), percent_words(0.944)), ("13 %".into(), "5.6 %".into()));
    }
}

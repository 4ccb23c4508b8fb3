//! The page of a machine: the effect of wide instructions on its clock, as curves and tables.

use cpu_model::Class;
use silicon::{Condition, Findings, Point, Verdict, class_words, duration_words};

use super::figures::both;
use super::parts::{Part, join};
use super::{document, machine_tables};
use crate::drawing::escape;
use crate::format::{clean, grouped};
use crate::svg::{Axes, Band, spread};

/// Shown after the last wide instruction where holds are short, in us.
const SHORT_US: f64 = 40.0;
/// And where they are not.
const LONG_US: f64 = 1500.0;
/// A hold of at most this is a short one, in us.
const SHORT_HOLD_US: f64 = 25.0;
/// Shown after the first wide instruction, in us: twice the longest transition (D 5.2.1).
const ENTRY_US: f64 = 120.0;
/// The same length where no start costs more than a tenth of [`ENTRY_US`].
const SHORT_ENTRY_US: f64 = 12.0;
/// The axis of the clock spans at least this share of the clock, so that noise stays small.
const CLOCK_MARGIN: f64 = 0.06;

/// The page as HTML.
#[must_use]
pub fn machine_page(findings: &Findings) -> String {
    let place = &findings.place;
    let place_words = format!(
        "CPU {} of {}{}; {} bursts, {} of them interrupted by something else.",
        place.cpu,
        if place.is_virtual { "a virtual machine on " } else { "" },
        clean(if place.cpu_name.is_empty() { "a CPU without a name" } else { &place.cpu_name }),
        grouped(findings.bursts),
        grouped(findings.bursts_interrupted)
    );
    let mut parts: Vec<Part> = findings.conditions.iter().map(after).collect();
    parts.push(entry(&findings.conditions[0]));
    parts.extend(machine_tables::all(findings));
    let (list, html) = join(&parts);
    let main = format!(
        "<p class=\"soft\">What wide instructions do to the clock of this machine</p>\n\
         <h1 class=\"verdict\">{}</h1>\n<p class=\"soft\">{}</p>\n\
         <nav aria-label=\"Parts of this page\"><details><summary>On this page</summary>\n\
         {list}</details></nav>\n{html}",
        escape(&sentence(&findings.sentence)),
        escape(&place_words)
    );
    document("This machine – Evenkeel", &main)
}

/// The answer as a sentence of a text.
fn sentence(answer: &str) -> String {
    let mut letters = answer.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// The same colour for a class in every figure.
fn series(class: Class) -> usize {
    match class {
        Class::Scalar => 6,
        Class::Avx2Light => 1,
        Class::Avx2Heavy => 0,
        Class::Avx512Light => 4,
        Class::Avx512Heavy => 3,
        Class::Amx => 2,
    }
}

fn band(class: Class, points: &[Point]) -> Band {
    let place = |point: &Point| (point.us, [point.quartiles.0, point.median, point.quartiles.1]);
    Band {
        name: class_words(class).to_owned(),
        series: series(class),
        points: points.iter().map(place).collect(),
    }
}

/// The explanation of the curves in every drawing.
const BAND_WORDS: &str = "Medians over all bursts; the bands hold the middle half of them.";
/// And of curves of the clock.
const CLOCK_WORDS: &str = "Each burst counts against scalar code of its round, because the \
                           neighbours of a machine move all its clocks.";

/// D Fig. 3.4: the clock over the time since the last wide instruction.
fn after(condition: &Condition) -> Part {
    let mut bands = vec![band(Class::Scalar, &condition.scalar_after)];
    bands.extend(
        condition
            .classes
            .iter()
            .filter(|class| !class.after.is_empty())
            .map(|class| band(class.class, &class.after)),
    );
    let holds = condition.classes.iter().filter_map(|class| class.hold.as_ref());
    let longest_us = holds.map(|hold| hold.deciles_us[8]).fold(0.0, f64::max);
    let to_us = match longest_us {
        us if us > 0.0 && us <= SHORT_HOLD_US => SHORT_US,
        _ => LONG_US,
    };
    let ghz = condition.scalar_ghz.value;
    let axes = Axes {
        times: (0.0, to_us),
        values: (ghz * (1.0 - CLOCK_MARGIN), ghz * (1.0 + CLOCK_MARGIN / 3.0)),
        time_caption: "µs since the last instruction of the burst".to_owned(),
        value_caption: "GHz; the axis does not begin at 0".to_owned(),
    };
    let drawing = both("clock after a burst, by class", |width| spread(&bands, &axes, width));
    Part {
        title: after_title(condition),
        html: format!(
            "{drawing}<p class=\"soft\">{} {} rounds, each class once in each, in a new order. {}\
             </p>\n",
            escape(&busy_words(condition.busy_others)),
            grouped(condition.rounds),
            escape(&format!("{BAND_WORDS} {CLOCK_WORDS}"))
        ),
    }
}

pub(super) fn busy_words(busy_others: usize) -> String {
    match busy_others {
        0 => "No other core busy.".to_owned(),
        1 => "1 other core busy with scalar code.".to_owned(),
        count => format!("{count} other cores busy with scalar code."),
    }
}

fn after_title(condition: &Condition) -> String {
    let affected = condition.classes.iter().filter(|class| class.verdict == Verdict::Affected);
    let lowest = affected
        .filter_map(|class| Some((class.ratio?.value, class)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let with = match condition.busy_others {
        0 => String::new(),
        1 => ", with another core busy".to_owned(),
        count => format!(", with {count} other cores busy"),
    };
    match lowest {
        Some((ratio, class)) => {
            let hold = class
                .hold
                .as_ref()
                .map_or_else(String::new, |hold| format!(" for {}", duration_words(hold.us.value)));
            format!(
                "After {} code the clock stays {:.1} % lower{hold}{with}",
                class_words(class.class),
                (1.0 - ratio) * 100.0
            )
        }
        None => format!("The clock after each class{with}"),
    }
}

/// D Fig. 3.2: how fast instructions of a class get through since the first one.
fn entry(condition: &Condition) -> Part {
    let bands: Vec<Band> = condition
        .classes
        .iter()
        .filter(|class| !class.entry_curve.is_empty())
        .map(|class| band(class.class, &class.entry_curve))
        .collect();
    let costliest = condition
        .classes
        .iter()
        .filter_map(|class| Some((class.entry?.us.value, class.class)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let is_short = costliest.is_some_and(|(us, _)| us <= SHORT_ENTRY_US / 2.0);
    let axes = Axes {
        times: (0.0, if is_short { SHORT_ENTRY_US } else { ENTRY_US }),
        values: (0.0, 1.1),
        time_caption: "µs since the first instruction of the burst".to_owned(),
        value_caption: "instructions a time, 1 = in the end".to_owned(),
    };
    let drawing = both("rate of instructions since the start of a burst, by class", |width| {
        spread(&bands, &axes, width)
    });
    let title = match costliest {
        Some((us, class)) => {
            format!("The start of {} code costs {}", class_words(class), duration_words(us))
        }
        None => "No class costs anything measurable at its start".to_owned(),
    };
    Part { title, html: format!("{drawing}<p class=\"soft\">{BAND_WORDS}</p>\n") }
}

//! The tables of the page of a machine.

use silicon::{ClassFinding, Condition, Cost, Estimate, Findings, Verdict, class_words};

use super::machine::busy_words;
use super::parts::{Cell, Part, Rows, details, grouped_table, table};
use crate::drawing::escape;

/// All tables, and a list of the measurements that no table shows.
pub(super) fn all(findings: &Findings) -> Vec<Part> {
    let mut parts = vec![classes(findings)];
    parts.extend(ways(findings));
    parts.extend(neighbours(findings));
    parts.extend(rates(findings));
    parts.push(not_shown(findings));
    parts.push(method());
    parts
}

fn span(us: Estimate) -> String {
    let digits = if us.value >= 100.0 { 0 } else { 1 };
    format!("{:.digits$} ({:.digits$}–{:.digits$})", us.value, us.low, us.high)
}

fn percent(ratio: Estimate) -> String {
    let change = |value: f64| {
        let text = format!("{:+.1}", (value - 1.0) * 100.0);
        if matches!(text.as_str(), "-0.0" | "+0.0") { "0.0".to_owned() } else { text }
    };
    format!("{} ({} to {})", change(ratio.value), change(ratio.low), change(ratio.high))
}

fn cost(cost: Option<&Cost>) -> Cell {
    Cell::number(&cost.map_or_else(|| "–".to_owned(), |cost| span(cost.us)))
}

fn estimate(us: Option<Estimate>) -> Cell {
    Cell::number(&us.map_or_else(|| "–".to_owned(), span))
}

fn verdict(verdict: &Verdict) -> Cell {
    match verdict {
        Verdict::Affected => Cell::judged("affected", Some(false)),
        Verdict::Unaffected => Cell::judged("unaffected", Some(true)),
        Verdict::Hidden(reason) => Cell::text(&format!("hidden: {reason}")),
        Verdict::Unsupported(reason) => Cell::text(reason),
    }
}

fn classes(findings: &Findings) -> Part {
    let heads = [
        "class",
        "verdict",
        "#clock, %",
        "#stays low, µs",
        "#deciles, µs",
        "#start costs, µs",
        "#return costs, µs",
        "#pays off after, µs",
        "#left out",
    ];
    let groups: Vec<Rows> = findings
        .conditions
        .iter()
        .map(|condition| Rows {
            head: condition_head(condition),
            rows: condition.classes.iter().map(class_row).collect(),
        })
        .collect();
    Part {
        title: "Each class in numbers".to_owned(),
        html: grouped_table("Each class in numbers", &heads, &groups)
            + "<p class=\"soft\">Medians and their 95 % intervals. A dash: not resolved, or not \
               stated of a class that leaves the clock alone. Left out: bursts that were \
               interrupted, ended low or show no clear return, and costs above 100 µs.</p>\n",
    }
}

fn condition_head(condition: &Condition) -> String {
    let ghz = condition.scalar_ghz;
    format!(
        "{} Scalar code at {:.3} GHz, half of the bursts from {:.3} to {:.3}",
        busy_words(condition.busy_others),
        ghz.value,
        ghz.low,
        ghz.high
    )
}

fn class_row(class: &ClassFinding) -> Vec<Cell> {
    let hold = class.hold.as_ref();
    let deciles = hold.map_or_else(
        || "–".to_owned(),
        |hold| format!("{:.1}–{:.1}", hold.deciles_us[0], hold.deciles_us[8]),
    );
    let discarded = [&class.entry, &class.boost]
        .into_iter()
        .flatten()
        .map(|cost| cost.discarded)
        .sum::<usize>();
    let left_out =
        discarded + hold.map_or(0, |hold| hold.interrupted + hold.not_back + hold.unclear);
    let ratio = class.ratio.map_or_else(|| "–".to_owned(), percent);
    vec![
        Cell::text(class_words(class.class)),
        verdict(&class.verdict),
        Cell::number(&ratio),
        estimate(hold.map(|hold| hold.us)),
        Cell::number(&deciles),
        cost(class.entry.as_ref()),
        cost(class.boost.as_ref()),
        estimate(class.break_even_us),
        Cell::number(&left_out.to_string()),
    ]
}

fn ways(findings: &Findings) -> Option<Part> {
    let row = |way: &silicon::Transition| {
        vec![
            Cell::text(class_words(way.from)),
            Cell::text(class_words(way.to)),
            cost(way.entry.as_ref()),
            estimate(way.hold_us),
            cost(way.boost.as_ref()),
            estimate(way.break_even_us),
        ]
    };
    let rows: Vec<Vec<Cell>> = findings.transitions.iter().map(row).collect();
    let heads = ["from", "to", "#there, µs", "#stays low, µs", "#back, µs", "#pays off after, µs"];
    let title = "Ways between levels".to_owned();
    (!rows.is_empty()).then(|| Part { html: table(&title, &heads, &rows), title })
}

fn neighbours(findings: &Findings) -> Option<Part> {
    let place = |place: &str| match place {
        "sibling" => "its sibling",
        "core" => "another core",
        _ => "another package",
    };
    let row = |one: &silicon::Neighbour| {
        let lowered = match &one.verdict {
            Verdict::Affected => Cell::judged("lowered too", Some(false)),
            Verdict::Unaffected => Cell::judged("not touched", Some(true)),
            other => verdict(other),
        };
        let ratio = one.ratio.map_or_else(|| "–".to_owned(), percent);
        vec![
            Cell::text(place(one.place)),
            Cell::number(&one.cpu.to_string()),
            Cell::text(class_words(one.class)),
            lowered,
            Cell::number(&ratio),
        ]
    };
    let rows: Vec<Vec<Cell>> = findings.neighbours.iter().map(row).collect();
    let heads = ["where", "#CPU", "beside", "its clock", "#clock, %"];
    let title = "What other CPUs see".to_owned();
    (!rows.is_empty()).then(|| Part { html: table(&title, &heads, &rows), title })
}

fn rates(findings: &Findings) -> Option<Part> {
    let rows: Vec<Vec<Cell>> = findings
        .rates
        .iter()
        .flat_map(|rates| {
            rates.ratios.iter().map(|&(permille, ratio)| {
                let reaches =
                    rates.reaches_level_from_permille.is_some_and(|from| permille >= from);
                vec![
                    Cell::text(class_words(rates.class)),
                    Cell::number(&permille.to_string()),
                    Cell::number(&percent(ratio)),
                    Cell::text(if reaches { "yes" } else { "no" }),
                ]
            })
        })
        .collect();
    let heads = ["class", "#in 1000 cycles at most", "#clock, %", "as low as at full density"];
    let title = "How dense the instructions must be".to_owned();
    (!rows.is_empty()).then(|| Part { html: table(&title, &heads, &rows), title })
}

fn not_shown(findings: &Findings) -> Part {
    let items = |lines: &[String]| {
        let lines: String =
            lines.iter().map(|line| format!("<li>{}</li>\n", escape(line))).collect();
        format!("<ul>\n{lines}</ul>\n")
    };
    let mut html = match findings.hidden.as_slice() {
        [] => "<p>Nothing that was asked for is hidden here.</p>\n".to_owned(),
        hidden => items(hidden),
    };
    if !findings.checks.is_empty() {
        html += &format!("<h3>What else tells the frequency</h3>\n{}", items(&findings.checks));
    }
    Part { title: "What this machine does not show".to_owned(), html }
}

fn method() -> Part {
    let text = "<p>A burst runs instructions of one class and then, in stamped windows of about a \
                microsecond, a chain of dependent additions, of which a core does one a cycle: \
                their time is the clock. Each round plays every class once in an order drawn \
                anew, scalar code among them, and classes are compared with scalar code of the \
                same round and age. Intervals are those of order statistics and assume no \
                distribution. A class is called affected when its interval lies apart from zero \
                and the effect is at least 1 %, unaffected when its interval lies within 1 %; both \
                together are wrong in at most 1 of 100 measurements.</p>\n\
                <p>The start costs what the same instructions take longer the first time than the \
                second (D 5.2.1); the return costs what the longest window at the fall takes \
                longer than those around it (D 5.2.2); both pay off after Eq. D 5.2.</p>\n";
    Part {
        title: "How this was measured".to_owned(),
        html: details("Method", text) + "<pre>evenkeel characterize --page machine.html</pre>\n",
    }
}

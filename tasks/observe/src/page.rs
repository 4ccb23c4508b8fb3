//! A recording as one page: no script, no font, nothing fetched.
//!
//! Its look is that of the project's other pages, in `page/look.css`.

mod drawing;

use evenkeel_runtime::internal::recording::{Bin, Role, SLOT_OUTSIDE, SLOTS};

use crate::format::{counted, decimal, grouped, percent, time};
use crate::summary;
use crate::trace::program_name;
use crate::view::View;
use crate::wide;
use drawing::{Lane, axis, lane, lane_of_one, swatch};

/// The style of all pages of the project.
const LOOK: &str = include_str!("page/look.css");
/// The additional style of this page.
const OWN: &str = include_str!("page/own.css");
/// Functions that are shown.
const FUNCTIONS_MAX: usize = 100;
/// Threads that are shown.
const ROWS_MAX: usize = 256;
/// Slots in the order of their stack, from below: tasks, code around tasks, and the rest.
const ORDER: [usize; SLOTS] = [5, 6, 7, 8, 9, 10, 11, 4, 1, 2, 3, SLOT_OUTSIDE];

/// Text for HTML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The page.
pub(crate) fn html(view: &View) -> String {
    let program = escape(&program_name());
    let mut main = format!("<p class=\"soft\">{program}</p>\n");
    for (number, sentence) in summary::sentences(view).iter().enumerate() {
        let (element, class) = if number == 0 { ("h1", "verdict") } else { ("p", "more") };
        main += &format!("<{element} class=\"{class}\">{}</{element}>\n", escape(sentence));
    }
    for (number, (title, body)) in parts(view).iter().enumerate() {
        main += &format!(
            "<section aria-labelledby=\"part-{number}\">\n<h2 id=\"part-{number}\">{title}</h2>\n\
             {body}</section>\n"
        );
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
         form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{program} – tasks – Evenkeel</title>\n<style>\n{LOOK}{OWN}</style>\n</head>\n\
         <body>\n<main>\n{main}</main>\n</body>\n</html>\n"
    )
}

fn parts(view: &View) -> Vec<(&'static str, String)> {
    let mut parts = vec![
        ("Where the time went", went(view)),
        ("Threads over time", threads(view)),
        ("Functions", functions(view)),
    ];
    if !view.places.is_empty() {
        parts.push(("Wide tasks", wide_tasks(view)));
    }
    // A program of loops has nothing to queue.
    if view.task_sums().0 > 0 {
        let title = match view.series.whole().threshold_max {
            0 => "Ready tasks over time",
            _ => "Threshold and ready tasks over time",
        };
        parts.push((title, thresholds(view)));
    }
    parts.push(("What the scheduler did", steps(view)));
    parts
}

/// A table; heads that begin with `#` are those of numbers, with `*` those of sentences.
fn table(caption: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut html = format!(
        "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\n\
         <caption class=\"heard\">{caption}</caption>\n<thead><tr>"
    );
    let class = |head: &str| match head.as_bytes().first() {
        Some(b'#') => " class=\"n\"",
        Some(b'*') => " class=\"wide\"",
        _ => "",
    };
    for head in heads {
        let text = escape(head.trim_start_matches(['#', '*']));
        html += &format!("<th scope=\"col\"{}>{text}</th>", class(head));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += "<tr>";
        for (number, (cell, head)) in row.iter().zip(heads).enumerate() {
            html += &match number {
                0 => format!("<th scope=\"row\"{}>{cell}</th>", class(head)),
                _ => format!("<td{}>{cell}</td>", class(head)),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

fn left_out(all: usize, shown: usize, what: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        more => {
            format!("<p class=\"soft\">{} more {what} are left out.</p>\n", grouped(more as u64))
        }
    }
}

/// All threads in one bar, and the meaning of its colours.
fn went(view: &View) -> String {
    let (mut by_slot, inside) = (view.by_slot(), view.inside_ns());
    by_slot[SLOT_OUTSIDE] = 0;
    let names = view.slot_names();
    let mut legend = String::new();
    for slot in ORDER.into_iter().filter(|&slot| by_slot[slot] > 0) {
        legend += &format!(
            "<li>{}{} <b>{}</b></li>\n",
            swatch(slot),
            escape(&names[slot]),
            percent(by_slot[slot], inside)
        );
    }
    let bar = lane_of_one(&by_slot);
    format!(
        "<figure>{bar}<ul class=\"legend\">\n{legend}</ul></figure>\n<p class=\"soft\">Of {} that \
         threads were inside of scopes and parallel regions.</p>\n",
        time(inside)
    )
}

/// The colours of the lanes that the bar of all threads lacks.
fn legend_of_rest(view: &View) -> String {
    let (outside, unseen) = (view.by_slot()[SLOT_OUTSIDE], view.unseen_ns());
    let all = view.inside_ns() + outside + unseen;
    let mut legend = String::new();
    if outside > 0 {
        legend += &format!(
            "<li>{}outside of scopes and parallel regions <b>{}</b></li>\n",
            swatch(SLOT_OUTSIDE),
            percent(outside, all)
        );
    }
    if unseen > 0 {
        legend += &format!(
            "<li><i class=\"unseen\"></i>before it was first seen, or after its end \
             <b>{}</b></li>\n",
            percent(unseen, all)
        );
    }
    format!("<ul class=\"legend\">\n{legend}</ul>\n")
}

/// A lane each, and their sums.
fn threads(view: &View) -> String {
    let width = view.rows.first().map_or(1, |row| row.strip.width_ticks);
    let columns = view.wall_ticks.div_ceil(width).max(1) as usize;
    let mut html = String::from("<figure class=\"lanes unseen\">\n");
    for row in view.rows.iter().take(ROWS_MAX) {
        let stacks = Lane { bins: &row.strip.bins, columns, full: width };
        html += &format!("<div><span>{}</span>{}</div>\n", escape(&row.name), lane(&stacks));
    }
    let column_ns = view.scale.ns(width);
    html += &format!(
        "{}{}</figure>\n<p class=\"soft\">Each column is {}. The other colours are those \
         above.</p>\n",
        axis(column_ns * columns as u64),
        legend_of_rest(view),
        time(column_ns)
    );
    html += &left_out(view.rows.len(), ROWS_MAX, "threads");
    let heads = [
        "thread",
        "#tasks",
        "#around them",
        "#in the runtime",
        "#looking, waiting",
        "#asleep",
        "#outside",
        "#unseen",
    ];
    let rows: Vec<Vec<String>> = view
        .rows
        .iter()
        .take(ROWS_MAX)
        .map(|row| {
            let tasks: u64 = row.ns[5..].iter().sum();
            let ns = &row.ns;
            let cells = [tasks, ns[4], ns[1], ns[2], ns[3], ns[SLOT_OUTSIDE], row.unseen_ns];
            let cells = cells.into_iter().map(time);
            std::iter::once(escape(&row.name)).chain(cells).collect()
        })
        .collect();
    html + "<details><summary>The same in numbers</summary>\n"
        + &table("Time of each thread", &heads, &rows)
        + "</details>\n"
}

fn functions(view: &View) -> String {
    if view.functions.is_empty() {
        return "<p>No task has ended.</p>\n".to_owned();
    }
    let inside = view.inside_ns();
    let heads = [
        "function", "#runs", "#at once", "#total", "#share", "#mean", "#median", "#99 %",
        "#longest",
    ];
    let rows: Vec<Vec<String>> = view
        .functions
        .iter()
        .take(FUNCTIONS_MAX)
        .map(|function| {
            let file = function.name.file().map_or_else(String::new, |file| {
                format!("<br/><span class=\"soft\">{}</span>", escape(file))
            });
            let around = if function.role == Role::Code { ", around tasks" } else { "" };
            let name = escape(&function.name.short());
            vec![
                format!("{}{name}{around}{file}", swatch(function.slot)),
                grouped(function.runs),
                grouped(function.inlined),
                time(function.ns),
                percent(function.ns, inside),
                time(function.ns / function.runs),
                time(function.median_ns),
                time(function.high_ns),
                time(function.longest_ns),
            ]
        })
        .collect();
    let about = "<p class=\"soft\">Shares are of the time inside. Times are a function's own: \
                 what ran inside of it, and while it waited, is not counted. The median and the \
                 99 % are right to an eighth.</p>\n";
    let more = left_out(view.functions.len(), FUNCTIONS_MAX, "functions");
    table("Functions by their time", &heads, &rows) + &more + about
}

fn wide_tasks(view: &View) -> String {
    let rows: Vec<Vec<String>> = wide::functions(view)
        .take(FUNCTIONS_MAX)
        .map(|function| {
            let [there, elsewhere] = function.wide.map(grouped);
            let name = swatch(function.slot) + &escape(&function.name.title());
            vec![name, grouped(function.runs), there, elsewhere, wide::why(function)]
        })
        .collect();
    let sentence = escape(&wide::sentence(view).unwrap_or_default());
    if rows.is_empty() {
        return format!("<p>{sentence}</p>\n");
    }
    let heads = ["function", "#runs", "#wide, where chosen", "#wide, elsewhere", "why"];
    table("Wide tasks by function", &heads, &rows)
        + &left_out(wide::functions(view).count(), FUNCTIONS_MAX, "functions")
        + &format!("<p class=\"soft\">{}</p>\n", wide::ABOUT)
}

fn thresholds(view: &View) -> String {
    let whole = view.series.whole();
    let Some((threshold, ready)) = whole.means() else {
        return "<p>It was over before anybody looked.</p>\n".to_owned();
    };
    let columns = view.wall_ticks.div_ceil(view.series.width_ticks).max(1) as usize;
    let curve = |name: &str, mean: f64, most: u64, each: fn(&Bin) -> u64| {
        let seen = view.series.bins.iter().scan(0, |last, bin| {
            *last = if bin.samples > 0 { each(bin) } else { *last };
            Some(*last)
        });
        let values: Vec<u64> = seen.collect();
        let drawn = drawing::area(&values, columns, most);
        format!(
            "<div><span>{name}<br/><span class=\"soft\">mean {}</span></span>{}</div>\n",
            decimal(mean),
            drawing::scaled(&drawn, most)
        )
    };
    let (threshold, always) = match whole.threshold_max {
        0 => (String::new(), ": 0 all the time"),
        most => (curve("threshold", threshold, most, |bin| bin.threshold_max), ""),
    };
    let tasks = curve("ready tasks", ready, whole.ready_max, |bin| bin.ready_max);
    let axis = axis(view.scale.ns(view.series.width_ticks) * columns as u64);
    format!(
        "<figure class=\"lanes tall\">\n{threshold}{tasks}{axis}</figure>\n<p class=\"soft\">The \
         largest in each column, of what was seen {}; where nobody looked, as before. The \
         threshold is {}{always}.</p>\n",
        counted(whole.samples, "time"),
        escape(summary::THRESHOLD)
    )
}

fn steps(view: &View) -> String {
    let rows: Vec<Vec<String>> = summary::steps(view)
        .into_iter()
        .map(|(name, number, meaning)| vec![name.to_owned(), grouped(number), escape(meaning)])
        .collect();
    let bytes = |bytes: usize| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let memory = format!(
        "<p class=\"soft\">{} of memory were taken for tasks, and {} for the trace.</p>\n",
        bytes(view.task_bytes),
        bytes(view.trace_bytes)
    );
    table("Steps of the scheduler", &["step", "#times", "*what it is"], &rows) + &memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_programs_are_text_on_the_page() {
        assert_eq!(escape("<b>&\"\u{7}"), "&lt;b&gt;&amp;&quot;\u{fffd}");
    }
}

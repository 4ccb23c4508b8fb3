//! Where culprits call the code that others lose to: a flame graph and a table.

use super::shared::left_out;
use crate::drawing::escape;
use crate::format::counted;
use crate::page::figures::both;
use crate::page::parts::{Cell, Part, first, table};
use crate::profile::words::{cut, name, time};
use crate::profile::{Stack, Weight};
use crate::svg::{Flame, flame};

const DEPTH_MAX: usize = 40;
const DRAWING_BYTES_MAX: usize = 250_000;
const ROWS_MAX: usize = 40;
/// How many functions of a stack the table shows, and how many characters of each.
const FUNCTIONS_SHOWN: usize = 4;
const FUNCTION_MAX: usize = 60;

/// The stacks; nothing if there is none.
pub(super) fn stacks(stacks: &[Stack]) -> Option<Part> {
    let weight = Weight::of(stacks);
    let mut sized: Vec<(&Stack, f64)> =
        stacks.iter().map(|stack| (stack, weight.size(stack))).filter(|it| it.1 > 0.0).collect();
    sized.sort_by(|a, b| b.1.total_cmp(&a.1));
    let largest = sized.first()?.0;
    let leaf = largest.frames.last().map_or_else(|| "(no name)".to_owned(), |leaf| function(leaf));
    let title = match weight {
        Weight::LostTime => format!("{leaf} of {} cost others most", name(&largest.group)),
        Weight::Count => format!("{leaf} of {} was seen most often", name(&largest.group)),
    };
    let width_is = match weight {
        Weight::LostTime => "the CPU time that other programs lost to it",
        Weight::Count => "how often it was seen",
    };
    let mut html = format!(
        "<p class=\"soft\">Call stacks of {}, the outermost function on top. The width of a \
         function is {width_is}; a stronger colour is more of it in the function itself.</p>\n",
        escape(&kinds(&sized)),
    );
    let what = Flame {
        stacks: sized.iter().map(|&(stack, size)| (names(stack), size)).collect(),
        all: "all stacks".to_owned(),
        depth_max: DEPTH_MAX,
        bytes_max: DRAWING_BYTES_MAX,
        words: match weight {
            Weight::LostTime => time,
            Weight::Count => |count| counted(count as usize, "time"),
        },
    };
    let narrow = std::cell::Cell::new(usize::MAX);
    html += &both("Call stacks of culprits, by weight", |width| {
        let (svg, height, left_out) = flame(&what, width);
        narrow.set(narrow.get().min(left_out));
        (svg, height)
    });
    html += &left_out(narrow.get(), "narrow function");
    html += &rows(sized);
    Some(Part { title, html })
}

fn function(name_of: &str) -> String {
    if name_of.trim().is_empty() { "(no name)".to_owned() } else { cut(name_of, FUNCTION_MAX) }
}

/// The program and the functions of a stack.
fn names(stack: &Stack) -> Vec<String> {
    let functions = stack.frames.iter().map(|frame| function(frame));
    std::iter::once(name(&stack.group)).chain(functions).collect()
}

/// The kinds of stacks, in words.
fn kinds(sized: &[(&Stack, f64)]) -> String {
    let mut kinds: Vec<String> = sized.iter().map(|it| name(&it.0.kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    crate::format::list(&kinds)
}

fn rows(sized: Vec<(&Stack, f64)>) -> String {
    let (shown, more) = first(sized, ROWS_MAX);
    let row = |(stack, _): (&Stack, f64)| {
        let from = stack.frames.len().saturating_sub(FUNCTIONS_SHOWN);
        let functions: Vec<String> = stack.frames[from..].iter().map(|it| function(it)).collect();
        vec![
            Cell::text(&name(&stack.group)).remarked(&name(&stack.thread)),
            Cell::text(&functions.join(" › ")),
            Cell::number(&time(Weight::LostTime.size(stack))),
            Cell::number(&crate::format::grouped(
                usize::try_from(stack.count).unwrap_or(usize::MAX),
            )),
        ]
    };
    let rows: Vec<Vec<Cell>> = shown.into_iter().map(row).collect();
    let heads = ["program and thread", "innermost functions", "#cost others", "#seen"];
    table("Call stacks of culprits, the largest first", &heads, &rows) + &left_out(more, "stack")
}

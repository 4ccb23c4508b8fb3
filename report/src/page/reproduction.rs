//! Published figures beside ours, as a page to print.

use super::document;
use super::parts::{Cell, Part, join, table};
use crate::drawing::escape;
use crate::format::counted;
use crate::reproduction::{Answer, Reproduction, Verdict};

/// The page as HTML.
#[must_use]
pub fn reproduction_page(reproduction: &Reproduction) -> String {
    let parts: Vec<Part> =
        Verdict::ALL.into_iter().filter_map(|verdict| part(reproduction, verdict)).collect();
    let (list, html) = join(&parts);
    let count = |verdict| reproduction.counts.get(&verdict).copied().unwrap_or(0);
    let [simulated, others] = reproduction.hits();
    let seeds = match reproduction.replicates {
        Some(seeds) => counted(seeds as usize, "seed"),
        None => "as many seeds as the scenarios say".to_owned(),
    };
    let summary: Vec<Vec<Cell>> = Verdict::ALL
        .into_iter()
        .filter(|&verdict| count(verdict) > 0)
        .map(|verdict| {
            vec![
                Cell::text(verdict.word()),
                Cell::number(&count(verdict).to_string()),
                Cell::text(verdict.meaning()),
            ]
        })
        .collect();
    let main = format!(
        "<p class=\"soft\">Every published figure, and ours</p>\n\
         <h1 class=\"verdict\">{} of {} simulated figures are within their tolerance.</h1>\n\
         <p>Of constants of CPU tables, formulas and recorded figures {} of {} are.</p>\n\
         <p class=\"soft\">{} figures of the dissertation, the bachelor thesis, the slides, the \
         thesis on tasks and papers beside them; {}, from seed {}. D is the dissertation, M the \
         bachelor thesis, N the thesis on tasks, F the slides.</p>\n\
         <nav aria-label=\"Parts of this page\"><details><summary>On this page</summary>\n\
         {list}</details></nav>\n<div class=\"fit\">{html}</div>\n\
         <section><h2>By verdict</h2>\n{}</section>\n",
        simulated.0,
        simulated.1,
        others.0,
        others.1,
        reproduction.answers.len(),
        escape(&seeds),
        reproduction.seed,
        table("Figures by verdict", &["verdict", "#figures", "meaning"], &summary),
    );
    document("Published figures – Evenkeel", &main)
}

fn part(reproduction: &Reproduction, verdict: Verdict) -> Option<Part> {
    let answers: Vec<&Answer> =
        reproduction.answers.iter().filter(|answer| answer.verdict == verdict).collect();
    if answers.is_empty() {
        return None;
    }
    let has_found = answers.iter().any(|answer| answer.found.is_some());
    let row = |answer: &&Answer| {
        let hit = match verdict {
            Verdict::Hit => Some(true),
            Verdict::Miss => Some(false),
            _ => None,
        };
        let mut cells = vec![
            Cell::text(&answer.id),
            Cell::text(&answer.what).remarked(&answer.source),
            Cell::text(&answer.published).remarked(&answer.tolerance),
        ];
        let remark = [&answer.why, &answer.by].map(String::as_str);
        let remark: Vec<&str> = remark.into_iter().filter(|text| !text.is_empty()).collect();
        cells.push(if has_found {
            let found = answer.found.as_deref().unwrap_or(verdict.word());
            Cell::judged(found, hit).remarked(&remark.join(" – "))
        } else {
            Cell::text(&answer.why).remarked(&answer.by)
        });
        cells
    };
    let rows: Vec<Vec<Cell>> = answers.iter().map(row).collect();
    let last = if has_found { "ours, and what answers it" } else { "why, and what answers it" };
    let heads = ["", "what, and where", "published, and tolerance", last];
    let title = format!("{}: {}", verdict.meaning(), answers.len());
    Some(Part { html: table(&title, &heads, &rows), title })
}

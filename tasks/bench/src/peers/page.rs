//! One offline page: the drawings, an overview, and every figure.

use super::chart::{self, CHART_CSS, OWN_CSS, escape};
use super::metg::Grain;
use super::plan::PATTERNS;
use super::runtimes::Runtime;
use super::summary::{Figures, Group, Row};
use super::table::{cells, failures, is_alone, metg_rows, ns, parameters, short, title};

const PAGE_CSS: &str = include_str!("../look/page.css");
const TABLE_CSS: &str = "td small, th small { color: var(--soft); font-weight: 400; }\n";

/// The whole page.
pub fn page(
    about: &str,
    note: &str,
    groups: &[Group],
    grains: &[Grain],
    runtimes: &[Runtime],
) -> String {
    let mut main = "<h1 class=\"verdict\">Task runtimes side by side</h1>\n\
         <p class=\"more\">The same programs on every runtime, interleaved. A time is the best of \
         all rounds; only times of one run of this command compare.</p>\n"
        .to_string();
    main += &format!("<p class=\"soft\">{}</p>\n", escape(note));
    let ours = runtimes.iter().filter(|runtime| runtime.is_ours);
    for sentence in ours.filter_map(|ours| super::standing(groups, &ours.name)) {
        main += &format!("<p class=\"more\">{}</p>\n", escape(&sentence));
    }
    for (_, drawing) in chart::figures(groups, runtimes) {
        main += &format!("<figure class=\"scroll\">{drawing}</figure>\n");
    }
    main += &overview(
        "Time a task in ns",
        groups,
        runtimes,
        |figures| figures.wall.best,
        |row| row.wall_ratio,
    );
    main += &overview(
        "CPU time a task in ns, of the whole process with its start",
        groups,
        runtimes,
        |figures| figures.cpu.best,
        |row| row.cpu_ratio,
    );
    main += &metg(grains);
    main += "<h2>Every figure, in ns a task: less is better</h2>\n";
    for group in groups {
        main += &details(group);
    }
    main += &format!("<h2>Where and how</h2>\n<pre>{}</pre>\n", escape(about.trim_end()));
    document("Task runtimes side by side – Evenkeel", &main)
}

fn document(title: &str, main: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
         form-action 'none'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n\
         <style>\n{CHART_CSS}{PAGE_CSS}{OWN_CSS}{TABLE_CSS}</style>\n</head>\n\
         <body>\n<main>\n{main}</main>\n</body>\n</html>\n"
    )
}

/// One line a work, one column a runtime; works of the drawings and of METG are not here.
fn overview(
    caption: &str,
    groups: &[Group],
    runtimes: &[Runtime],
    value: fn(&Figures) -> f64,
    of_best: fn(&Row) -> Option<f64>,
) -> String {
    let shown: Vec<&Group> = groups.iter().filter(|group| is_alone(group)).collect();
    if shown.is_empty() {
        return String::new();
    }
    let cell = |group: &Group, runtime: &Runtime| {
        let Some(row) = group.rows.iter().find(|row| row.runtime == runtime.name) else {
            return Cell::default();
        };
        if !row.failures.is_empty() {
            return Cell::marked("failed", "miss");
        }
        let text = row.figures.as_ref().map_or(String::new(), |figures| ns(value(figures)));
        let ratio = of_best(row);
        let class = if ratio.is_some_and(|ratio| ratio <= 1.0) { "hit" } else { "" };
        Cell { text, class, behind: ratio.map(|ratio| format!("×{}", short(ratio))) }
    };
    // Our libraries come first, because a wide table may show only its first columns.
    let did = |runtime: &&Runtime| {
        shown.iter().any(|group| group.rows.iter().any(|row| row.runtime == runtime.name))
    };
    let (ours, peers): (Vec<_>, Vec<_>) =
        runtimes.iter().filter(did).partition(|runtime| runtime.is_ours);
    let runtimes = [ours, peers].concat();
    let mut heads = vec!["".to_string()];
    heads.extend(runtimes.iter().map(|runtime| format!("#{}", runtime.name)));
    let rows = shown.iter().map(|group| {
        let behind = Some(parameters(group));
        let mut cells = vec![Cell { text: group.work.program.to_string(), class: "", behind }];
        cells.extend(runtimes.iter().map(|runtime| cell(group, runtime)));
        cells
    });
    format!(
        "<h2>{caption}</h2>\n<p class=\"soft\">Less is better. Beneath, in times of the best peer \
         (×0.5: half of that); that peer and those that need less are marked. An empty cell: the \
         program makes no sense there.</p>\n{}",
        table(caption, &heads, &rows.collect::<Vec<_>>())
    )
}

fn metg(grains: &[Grain]) -> String {
    if grains.is_empty() {
        return String::new();
    }
    let caption = "METG(50 %) in ns, by pattern of Task Bench";
    let mut heads = vec!["".to_string()];
    heads.extend(PATTERNS.iter().map(|pattern| format!("#{pattern}")));
    let rows: Vec<Vec<Cell>> = metg_rows(grains)
        .into_iter()
        .map(|(runtime, cells)| std::iter::once(runtime).chain(cells).map(Cell::plain).collect())
        .collect();
    format!(
        "<h2>{caption}</h2>\n<p class=\"soft\">The shortest tasks at which half of the machine \
         still works; less is better.</p>\n{}",
        table(caption, &heads, &rows)
    )
}

fn details(group: &Group) -> String {
    let heads = [
        "",
        "#best",
        "#median",
        "#spread",
        "#CPU best",
        "#median",
        "#spread",
        "#RSS MB",
        "#× best",
        "#× CPU",
        "runs that failed",
    ];
    let rows: Vec<Vec<Cell>> = group
        .rows
        .iter()
        .map(|row| {
            let mut texts = vec![row.runtime.clone()];
            texts.extend(cells(row).unwrap_or_default());
            let mut cells: Vec<Cell> = texts.into_iter().map(Cell::plain).collect();
            cells.push(Cell::marked(&failures(row), "miss"));
            cells
        })
        .collect();
    let title = title(group);
    let heads: Vec<String> = heads.iter().map(ToString::to_string).collect();
    format!(
        "<details><summary>{}</summary>\n{}</details>\n",
        escape(&title),
        table(&title, &heads, &rows)
    )
}

/// A cell of a table.
#[derive(Default)]
struct Cell {
    text: String,
    /// `hit`, `miss` or nothing.
    class: &'static str,
    /// Small, on a line of its own.
    behind: Option<String>,
}

impl Cell {
    fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    fn marked(text: &str, class: &'static str) -> Self {
        Self { text: text.to_string(), class, behind: None }
    }

    fn html(&self) -> String {
        let text = match self.class {
            "" => escape(&self.text),
            class => format!("<span class=\"{class}\">{}</span>", escape(&self.text)),
        };
        let behind = self.behind.as_deref().map(str::trim).map(escape);
        text + &behind.map_or(String::new(), |behind| format!("<br/><small>{behind}</small>"))
    }
}

/// A table; a head that begins with `#` stands above a column of numbers.
fn table(caption: &str, heads: &[String], rows: &[Vec<Cell>]) -> String {
    let caption = escape(caption);
    let class = |head: &str| if head.starts_with('#') { " class=\"n\"" } else { "" };
    let mut html = format!(
        "<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\n\
         <caption class=\"heard\">{caption}</caption>\n<thead><tr>"
    );
    for head in heads {
        let text = escape(head.trim_start_matches('#'));
        html += &format!("<th scope=\"col\"{}>{text}</th>", class(head));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += "<tr>";
        for (column, (cell, head)) in row.iter().zip(heads).enumerate() {
            let cell = cell.html();
            html += &match column {
                0 => format!("<th scope=\"row\">{cell}</th>"),
                _ => format!("<td{}>{cell}</td>", class(head)),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody></table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::super::plan::Work;
    use super::super::runtimes::Model;
    use super::*;

    #[test]
    fn a_failure_is_on_the_page_with_its_markup_escaped() {
        let runtime = Runtime::new("ours", Model::OpenmpClang, true);
        let row = Row {
            runtime: runtime.name.clone(),
            is_ours: true,
            figures: None,
            failures: vec![("failed: <b>".to_string(), 1)],
            wall_ratio: None,
            cpu_ratio: None,
        };
        let group = Group { work: Work::new("chain", &[("tasks", 9)]), rows: vec![row] };
        let html = page("about", "note", &[group], &[], &[runtime]);
        assert!(html.contains("<span class=\"miss\">failed</span>"), "{html}");
        assert!(html.contains("failed: &lt;b&gt;") && !html.contains("<b>"), "{html}");
    }

    #[test]
    fn a_runtime_without_results_has_no_column() {
        let [ours, other] = ["ours", "other"].map(|n| Runtime::new(n, Model::OpenmpClang, true));
        let row = Row {
            runtime: ours.name.clone(),
            is_ours: true,
            figures: None,
            failures: vec![("failed".to_string(), 1)],
            wall_ratio: None,
            cpu_ratio: None,
        };
        let group = Group { work: Work::new("chain", &[("tasks", 9)]), rows: vec![row] };
        let html = page("about", "note", &[group], &[], &[ours, other]);
        assert!(html.contains(">ours</th>") && !html.contains("other"), "{html}");
    }
}

//! The page: whole without scripts, small, read by eye, keyboard and ear.

#[path = "synthetic/markup.rs"]
mod markup;
// Each test file uses another part of the made-up runs.
#[allow(dead_code)]
mod synthetic;

use std::collections::BTreeSet;

use markup::{Element, elements};
use report::Gantt;
use synthetic::crowd;
use trace::{Event, History, Record};

/// Limit of the size of a page.
const BYTES_MAX: usize = 5_000_000;

fn page_with(history: &History, perfetto: Option<&str>) -> String {
    let comparison = report::compare(synthetic::setup(), synthetic::samples(3)).unwrap();
    let gantt = |scheduler| Gantt {
        scheduler,
        background: "avx512",
        program: None,
        history,
        span_ns: [0, u64::MAX],
        perfetto,
    };
    report::page(&comparison, &synthetic::SCHEDULERS.map(|(name, ..)| gantt(name)))
}

/// The crowd on a machine whose levels and frequencies change as often as tasks do.
fn restless_crowd() -> History {
    let mut history = crowd::history();
    let mut records = Vec::new();
    for record in &history.records {
        records.push(record.clone());
        if let Event::Switch { cpu, next, .. } = record.event {
            let (core, level) = (cpu / 2, (next % 3) as u8);
            let license = Event::License { core, level, rate_permille: 1000 };
            let frequency = Event::Frequency { core, khz: 1_000_000 + next * 1000 };
            let at = |event| Record { time_ns: record.time_ns, event };
            records.extend([at(license), at(frequency)]);
        }
    }
    history.records = records;
    history
}

fn named<'a>(all: &'a [Element], name: &'a str) -> impl Iterator<Item = &'a Element> {
    all.iter().filter(move |element| element.name == name)
}

fn of_class<'a>(all: &'a [Element], class: &'a str) -> impl Iterator<Item = &'a Element> {
    all.iter().filter(move |element| element.get("class") == Some(class))
}

#[test]
fn the_page_of_six_schedulers_with_many_tasks_stays_below_five_megabytes() {
    let page = page_with(&restless_crowd(), Some("crowd.pftrace"));
    assert!(page.len() < BYTES_MAX, "{}", page.len());
    let all = elements(&page);
    assert!(page.contains("300 tasks in 24 programs on 16 CPUs"));
    assert_eq!(of_class(&all, "pane").count(), 2 * 25 + 4 * 9);
}

#[test]
fn the_page_runs_nothing_and_fetches_nothing() {
    let page = page_with(&crowd::history(), Some("a:b/c d.pftrace"));
    let all = elements(&page);
    let refused =
        ["script", "link", "img", "iframe", "image", "use", "object", "form", "foreignObject"];
    for element in &all {
        assert!(!refused.contains(&element.name.as_str()), "{element:?}");
        for name in element.attributes.keys() {
            assert!(!name.starts_with("on") && name != "src" && name != "style", "{element:?}");
        }
    }
    assert!(!page.contains("url(") && !page.contains("@import"));
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
                  form-action 'none'";
    assert!(named(&all, "meta").any(|meta| meta.get("content") == Some(policy)));
}

#[test]
fn links_lead_to_parts_traces_and_their_viewer() {
    let page = page_with(&crowd::history(), Some("../out/a:b c.pftrace"));
    let all = elements(&page);
    let ids: BTreeSet<&str> = all.iter().filter_map(|element| element.get("id")).collect();
    assert_eq!(ids.len(), all.iter().filter(|element| element.get("id").is_some()).count());
    let mut traces = 0;
    for address in named(&all, "a").map(|a| a.get("href").unwrap()) {
        match address.strip_prefix('#') {
            Some(id) => assert!(ids.contains(id), "{id}"),
            None if address == "https://ui.perfetto.dev/" => {}
            None => {
                assert_eq!(address, "../out/a%3Ab%20c.pftrace");
                traces += 1;
            }
        }
    }
    assert_eq!(traces, 6);
    let parts = of_class(&all, "heard").count() > 0 && named(&all, "section").count() > 10;
    let listed = named(&all, "a").filter(|a| a.get("href").unwrap().starts_with("#part-")).count();
    assert!(parts && listed == named(&all, "section").count());
}

#[test]
fn without_a_trace_the_page_says_how_to_get_one() {
    let page = page_with(&crowd::history(), None);
    assert!(page.contains("--page FILE.pftrace") && !page.contains("href=\"https:"));
}

#[test]
fn each_history_has_one_chosen_range_that_the_keyboard_can_change() {
    let all = elements(&page_with(&crowd::history(), None));
    for history in 0..6 {
        let name = format!("range-{history}");
        let buttons: Vec<&Element> =
            named(&all, "input").filter(|input| input.get("name") == Some(&name)).collect();
        assert!(buttons.iter().all(|button| button.get("type") == Some("radio")));
        // The two that the first sentence is about have more of them.
        assert_eq!(buttons.len(), if [3, 5].contains(&history) { 25 } else { 9 });
        assert_eq!(buttons.iter().filter(|button| button.get("checked").is_some()).count(), 1);
        for button in buttons {
            let id = button.get("id");
            let at = all.iter().position(|element| element.get("id") == id).unwrap();
            assert_eq!((all[at + 1].name.as_str(), all[at + 1].get("for")), ("label", id));
            let depth = all[at].depth;
            let next = all[at + 2..].iter().find(|element| element.depth <= depth).unwrap();
            assert_eq!(next.get("class"), Some("pane"));
        }
    }
}

#[test]
fn ranges_begin_at_whole_milliseconds_in_every_history() {
    let mut history = crowd::history();
    history.header.end_ns = 3_200_000_000;
    let page = page_with(&history, None);
    let count = |label: &str| page.matches(&format!("</svg><b>{label}</b>")).count();
    // 24 would begin at 133.3 ms; the two main histories have 16, the others 8.
    assert_eq!((count("All: 0–3200"), count("0–133")), (6, 0));
    assert_eq!((count("0–200"), count("3000–3200")), (2, 2));
    assert_eq!((count("0–400"), count("2800–3200")), (4, 4));
}

#[test]
fn a_short_history_needs_no_choice() {
    let history = synthetic::history("swaptions", "x265");
    let all = elements(&page_with(&history, None));
    assert_eq!(named(&all, "input").count(), 0);
    assert_eq!(of_class(&all, "programs").count(), 6);
}

#[test]
fn every_chart_has_a_name_and_a_table_in_its_part() {
    let page = page_with(&crowd::history(), None);
    let all = elements(&page);
    for chart in named(&all, "svg") {
        let hidden = chart.get("aria-hidden") == Some("true");
        let label = chart.get("aria-label").unwrap_or_default();
        assert!(hidden || (chart.get("role") == Some("img") && label.len() > 8), "{chart:?}");
    }
    let mut charts = 0;
    let mut tables = 0;
    let ends = all.len();
    for (at, element) in all.iter().enumerate() {
        if element.get("class") == Some("pane") {
            let inside = all[at + 1..ends].iter().take_while(|e| e.depth > element.depth);
            let inside: Vec<&Element> = inside.collect();
            let count = |name: &str| inside.iter().filter(|e| e.name == name).count();
            assert_eq!((count("svg"), count("table")), (1, 2));
        }
        if element.name == "section" {
            let inside: Vec<&Element> =
                all[at + 1..ends].iter().take_while(|e| e.depth > element.depth).collect();
            let has = |name: &str| inside.iter().any(|e| e.name == name);
            assert!(!has("figure") || has("table"), "{element:?}");
            charts += usize::from(has("figure"));
            tables += usize::from(has("table"));
        }
    }
    assert!(charts >= 10 && tables > charts, "{charts} {tables}");
    assert_eq!(named(&all, "caption").count(), named(&all, "table").count());
    assert_eq!(named(&all, "h1").count(), 1);
}

#[test]
fn tasks_are_listed_below_their_programs() {
    let page = page_with(&crowd::history(), None);
    let first = page.split("class=\"programs\"").nth(1).unwrap();
    let line = first.split("<details>").nth(1).unwrap();
    assert!(line.contains("<caption class=\"heard\">Tasks of "), "{line}");
    let owner = line.split("<b>").nth(1).unwrap().split("</b>").next().unwrap();
    assert!(line.contains(&format!("Tasks of {owner}</caption>")), "{owner}");
    let named = line.split("<span>").nth(1).unwrap();
    let tasks: usize = named.split(" tasks").next().unwrap().parse().unwrap();
    assert_eq!(line.matches("<tr><th scope=\"row\">").count(), tasks);
    let everyone: BTreeSet<&str> = page.split("<th scope=\"row\">worker-").skip(1).collect();
    assert!(everyone.len() >= crowd::TASKS as usize);
}

#[test]
fn the_title_is_the_finding() {
    let page = page_with(&crowd::history(), None);
    let title = page.split("<title>").nth(1).unwrap();
    assert!(title.starts_with("fair-isolation cuts the mean slowdown from 23."), "{title:.80}");
}

#[test]
fn the_same_input_gives_the_same_page() {
    assert!(page_with(&crowd::history(), None) == page_with(&crowd::history(), None));
}

//! The page: whole without scripts, small, harmless, and what it says.

use proptest::prelude::*;
use report::profile::{
    Comparison, Core, Interval, Lane, Loss, Span, Stack, TimeLine, Victim, View, folded, pprof,
};
use report::profile_page;

use crate::markup::{Element, elements};
use crate::sample;

/// Limit of the size of a page.
const BYTES_MAX: usize = 2_000_000;

fn named<'a>(all: &'a [Element], name: &'a str) -> impl Iterator<Item = &'a Element> {
    all.iter().filter(move |element| element.name == name)
}

/// The texts between the tags of an element of that name.
fn texts(page: &str, name: &str) -> Vec<String> {
    let begin = format!("<{name}");
    let inside = page.split(&begin).skip(1).filter_map(|rest| rest.split_once('>'));
    inside.map(|(_, rest)| rest.split('<').next().unwrap().to_owned()).collect()
}

#[test]
fn the_page_answers_first_and_shows_each_part() {
    let page = profile_page(&sample::view());
    let answer = "nginx lost 4.0\u{a0}% of its CPU time to the clock that x265 lowered (0.37 s, \
                  95\u{a0}%: 3.6 to 4.4\u{a0}%).";
    assert_eq!(texts(&page, "h1"), [answer]);
    let parts = [
        "x265 cost other programs 0.49 s by the clock",
        "x265 used most CPU time",
        "The CPUs were busy for 46.4 % of 10.00 s",
        "x265_pixel_sad_x4_32x32_avx512 of x265 cost others most",
        "How this was measured",
    ];
    assert_eq!(texts(&page, "h2"), parts);
    assert!(page.contains("<h1 class=\"verdict\">") && page.len() < 200_000, "{}", page.len());
}

/// That a program waited for one that is not known helps no reader.
#[test]
fn the_heading_of_waits_names_a_program_that_is_known() {
    let mut view = sample::view();
    for loss in &mut view.losses {
        loss.lost_s.value = 0.0;
        if loss.culprit.is_none() {
            loss.waited_s = 100.0;
        }
    }
    let [title, ..] = &texts(&profile_page(&view), "h2")[..] else { panic!("no part") };
    assert!(title.ends_with("of waiting for a CPU") && !title.contains("not known"), "{title}");
}

#[test]
fn the_matrix_has_percentages_and_seconds_of_every_pair() {
    let page = profile_page(&sample::view());
    let titles = texts(&page, "title");
    let has = |title: &str| assert!(titles.iter().any(|it| it == title), "{title}: {titles:#?}");
    has("nginx, x265: 4.02 % of its CPU time lost, 0.37 s");
    has("redis-server, (unknown): 0.12 % of its CPU time lost, 4.00 ms");
    has("nginx, x265: 10.81 % of its runnable time waited, 1.20 s");
}

#[test]
fn a_clock_that_costs_nothing_has_neither_matrix_nor_columns() {
    let mut view = sample::view();
    assert!(profile_page(&view).contains("Lost to the clock"));
    view.losses.iter_mut().for_each(|loss| loss.lost_s = Interval::unbounded(1e-4));
    let page = profile_page(&view);
    assert!(!page.contains("Lost to the clock"));
    assert!(page.contains("All pairs together lost less than 0.1 % of all CPU time by the clock."));
}

#[test]
fn a_name_shows_its_path_where_the_pointer_is() {
    let page = profile_page(&sample::view());
    let hinted = "<span title=\"/kubepods.slice/nginx-7c9f.scope\">nginx</span>";
    // As a program, as a victim of two and of itself, and as a culprit.
    assert_eq!(page.matches(hinted).count(), 4);
}

#[test]
fn what_is_not_known_is_said() {
    let mut view = sample::view();
    let page = profile_page(&view);
    assert!(page.contains("<td class=\"n\">not known</td>") && page.contains("hold</th>"));
    view.has_clock = false;
    view.estimator = "No task left a CPU with 512-bit registers.".to_owned();
    let page = profile_page(&view);
    assert!(texts(&page, "h1")[0].starts_with("nginx waited 1.20 s for a CPU that x265 had"));
    assert!(page.contains("What programs lost to the clock of others is not known"));
    assert!(page.contains(&view.estimator) && !page.contains("hold</th>"));
    assert!(!page.contains("Lost to the clock, by victim"));
}

#[test]
fn an_empty_profile_is_a_page_too() {
    let page = profile_page(&View::default());
    assert_eq!(texts(&page, "h1"), ["The profile has no program."]);
    assert!(elements(&page).len() > 10);
    let line = TimeLine { length_s: f64::NAN, ..sample::view().time_line };
    let page = profile_page(&View { time_line: line, stacks: Vec::new(), ..sample::view() });
    assert_eq!(texts(&page, "h2").len(), 3);
}

#[test]
fn hostile_names_and_values_leave_the_page_whole_harmless_and_small() {
    let page = profile_page(&sample::crowd());
    assert!(page.len() < BYTES_MAX, "{}", page.len());
    let all = elements(&page);
    assert_eq!(named(&all, "script").count(), 0);
    for element in &all {
        for name in element.attributes.keys() {
            assert!(!name.starts_with("on") && name != "src" && name != "style", "{element:?}");
        }
    }
    assert!(!page.contains('\u{202e}') && !page.contains('\u{0}'));
    assert!(!page.contains("NaN") && !page.contains("inf"));
    assert!(page.contains("further pairs are left out"));
    for element in ["h1", "h2", "p", "th", "td", "li", "title", "text"] {
        let longest = texts(&page, element).iter().map(|text| text.chars().count()).max();
        assert!(longest.unwrap() < 4000, "{element}: {longest:?}");
    }
}

#[test]
fn the_page_runs_nothing_and_fetches_nothing() {
    let page = profile_page(&sample::view());
    for element in elements(&page) {
        let refused = ["script", "link", "img", "iframe", "image", "use", "object", "form"];
        assert!(!refused.contains(&element.name.as_str()), "{element:?}");
    }
    assert!(!page.contains("url(") && !page.contains("@import"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_figure_has_a_name_and_a_table_in_its_part() {
    let page = profile_page(&sample::view());
    let all = elements(&page);
    for chart in named(&all, "svg") {
        let hidden = chart.get("aria-hidden") == Some("true");
        let label = chart.get("aria-label").unwrap_or_default();
        assert!(hidden || (chart.get("role") == Some("img") && label.len() > 8), "{chart:?}");
    }
    for (at, section) in all.iter().enumerate().filter(|(_, element)| element.name == "section") {
        let inside: Vec<&Element> =
            all[at + 1..].iter().take_while(|e| e.depth > section.depth).collect();
        let has = |name: &str| inside.iter().any(|element| element.name == name);
        assert!(has("table"), "{section:?}");
    }
    assert_eq!(named(&all, "caption").count(), named(&all, "table").count());
    assert_eq!(named(&all, "h1").count(), 1);
}

#[test]
fn the_same_profile_gives_the_same_page() {
    assert!(profile_page(&sample::view()) == profile_page(&sample::view()));
}

/// A profile of three programs whose values are all taken from `values`, and names from `names`.
fn view_of(values: &[f64], names: &[String], has_clock: bool) -> View {
    let mut values = values.iter().copied().cycle();
    let mut value = || values.next().unwrap();
    let mut victim = |name: &String| Victim {
        name: name.clone(),
        cpu_time_s: value(),
        waited_s: value(),
        lost_s: Interval { value: value(), low: value(), high: value() },
        overhead_pct: Interval { value: value(), low: value(), high: value() },
        basis: "measured",
        ..Victim::default()
    };
    let victims: Vec<Victim> = names.iter().map(&mut victim).collect();
    let mut loss = |victim: &String| Loss {
        victim: victim.clone(),
        culprit: names.first().cloned(),
        lost_s: Interval { value: value(), low: value(), high: value() },
        by_hold_s: value(),
        by_sibling_s: value(),
        by_transition_s: value(),
        waited_s: value(),
        by_shared_core_s: value(),
        by_row_s: value(),
        stalled_s: Some(value()),
    };
    let losses: Vec<Loss> = names.iter().map(&mut loss).collect();
    let spans = (0..4).map(|group| Span { from_s: value(), to_s: value(), group }).collect();
    let levels = (0..4).map(|level| (value(), value(), level)).collect();
    let cores = vec![Core { name: names[0].clone(), cpus: vec![Lane { cpu: 0, spans }], levels }];
    let time_line = TimeLine { length_s: value(), cores, groups: names.to_vec() };
    let stack = |name: &String| Stack {
        group: name.clone(),
        frames: names.to_vec(),
        lost_s: value(),
        count: 1,
        ..Stack::default()
    };
    let stacks = names.iter().map(stack).collect();
    let title = names[0].clone();
    View { title, has_clock, victims, losses, time_line, stacks, ..View::default() }
}

proptest! {
    #[test]
    fn any_values_and_names_give_a_whole_page_and_readable_stacks(
        values in proptest::collection::vec(
            prop_oneof![proptest::num::f64::ANY, -1.0..100.0], 1..40),
        names in proptest::collection::vec(
            any::<String>().prop_map(|name| name.replace(['N', 'n'], "")), 3),
        has_clock in any::<bool>(),
    ) {
        let view = view_of(&values, &names, has_clock);
        let page = profile_page(&view);
        prop_assert!(elements(&page).len() > 10);
        let place = ["NaN", ">inf", " inf", "\"inf", "-inf"].iter().find_map(|it| page.find(it));
        prop_assert!(place.is_none(), "{:.60}", &page[place.unwrap_or_default()..]);
        prop_assert!(folded(&view.stacks).lines().count() <= names.len());
        prop_assert_eq!(&pprof(&view.stacks, values[0])[..2], &[0x1f, 0x8b]);
    }
}

#[test]
fn a_comparison_of_codes_is_the_first_part() {
    let row = ["CPU time s", "10.000", "12.000", "1.200", "<b>"].map(str::to_owned);
    let comparison = Comparison {
        title: "Wide code pays here".to_owned(),
        heads: ["", "#wide", "#narrow", "#narrow/wide", "#95 %"].map(str::to_owned).into(),
        rows: vec![row.into()],
        sentences: vec!["Gain: 2.000 CPU seconds a run.".to_owned()],
    };
    let page = profile_page(&View { comparison: Some(comparison), ..sample::view() });
    assert_eq!(texts(&page, "h2")[0], "Wide code pays here");
    assert!(page.contains("1.200") && page.contains("&lt;b&gt;") && !page.contains("<b>"));
    assert!(page.contains("Gain: 2.000 CPU seconds a run."));
}

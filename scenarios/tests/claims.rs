//! Claims: accepted ones, refused ones, and their verdicts on a value.

use scenarios::{Claim, Figure, Scenario, ScenarioError};

/// A scenario up to its claim.
const WORK: &str = r#"schema = 1
name = "good"
description = "A good one."
source = "our choice"
cpu = "xeon-gold-6130"
[[foreground]]
name = "victim"
threads = 1
phases = [{ compute = { work_us = 1000 } }]
[[background]]
name = "sse4"
control = true
[[background]]
name = "avx512"
"#;

/// A claim to which tests add fields.
const CLAIM: &str = r#"[[claim]]
background = "avx512"
source = "our choice"
"#;

fn read(claim: &str) -> Result<Claim, ScenarioError> {
    let text = format!("{WORK}{CLAIM}{}", claim.replace("; ", "\n"));
    Scenario::parse(&text, "it.toml").map(|mut scenario| scenario.claims.remove(0))
}

#[test]
fn a_claim_says_whose_figure_it_is() {
    let claim = read(
        "scheduler = 'muqss'; rq_sharing = 'smt'; sensors = 'truth'; application = 'victim'; \
         metric = 'completion_s'; max = 1",
    );
    let figure = claim.unwrap().figure;
    assert_eq!((&*figure.rq_sharing, &*figure.sensors), ("smt", "truth"));
    assert_eq!(figure.application.as_deref(), Some("victim"));

    let figure = read("scheduler = 'fair'; metric = 'jain'; max = 1").unwrap().figure;
    assert_eq!((&*figure.rq_sharing, &*figure.sensors), ("none", "d7"));
    assert_eq!(figure.application, None);
}

#[test]
fn another_figure_differs_only_in_what_it_says() {
    let claim = read(
        "scheduler = 'fair-isolation'; application = 'victim'; metric = 'completion_s'; max = 1; \
         minus = { background = 'sse4', times = 0.5 }; over = { scheduler = 'fair' }",
    );
    let Claim { figure, minus, over, .. } = claim.unwrap();
    let (minus, times) = minus.unwrap();
    assert_eq!(minus, Figure { background: "sse4".to_owned(), ..figure.clone() });
    assert!((times - 0.5).abs() < f64::EPSILON);
    assert_eq!(over.unwrap(), Figure { scheduler: "fair".to_owned(), ..figure });
}

#[test]
fn what_cannot_be_claimed_is_refused() {
    let refused = [
        ("scheduler = 'fair'; rq_sharing = 'smt'", "rq_sharing", "no such field, which only"),
        ("scheduler = 'muqss'; rq_sharing = 'cores'", "rq_sharing", "one of none, smt, mc, all"),
        ("scheduler = 'fair'; application = 'culprit'", "application", "one of victim"),
        ("scheduler = 'fair'; over = { background = 'avx2' }", "over.background", "one of sse4"),
        ("scheduler = 'fair'; over = { background = 'avx512' }", "over", "something that differs"),
        ("scheduler = 'fair'; minus = { time = 2 }", "minus.time", "is not a field here"),
        ("scheduler = 'fair'; calibrated = true", "calibrated", "false, or an `id` and"),
        (
            "scheduler = 'fair-isolation'; id = 'T090'; published = 6.4; calibrated = true",
            "calibrated",
            "false: only cfs, eevdf, muqss, fair may be calibrated on",
        ),
        ("scheduler = 'fair'; must_fail = true; known_miss = 'so'", "known_miss", "no reason"),
    ];
    for (claim, field, expected) in refused {
        let said = read(&format!("metric = 'jain'; max = 1; {claim}")).unwrap_err().to_string();
        assert!(said.contains(&format!("`claim[0].{field}`")), "{claim}: {said}");
        assert!(said.contains(expected), "{claim}: {said}");
    }
    let of_all = "scheduler = 'fair'; application = 'victim'; metric = 'jain'; max = 1";
    let said = read(of_all).unwrap_err().to_string();
    assert!(said.contains("`claim[0].metric`: expected one of isolation_slowdown_pct"), "{said}");
    let unbounded = "scheduler = 'fair'; metric = 'jain'; published = 1; known_miss = 'so'";
    let said = read(unbounded).unwrap_err().to_string();
    assert!(said.contains("`claim[0].known_miss`"), "{said}");
}

#[test]
fn a_policy_is_never_calibrated_on() {
    for scheduler in ["cfs", "eevdf", "muqss", "fair", "fair-relative", "fair-isolation"] {
        let claim = format!(
            "scheduler = '{scheduler}'; metric = 'jain'; id = 'T1'; published = 1; \
             calibrated = true"
        );
        assert_eq!(read(&claim).is_ok(), !scheduler.starts_with("fair-"), "{scheduler}");
    }
}

#[test]
fn bounds_include_their_ends_and_without_any_nothing_is_judged() {
    let claim = |bounds: &str| read(&format!("scheduler = 'fair'; metric = 'jain'; {bounds}"));
    let both = claim("min = 1; max = 2").unwrap();
    let holds = [0.9, 1.0, 2.0, 2.1, f64::NAN].map(|value| both.holds(value).unwrap());
    assert_eq!(holds, [false, true, true, false, false]);
    assert_eq!(claim("published = 1").unwrap().holds(5.0), None);
}

#[test]
fn claims_compare_with_other_figures_where_they_say_so() {
    let claim = shipped("closed-form-relative");
    let holds = |slowdown: f64| {
        let figure = |figure: &Figure| match figure.metric.as_str() {
            "signed_slowdown_pct" => Some(slowdown),
            _ => Some(24.0),
        };
        claim.holds(claim.value(figure).unwrap()).unwrap()
    };
    assert!(holds(12.3));
    assert!(!holds(24.0));

    let claim = shipped("pingpong");
    let seconds = |figure: &Figure| match figure.scheduler.as_str() {
        "cfs" => Some(216.0),
        _ => Some(193.0),
    };
    let value = claim.value(seconds).unwrap();
    assert!((value - claim.published.unwrap()).abs() < 0.05, "{value}");
    assert_eq!(claim.value(|figure| (figure.scheduler != "cfs").then_some(1.0)), None);
}

/// The first claim of a shipped scenario.
fn shipped(name: &str) -> Claim {
    let (file, text) = scenarios::by_name(name).unwrap();
    Scenario::parse(text, file).unwrap().claims.remove(0)
}

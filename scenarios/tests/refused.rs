//! Every mistake in a scenario is refused in one sentence with file, line and field.

use std::collections::BTreeMap;

use proptest::prelude::*;
use scenarios::{MachineDefaults, Scenario, ScenarioError};

/// A scenario without a mistake; tests replace one of its lines.
const GOOD: &str = r#"schema = 1
name = "good"
description = "A good one."
source = "our choice"
cpu = "xeon-gold-6130"
[machine]
packages = 1
cores = 4
threads_per_core = 2
[run]
limit_s = 10
[parameters]
burst_us = 500
share = 0.5
[[fit]]
burst_us = 400
[[foreground]]
name = "victim"
threads = 4
affinity = "0-7"
phases = [
    { compute = { work_us = 1000, class = "scalar", stall = 0.2 } },
    { lock = "l" },
    { unlock = "l" },
    { barrier = "b" },
    { first = [{ wake_others = "s" }] },
    { others = [{ wait = "s" }] },
]
[[background]]
name = "sse4"
control = true
[[background]]
name = "avx512"
[[background.application]]
name = "culprit"
threads = 2
instances = 2
phases = [{ forever = [
    { compute = { work_us = 2000, burst_us = "@burst_us", mix = [
        { class = "avx512-heavy", share = "@share" },
    ] } },
    { barrier = "b" },
] }]
[[claim]]
scheduler = "fair"
background = "avx512"
metric = "isolation_slowdown_pct"
max = 1.0
source = "our choice"
"#;

const MACHINE: MachineDefaults =
    MachineDefaults { ref_khz: 2_100_000, packages: 1, cores_per_package: 16, threads_per_core: 2 };

type Refusal = (&'static str, &'static str, u32, &'static str, &'static str);

/// The error of [`GOOD`] with one piece of text replaced.
fn refusal(from: &str, to: &str) -> ScenarioError {
    assert_eq!(GOOD.matches(from).count(), 1, "{from}");
    Scenario::parse(&GOOD.replace(from, to), "it.toml").unwrap_err()
}

/// Asserts the beginning of the sentence.
#[track_caller]
fn refused(from: &str, to: &str, sentence: &str) {
    let said = refusal(from, to).to_string();
    assert!(said.starts_with(sentence), "{said}");
    assert!(!said.contains('\n'), "{said}");
}

#[test]
fn core_specialization_concerns_all_threads_but_those_that_are_not_enrolled() {
    let enrolled = |text: &str| {
        let scenario = Scenario::parse(text, "it.toml").unwrap();
        let case = scenario.cases()[0];
        let workload = scenario.workload(case, None, &BTreeMap::new(), &MACHINE).unwrap();
        workload.threads.iter().map(|thread| thread.enrolled).collect::<Vec<_>>()
    };
    assert!(enrolled(GOOD).iter().all(|&it| it));
    assert_eq!(enrolled(&GOOD.replace("affinity = \"0-7\"", "enrolled = false"))[..4], [false; 4]);
}

#[test]
fn good_scenario_is_read() {
    let scenario = Scenario::parse(GOOD, "it.toml").unwrap();
    assert_eq!(scenario.control(), 0);
    assert_eq!(scenario.cases().len(), 2);
}

#[test]
fn text_that_is_no_toml_is_refused() {
    refused("limit_s = 10", "limit_s = ", "it.toml:11: this is not TOML: ");
}

#[test]
fn newer_schema_is_refused_by_name() {
    let sentence = "it.toml:1: `schema` is 2, expected at most 1; use a newer Evenkeel";
    refused("schema = 1", "schema = 2", sentence);
}

#[test]
fn unknown_fields_are_refused_with_the_known_ones() {
    let sentence = "it.toml:8: `machine.core` is not a field here, expected one of: \
                    packages, cores, threads_per_core, turbo_cores, turbo";
    refused("cores = 4", "core = 4", sentence);
}

/// A piece of [`GOOD`], its replacement, and the line, field and expectation of the refusal.
const WRONG_VALUES: &[Refusal] = &[
    (
        "stall = 0.2 }",
        "integer = 1 }",
        22,
        "foreground[0].phases[0].compute.integer",
        "true or false",
    ),
    ("cores = 4", "cores = 0", 8, "machine.cores", "a whole number from 1 to"),
    ("cores = 4", "cores = 600", 8, "machine.cores", "at most 1024 logical"),
    ("limit_s = 10", "limit_s = -1", 11, "run.limit_s", "a number from"),
    ("limit_s = 10", "warm_up_ms = -1", 11, "run.warm_up_ms", "a number from 0 to 60000"),
    (
        "limit_s = 10",
        "arrival_window_ms = 60001",
        11,
        "run.arrival_window_ms",
        "a number from 0 to 60000",
    ),
    (
        "work_us = 1000",
        "work_us = -5",
        22,
        "foreground[0].phases[0].compute.work_us",
        "a number from",
    ),
    (
        "work_us = 1000",
        "work_us = 1e300",
        22,
        "foreground[0].phases[0].compute.work_us",
        "a number",
    ),
    ("work_us = 1000", "work_us = nan", 22, "foreground[0].phases[0].compute.work_us", "a number"),
    (
        "work_us = 1000",
        "work_us = 99999999999999999999",
        22,
        "foreground[0].phases[0].compute.work_us",
        "a number",
    ),
    (
        "stall = 0.2",
        "stall = 1.2",
        22,
        "foreground[0].phases[0].compute.stall",
        "a number from 0 to 1",
    ),
    (
        "\"scalar\"",
        "\"sse\"",
        22,
        "foreground[0].phases[0].compute.class",
        "one of scalar, avx2-light",
    ),
    (
        "\"scalar\"",
        "\"@kernel\"",
        22,
        "foreground[0].phases[0].compute.class",
        "a class that every",
    ),
    ("threads = 4", "threads = 65537", 19, "foreground[0].threads", "a number from 1 to 65536"),
    ("threads = 4", "threads = 1.5", 19, "foreground[0].threads", "a whole number"),
    (
        "instances = 2",
        "instances = 40000",
        36,
        "background[1].application[0].threads",
        "at most 65536 threads",
    ),
    ("\"0-7\"", "\"0-8\"", 20, "foreground[0].affinity", "CPUs of this machine, which are 0-7"),
    ("\"0-7\"", "\"7-0\"", 20, "foreground[0].affinity", "logical CPUs"),
    ("affinity = \"0-7\"", "enrolled = 0", 20, "foreground[0].enrolled", "true or false"),
    (
        "\"@burst_us\"",
        "\"@bursts\"",
        39,
        "background[1].application[0].phases[0].forever[0].compute.burst_us",
        "a parameter",
    ),
    (
        "share = 0.5",
        "share = 1.5",
        40,
        "background[1].application[0].phases[0].forever[0].compute.mix[0].share",
        "a number from 0 to 1, but \"@share\" makes it 1.5",
    ),
    ("burst_us = 400", "burst = 400", 16, "fit[0].burst", "a name that [parameters] has"),
    (
        "burst_us = 400",
        "burst_us = -400",
        39,
        "background[1].application[0].phases[0].forever[0].compute.burst_us",
        "a number",
    ),
    (
        "name = \"culprit\"",
        "name = \"victim\"",
        35,
        "background[1].application[0].name",
        "a name other than the taken",
    ),
    ("name = \"avx512\"\n", "name = \"sse4\"\n", 33, "background[1].name", "a name other than"),
    (
        "name = \"avx512\"\n",
        "name = \"avx512\"\ncontrol = true\n",
        33,
        "background[1].name",
        "only one",
    ),
    ("control = true\n", "", 30, "background[0].name", "one variant with"),
    (
        "name = \"culprit\"",
        "name = \"\\u001b[2J\"",
        35,
        "background[1].application[0].name",
        "a name of",
    ),
    (
        "background = \"avx512\"",
        "background = \"avx2\"",
        46,
        "claim[0].background",
        "one of sse4, avx512",
    ),
    ("\"isolation_slowdown_pct\"", "\"speed\"", 47, "claim[0].metric", "one of"),
    ("max = 1.0\n", "", 44, "claim[0].max", "min, max or published, but the field is missing"),
    (
        "cpu = \"xeon-gold-6130\"\n",
        "",
        1,
        "cpu",
        "the name of a CPU table, but the field is missing",
    ),
];

#[test]
fn wrong_values_are_refused() {
    for (from, to, line, field, expected) in WRONG_VALUES {
        refused(from, to, &format!("it.toml:{line}: `{field}`: expected {expected}"));
    }
}

/// The same, for threads that could never go on.
const WAITING_FOR_EVER: &[Refusal] = &[
    (
        "{ barrier = \"b\" },\n    { first",
        "{ first = [{ barrier = \"b\" }] },\n    { first",
        25,
        "foreground[0].phases[3].first[0].barrier",
        "all 4 threads of the barrier",
    ),
    (
        "{ lock = \"l\" },\n",
        "{ wait = \"w\" },\n    { lock = \"l\" },\n",
        23,
        "foreground[0].phases[1].wait",
        "enough wakes",
    ),
    (
        "    { lock = \"l\" },\n",
        "",
        23,
        "foreground[0].phases[1].unlock",
        "a lock that victim/0 holds",
    ),
    (
        "    { unlock = \"l\" },\n",
        "",
        23,
        "foreground[0].phases[1].lock",
        "a lock that is given back",
    ),
    (
        "{ wake_others = \"s\" }",
        "{ wait = \"a\" }, { wake_others = \"s\" }",
        26,
        "foreground[0].phases[4].first[0].wait",
        "enough wakes",
    ),
    (
        "{ lock = \"l\" },\n",
        "{ first = [{ wait = \"x\" }, { wake_others = \"y\" }] },\n\
             { others = [{ wait = \"y\" }, { wake = \"x\" }] },\n{ lock = \"l\" },\n",
        23,
        "foreground[0].phases[1].first[0].wait",
        "enough wakes that do not depend",
    ),
    (
        "{ lock = \"l\" },\n",
        "{ forever = [{ sleep = { us = 1 } }] },\n",
        23,
        "foreground[0].phases[1].forever",
        "a foreground that ends",
    ),
];

#[test]
fn threads_that_wait_for_ever_are_refused() {
    for (from, to, line, field, expected) in WAITING_FOR_EVER {
        refused(from, to, &format!("it.toml:{line}: `{field}`: expected {expected}"));
    }
    let (head, tail) = GOOD.split_once("    { compute = { work_us = 2000").unwrap();
    let tail = tail.split_once("] } },\n").unwrap().1;
    let idle = format!("{head}{tail}");
    let said = Scenario::parse(&idle, "it.toml").unwrap_err().to_string();
    assert!(said.contains("expected a compute or sleep phase in an endless loop"), "{said}");
}

#[test]
fn unknown_parameter_is_refused_with_the_known_ones() {
    let scenario = Scenario::parse(GOOD, "it.toml").unwrap();
    let machine = MACHINE;
    let run = |name: &str, machine: &MachineDefaults| {
        let overrides = BTreeMap::from([(name.to_owned(), 100.0)]);
        scenario.workload(scenario.cases()[0], None, &overrides, machine).map(|_| ())
    };
    assert_eq!(run("burst_us", &machine), Ok(()));
    let said = run("burst", &machine).unwrap_err().to_string();
    assert_eq!(said, "it.toml: there is no parameter `burst`, expected one of: burst_us, share");
    let small = MachineDefaults { cores_per_package: 2, ..machine };
    let said = run("burst_us", &small).unwrap_err().to_string();
    assert_eq!(said, "it.toml:8: `machine.cores`: expected at most 2, as the CPU has it");
}

/// A scenario with bytes, pieces and numbers exchanged.
fn mangled() -> impl Strategy<Value = String> {
    let texts: Vec<&str> =
        scenarios::names().map(|name| scenarios::by_name(name).unwrap().1).collect();
    let piece = prop_oneof![
        "\\PC{0,3}",
        Just("-1".to_owned()),
        Just("1e308".to_owned()),
        Just("9223372036854775807".to_owned()),
        Just("[".to_owned()),
        Just("\"@threads * 1e9\"".to_owned()),
        Just("\u{1b}[2J".to_owned()),
    ];
    let text = prop_oneof![3 => Just(GOOD), 1 => prop::sample::select(texts)];
    let cut = (any::<prop::sample::Index>(), 0..12usize, piece);
    (text, prop::collection::vec(cut, 1..4)).prop_map(|(text, cuts)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, length, piece) in cuts {
            let at = at.index(chars.len().max(1));
            let end = (at + length).min(chars.len());
            chars.splice(at..end, piece.chars());
        }
        chars.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn mangled_scenarios_never_panic_and_errors_have_a_line(text in mangled()) {
        if let Err(error) = Scenario::parse(&text, "it.toml") {
            // A mistake may show in the shipped scenario that the text is based on.
            let shipped = scenarios::names().map(|name| scenarios::by_name(name).unwrap().1);
            let lines = shipped.chain([text.as_str()]).map(|text| text.lines().count()).max();
            let lines = lines.unwrap() as u32 + 1;
            prop_assert!(error.line().is_some_and(|line| (1..=lines).contains(&line)));
            let said = error.to_string();
            prop_assert!(!said.chars().any(char::is_control), "{said:?}");
        }
    }
}

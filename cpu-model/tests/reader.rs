//! What the reader of CPU tables accepts, refuses and says.

use cpu_model::{CpuTable, CpuTableError, TurboMode};

const SMALL: &str = r#"schema = 1
name = "small"
description = "Four cores, two levels"
microarchitecture = "None"

[machine]
source = "our choice"
packages = 1
cores = 4
threads = 2
ref_mhz = 2000

[levels]
source = "our choice"
names = ["fast", "slow"]

[turbo]
source = "our choice"
rows = [
    { cores = [1, 2], mhz = { fast = 3000, slow = 2500 } },
    { cores = [3, 4], mhz = { fast = 2800, slow = 2000 } },
]

[turbo_off]
source = "our choice"
mhz = { fast = 2000 }

[demand]
source = "our choice"
unsupported = ["avx512-light", "avx512-heavy", "amx"]
rules = [
    { class = "avx2-light", level = "fast" },
    { class = "avx2-heavy", rate = 0.25, level = "slow" },
]

[license]
source = "our choice"
domain = "core"
few_cores = 2
fall_halt_us = 10
hold_us = { slow = 670 }

[widen]
source = "our choice"
us = 0
hold_us = 0

[[rise]]
to = "slow"
source = "our choice"
stages = [
    { kind = "throttle-a", us = 1.5, few_us = 2, rate = 0.25 },
    { kind = "halt", us = 10 },
]

[events]
source = "our choice"
list = [{ signal = "license-1", event = 0x28, umask = 0x18, scope = "core" }]
"#;

/// The message about the small table with one piece of it replaced.
fn message(piece: &str, replacement: &str) -> String {
    assert_eq!(SMALL.matches(piece).count(), 1, "{piece} must occur once");
    let text = SMALL.replace(piece, replacement);
    CpuTable::parse(&text, "small.toml").unwrap_err().to_string()
}

#[test]
fn the_small_table_is_complete_and_means_what_it_says() {
    let table = CpuTable::parse(SMALL, "small.toml").unwrap();
    assert_eq!(table.missing(), [""; 0]);
    let model = table.model(TurboMode::On).unwrap();
    assert_eq!((model.cpus(), model.turbo.khz(0, 1)), (8, 2_500_000));
    assert_eq!(model.license.hold_ns[1], 670_000);
    assert_eq!(model.transition_cost_ns(0, 1, true, false), 11_125);
    assert_eq!(model.transition_cost_ns(0, 1, false, true), 11_500);
    assert_eq!(table.model(TurboMode::Off).unwrap().turbo.khz(0, 1), 2_000_000);
}

#[test]
fn text_that_is_not_a_table_is_refused_with_its_line() {
    let cases = [
        ("packages = 1", "packages = ", "small.toml:8: TOML syntax: "),
        ("cores = 4", "packages = 4", "small.toml:9: TOML syntax: duplicate key"),
    ];
    for (piece, replacement, expected) in cases {
        let message = message(piece, replacement);
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let empty = CpuTable::parse("", "empty.toml").unwrap_err().to_string();
    assert_eq!(empty, "empty.toml:1: schema: found nothing, expected schema = 1");
    let huge = CpuTable::parse(&"#".repeat((1 << 20) + 1), "huge.toml").unwrap_err().to_string();
    assert_eq!(huge, "huge.toml:1: the whole file: found 1048577 bytes, expected at most 1048576");
}

#[test]
fn a_newer_schema_is_refused_by_name_before_its_fields_are_looked_at() {
    let text = SMALL.replace("schema = 1", "quantum = true\nschema = 2");
    let error = CpuTable::parse(&text, "small.toml").unwrap_err();
    let expected =
        CpuTableError::NewerSchema { file: "small.toml".to_owned(), line: 2, found: 2, newest: 1 };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "small.toml:2: schema: found 2, expected at most 1, the newest schema that this version \
         reads"
    );
    assert_eq!(
        message("schema = 1", "schema = 0"),
        "small.toml:1: schema: found 0, expected a whole number from 1 to 4294967295"
    );
}

/// Piece of the small table, what stands there instead, and the whole message.
type Case = (&'static str, &'static str, &'static str);

fn check(cases: &[Case]) {
    for &(piece, replacement, expected) in cases {
        assert_eq!(message(piece, replacement), format!("small.toml:{expected}"));
    }
}

#[test]
fn unknown_and_absent_fields_are_refused() {
    check(&[
        (
            "threads = 2",
            "treads = 2",
            "10: machine.treads: found an unknown field, expected one of source, packages, cores, \
             threads, ref_mhz",
        ),
        (
            "fast = 2000",
            "quick = 2000",
            "26: turbo_off.mhz.quick: found an unknown field, expected one of fast, slow",
        ),
        (
            "[license]\nsource = \"our choice\"",
            "[license]",
            "36: license.source: found nothing, expected the source of this section's values",
        ),
        (
            "class = \"avx2-light\", ",
            "",
            "32: demand.rules[0].class: found nothing, expected this field",
        ),
        ("name = \"small\"\n", "", "1: name: found nothing, expected this field"),
        (
            "\"Four cores, two levels\"",
            "\"\\u001b[31m\"",
            "3: description: found \"\\u{1b}[31m\", expected a string of 1 to 2000 bytes without \
             control characters",
        ),
        (
            "\"small\"",
            "\"Small!\"",
            "2: name: found \"Small!\", expected a name of 1 to 64 lower-case letters, digits, \
             dots and hyphens",
        ),
    ]);
}

#[test]
fn frequencies_that_rise_are_refused() {
    check(&[
        (
            "fast = 3000, slow = 2500",
            "fast = 3000, slow = 3100",
            "20: turbo.rows[0]: found 3100 MHz at level slow above 3000 MHz at level fast, \
             expected frequencies that never rise with the level",
        ),
        (
            "fast = 2800",
            "fast = 3001",
            "21: turbo.rows[1]: found 3001 MHz at level fast above 3000 MHz for fewer active \
             cores, expected frequencies that never rise with the number of active cores",
        ),
        (
            "{ fast = 2000 }",
            "{ fast = 1900, slow = 1901 }",
            "26: turbo_off.mhz: found 1901 MHz at level slow above 1900 MHz at a faster level, \
             expected frequencies that never rise with the level",
        ),
        (
            "{ fast = 2000 }",
            "{ fast = 2801 }",
            "26: turbo_off.mhz: found 2801 MHz at level fast, expected at most 2800 MHz, its \
             lowest frequency with turbo on",
        ),
    ]);
}

#[test]
fn rows_that_overlap_or_leave_the_package_are_refused() {
    check(&[
        (
            "cores = [3, 4]",
            "cores = [2, 4]",
            "21: turbo.rows[1].cores[0]: found 2, expected a whole number from 3 to 4",
        ),
        (
            "cores = [3, 4]",
            "cores = [3, 5]",
            "21: turbo.rows[1].cores[1]: found 5, expected a whole number from 3 to 4",
        ),
        (
            "cores = [3, 4]",
            "cores = [4, 3]",
            "21: turbo.rows[1].cores[1]: found 3, expected a whole number from 4 to 4",
        ),
        (
            "cores = [3, 4]",
            "cores = [3]",
            "21: turbo.rows[1].cores: expected the fewest and the most active cores, such as \
             [1, 2]",
        ),
    ]);
}

#[test]
fn too_many_levels_rows_and_stages_are_refused() {
    let rows: String = (1..=17).map(|n| format!("{{ cores = [{n}, {n}], mhz = {{}} }},")).collect();
    let stages = "{ kind = \"halt\", us = 1 },".repeat(7);
    let cases = [
        (
            "names = [\"fast\", \"slow\"]",
            "names = [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\"]".to_owned(),
            "15: levels.names: found 7 elements, expected at most 6",
        ),
        (
            "rows = [\n    { cores = [1, 2]",
            format!("rows = [{rows}    {{ cores = [1, 2]"),
            "19: turbo.rows: found 19 elements, expected at most 16",
        ),
        (
            "stages = [\n",
            format!("stages = [{stages}\n"),
            "51: rise[0].stages: found 9 elements, expected at most 6",
        ),
        (
            "names = [\"fast\", \"slow\"]",
            "names = []".to_owned(),
            "15: levels.names: found no level, expected 1 to 6",
        ),
        (
            "names = [\"fast\", \"slow\"]",
            "names = [\"fast\", \"fast\"]".to_owned(),
            "15: levels.names[1]: found fast again, expected each level once",
        ),
    ];
    for (piece, replacement, expected) in cases {
        assert_eq!(message(piece, &replacement), format!("small.toml:{expected}"));
    }
}

#[test]
fn negative_huge_and_fractional_numbers_are_refused() {
    check(&[
        (
            "cores = 4",
            "cores = -4",
            "9: machine.cores: found -4, expected a whole number from 1 to 1024",
        ),
        (
            "ref_mhz = 2000",
            "ref_mhz = 99999999999999999999",
            "11: machine.ref_mhz: found 99999999999999999999, expected a whole number from 1 to \
             20000",
        ),
        (
            "threads = 2",
            "threads = 3",
            "10: machine.threads: found 3, expected a whole number from 1 to 2",
        ),
        (
            "fast = 3000",
            "fast = 3000.5",
            "20: turbo.rows[0].mhz.fast: found 3000.5, expected a whole number from 1 to 20000",
        ),
        (
            "slow = 670",
            "slow = -1",
            "41: license.hold_us.slow: found -1, expected a number from 0 to 1000000 with at most \
             three decimals",
        ),
        (
            "us = 1.5",
            "us = 1.5001",
            "52: rise[0].stages[0].us: found 1.5001, expected a number from 0 to 1000000 with at \
             most three decimals",
        ),
        (
            "us = 1.5",
            "us = inf",
            "52: rise[0].stages[0].us: found inf, expected a number from 0 to 1000000 with at \
             most three decimals",
        ),
        (
            "us = 1.5",
            "us = nan",
            "52: rise[0].stages[0].us: found nan, expected a number from 0 to 1000000 with at \
             most three decimals",
        ),
        (
            "rate = 0.25, level",
            "rate = \"1/4\", level",
            "33: demand.rules[1].rate: found \"1/4\", expected a number from 0 to 16 with at most \
             three decimals",
        ),
    ]);
}

#[test]
fn rules_that_contradict_each_other_are_refused() {
    check(&[
        (
            "class = \"avx2-light\", level = \"fast\"",
            "class = \"avx2-heavy\", rate = 0.5, level = \"fast\"",
            "33: demand.rules[1]: found level slow for avx2-heavy from rate 0.25 on beside level \
             fast from rate 0.5 on, expected one rule a rate and a level that does not fall with \
             the rate",
        ),
        (
            "class = \"avx2-light\", level = \"fast\"",
            "class = \"avx2-heavy\", rate = 0.25, level = \"slow\"",
            "33: demand.rules[1]: found level slow for avx2-heavy from rate 0.25 on beside level \
             slow from rate 0.25 on, expected one rule a rate and a level that does not fall with \
             the rate",
        ),
        (
            "class = \"avx2-light\", level = \"fast\"",
            "class = \"amx\", level = \"slow\"",
            "32: demand.rules[0]: found a rule for amx, expected none for an unsupported class",
        ),
        (
            "class = \"avx2-light\", level",
            "class = \"avx3\", level",
            "32: demand.rules[0].class: found \"avx3\", expected one of scalar, avx2-light, \
             avx2-heavy, avx512-light, avx512-heavy, amx",
        ),
        (
            "\"amx\"]",
            "\"scalar\"]",
            "30: demand.unsupported[2]: found scalar, expected each class other than scalar at \
             most once",
        ),
    ]);
}

#[test]
fn stages_that_make_no_sense_are_refused() {
    check(&[
        (
            "to = \"slow\"",
            "to = \"fast\"",
            "49: rise[0].to: found level fast, expected a slower level than the rise starts from",
        ),
        (
            "kind = \"halt\"",
            "kind = \"halt\", rate = 0.5",
            "53: rise[0].stages[1].rate: found a rate, expected none for a halt",
        ),
        (
            "few_us = 2, rate = 0.25",
            "few_us = 2",
            "52: rise[0].stages[0].rate: found nothing, expected this field",
        ),
        (
            "few_us = 2, rate = 0.25",
            "few_us = 2, rate = 1",
            "52: rise[0].stages[0].rate: found 1, expected a number from 0.001 to 0.999 with at \
             most three decimals",
        ),
        (
            "kind = \"halt\"",
            "kind = \"halt\", level = \"slow\"",
            "53: rise[0].stages[1].level: found level slow, expected one between the rise's \
             `from`, which must be given, and its `to`",
        ),
        (
            "few_cores = 2\n",
            "",
            "51: rise[0].stages[0].few_us: found a duration for few active cores, expected \
             license.few_cores to say how many are few",
        ),
        (
            "[[rise]]\n",
            "[[rise]]\nto = \"slow\"\nsource = \"our choice\"\nstages = []\n[[rise]]\n",
            "52: rise[1]: found this rise again, expected each rise once",
        ),
        (
            "kind = \"halt\"",
            "kind = \"pause\"",
            "53: rise[0].stages[1].kind: found \"pause\", expected one of throttle-a, throttle-b, \
             halt",
        ),
        (
            "list = [{ signal",
            "list = [{ signal = \"license-1\", event = 1, umask = 1, scope = \"core\" }, { signal",
            "58: events.list[1]: found signal license-1 again, expected each signal once",
        ),
        (
            "domain = \"core\"",
            "domain = \"socket\"",
            "38: license.domain: found \"socket\", expected one of core, package",
        ),
    ]);
}

#[test]
fn values_that_are_absent_are_missing_and_stop_a_run() {
    let cases = [
        ("threads = 2\n", "machine.threads"),
        (
            "    { cores = [3, 4], mhz = { fast = 2800, slow = 2000 } },\n",
            "turbo for 3 to 4 active cores",
        ),
        (", slow = 2500", "turbo.slow for 1 to 2 active cores"),
        ("    { class = \"avx2-light\", level = \"fast\" },\n", "demand.rules for avx2-light"),
        ("domain = \"core\"\n", "license.domain"),
        ("fall_halt_us = 10\n", "license.fall_halt_us"),
        ("hold_us = { slow = 670 }\n", "license.hold_us.slow"),
        ("[widen]\nsource = \"our choice\"\nus = 0\nhold_us = 0\n", "widen"),
    ];
    for (piece, missing) in cases {
        assert_eq!(SMALL.matches(piece).count(), 1, "{piece}");
        let table = CpuTable::parse(&SMALL.replace(piece, ""), "small.toml").unwrap();
        assert_eq!(table.missing(), [missing]);
        assert_eq!(
            table.model(TurboMode::On).unwrap_err().to_string(),
            format!("CPU small: a run needs {missing}, which the table does not give")
        );
    }
    let light_only = SMALL.replace("to = \"slow\"\n", "to = \"slow\"\nheavy = false\n");
    let table = CpuTable::parse(&light_only, "small.toml").unwrap();
    assert_eq!(table.missing(), ["rise fast -> slow (heavy)"]);
}

#[test]
fn the_more_specific_rise_wins() {
    let heavy = "[[rise]]\nfrom = \"fast\"\nto = \"slow\"\nheavy = true\nsource = \"our choice\"\n\
                 stages = []\n\n[events]";
    let table = CpuTable::parse(&SMALL.replace("[events]", heavy), "small.toml").unwrap();
    assert_eq!(table.transition_cost_ns(0, 1, true, false), Some(0));
    assert_eq!(table.transition_cost_ns(0, 1, false, false), Some(11_125));
    assert_eq!(table.transitions().len(), 2);
}

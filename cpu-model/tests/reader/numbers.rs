//! Frequencies, rows, counts and numbers.

use super::{check, message};

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
fn cores_of_low_priority_are_some_of_a_package_and_have_a_frequency_at_each_level() {
    let capped = |cores: &str, mhz: &str| {
        let section = format!(
            "[low_priority]\nsource = \"s\"\ncores = {cores}\nmhz = {{ {mhz} }}\n\n[license]"
        );
        message("[license]", &section)
    };
    let file = "small.toml:";
    assert_eq!(
        capped("4", "fast = 2000, slow = 1900"),
        format!("{file}38: low_priority.cores: found 4, expected a whole number from 1 to 3")
    );
    assert_eq!(
        capped("2", "fast = 2000"),
        format!("{file}39: low_priority.mhz: found nothing for level slow, expected all levels")
    );
    assert_eq!(
        capped("2", "fast = 1900, slow = 2000"),
        format!(
            "{file}39: low_priority.mhz: found 2000 MHz at level slow above 1900 MHz at a faster \
             level, expected frequencies that never rise with the level"
        )
    );
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

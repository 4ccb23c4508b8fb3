//! The reader on arbitrary and on damaged text: no panic, one sentence, sound models.

use cpu_model::{CpuModel, CpuTable, CpuTableError, TurboMode, embedded};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A change to the text of a table.
#[derive(Clone, Debug)]
enum Damage {
    DeleteLine(Index),
    RepeatLine(Index),
    SwapLines(Index, Index),
    Truncate(Index),
    /// The n-th number, quoted string or bare word becomes something else.
    Replace(Index, String),
    Insert(Index, String),
}

fn any_damage() -> impl Strategy<Value = Damage> {
    let nasty = select(vec![
        "-1",
        "0",
        "1",
        "2",
        "7",
        "0.25",
        "1e999",
        "1e3",
        "nan",
        "inf",
        "99999999999999999999",
        "4294967295",
        "0xffffffff",
        "true",
        "\"\"",
        "\"avx2\"",
        "\"halt\"",
        "[]",
        "{}",
        "[[[[",
        "1979-05-27",
        "\u{1b}[31m",
        "\u{0}",
        "\u{202e}",
        "[rise]",
        "=",
        ",",
        "\"\"\"",
        "\n",
    ]);
    let text = prop_oneof![nasty.prop_map(str::to_owned), "\\PC{0,12}"];
    prop_oneof![
        any::<Index>().prop_map(Damage::DeleteLine),
        any::<Index>().prop_map(Damage::RepeatLine),
        any::<(Index, Index)>().prop_map(|(a, b)| Damage::SwapLines(a, b)),
        any::<Index>().prop_map(Damage::Truncate),
        (any::<Index>(), text.clone()).prop_map(|(at, text)| Damage::Replace(at, text)),
        (any::<Index>(), text).prop_map(|(at, text)| Damage::Insert(at, text)),
    ]
}

fn apply(text: &str, damage: &Damage) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return text.to_owned();
    }
    match damage {
        Damage::DeleteLine(at) => {
            lines.remove(at.index(lines.len()));
        }
        Damage::RepeatLine(at) => {
            let at = at.index(lines.len());
            lines.insert(at, lines[at]);
        }
        Damage::SwapLines(a, b) => {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        Damage::Truncate(at) => return text.chars().take(at.index(text.len())).collect(),
        Damage::Replace(at, with) => return replace_word(text, *at, with),
        Damage::Insert(at, with) => {
            let at = at.index(text.len());
            let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap();
            return format!("{}{with}{}", &text[..at], &text[at..]);
        }
    }
    lines.join("\n")
}

fn replace_word(text: &str, at: Index, with: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && !"-._\"".contains(c))
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return text.to_owned();
    }
    let word = at.get(&words);
    let start = word.as_ptr() as usize - text.as_ptr() as usize;
    format!("{}{with}{}", &text[..start], &text[start + word.len()..])
}

/// One sentence without control characters, and a line that exists.
fn assert_readable(error: &CpuTableError, text: &str) {
    let message = error.to_string();
    assert!(!message.chars().any(char::is_control), "{message:?}");
    if let CpuTableError::Invalid { line, field, problem, .. } = error {
        assert!((1..=text.matches('\n').count() + 1).contains(line), "line {line}");
        assert!(!field.is_empty() && !problem.is_empty());
    }
}

fn assert_sound(model: &CpuModel) {
    let turbo = &model.turbo;
    assert!((1..=6).contains(&turbo.levels) && (1..=16).contains(&turbo.rows));
    let (rows, levels) = (turbo.rows as usize, turbo.levels as u8);
    assert!(turbo.cores_max[..rows].is_sorted_by(|a, b| a < b));
    assert_eq!(turbo.cores_max[rows - 1], model.cores_per_package);
    for row in 0..rows {
        for level in 0..levels {
            let khz = turbo.khz(row, level);
            assert!(khz > 0 && khz <= 20_000_000);
            assert!(level == 0 || khz <= turbo.khz(row, level - 1));
            assert!(row == 0 || khz <= turbo.khz(row - 1, level));
            for from in 0..level {
                assert!(model.transition_cost_ns(from, level, true, false) <= 6_000_000_000);
            }
        }
    }
    assert!(model.demand.iter().flatten().all(|rule| rule.level < levels));
}

fn check(text: &str) {
    let table = match CpuTable::parse(text, "damaged.toml") {
        Ok(table) => table,
        Err(error) => return assert_readable(&error, text),
    };
    let _ = (table.sources(), table.transitions());
    for turbo in [TurboMode::On, TurboMode::Off] {
        match table.model(turbo) {
            Ok(model) => assert_sound(&model),
            Err(CpuTableError::Missing { values, .. }) => {
                assert!(values.iter().all(|value| table.missing().contains(value)));
                assert!(!values.is_empty());
            }
            Err(error) => panic!("{error}"),
        }
    }
}

proptest! {
    #[test]
    fn damaged_tables_are_read_or_refused_in_one_sentence(
        which in any::<Index>(),
        damages in proptest::collection::vec(any_damage(), 1..5),
    ) {
        let mut text = which.get(embedded()).1.to_owned();
        for damage in &damages {
            text = apply(&text, damage);
        }
        check(&text);
    }

    #[test]
    fn arbitrary_text_is_refused_in_one_sentence(text in "(\\PC|\n|[\\[\\]{}=\",.#]){0,200}") {
        check(&text);
    }

    #[test]
    fn arbitrary_names_are_answered_in_one_sentence(name in ".{0,80}") {
        if let Err(error) = CpuTable::by_name(&name) {
            assert_readable(&error, "");
        }
    }
}

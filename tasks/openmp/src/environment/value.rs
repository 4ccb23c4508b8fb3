//! The values of single variables; `None` for a value that the variable does not take.

use super::{Kind, Offload, Schedule, Show, Wait};

/// A number from 0 that C's `int` can hold.
pub(super) fn number(text: &str) -> Option<u32> {
    let number: u32 = text.strip_prefix('+').unwrap_or(text).trim().parse().ok()?;
    (number <= i32::MAX as u32).then_some(number)
}

pub(super) fn positive(text: &str) -> Option<u32> {
    number(text).filter(|&number| number > 0)
}

/// One of these words, whatever their case.
pub(super) fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Option<T> {
    words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|&(_, value)| value)
}

pub(super) fn boolean(text: &str) -> Option<bool> {
    let words = [
        ("true", true),
        ("false", false),
        ("1", true),
        ("0", false),
        ("yes", true),
        ("no", false),
        ("on", true),
        ("off", false),
    ];
    word(text, &words)
}

pub(super) fn show(text: &str) -> Option<Show> {
    let verbose = word(text, &[("verbose", Show::Verbose)]);
    let show = |yes| if yes { Show::Standard } else { Show::Nothing };
    verbose.or_else(|| boolean(text).map(show))
}

pub(super) fn wait(text: &str) -> Option<Wait> {
    word(text, &[("active", Wait::Active), ("passive", Wait::Passive)])
}

pub(super) fn offload(text: &str) -> Option<Offload> {
    let words = [
        ("disabled", Offload::Disabled),
        ("default", Offload::Default),
        ("mandatory", Offload::Mandatory),
    ];
    word(text, &words)
}

/// A list between commas, with at least one item.
pub(super) fn list<T>(text: &str, item: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(',').map(|text| item(text.trim())).collect()
}

pub(super) fn schedule(text: &str) -> Option<Schedule> {
    let (modifier, rest) = match text.split_once(':') {
        Some((modifier, rest)) => {
            let is_monotonic = [("monotonic", true), ("nonmonotonic", false)];
            (Some(word(modifier.trim(), &is_monotonic)?), rest)
        }
        None => (None, text),
    };
    let (kind, chunk) = match rest.split_once(',') {
        // 0 is no chunk, as in libgomp.
        Some((kind, chunk)) if chunk.trim() != "0" => (kind, Some(positive(chunk.trim())?)),
        Some((kind, _)) => (kind, None),
        None => (rest, None),
    };
    let kinds = [
        ("static", Kind::Static),
        ("dynamic", Kind::Dynamic),
        ("guided", Kind::Guided),
        ("auto", Kind::Auto),
    ];
    let kind = word(kind.trim(), &kinds)?;
    // Without a chunk, dynamic and guided give out single iterations (OpenMP 5.2, table 11.1).
    let default = if matches!(kind, Kind::Dynamic | Kind::Guided) { 1 } else { 0 };
    let chunk = chunk.map_or(default, |chunk| chunk as i32);
    Some(Schedule { kind, is_monotonic: modifier.unwrap_or(kind == Kind::Static), chunk })
}

/// Bytes; a number without a letter counts in `unit`.
pub(super) fn size(text: &str, unit: usize) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => unit,
        "B" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        "T" | "TB" => 1 << 40,
        _ => return None,
    };
    digits.trim().parse::<usize>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

const FOREVER: [(&str, u64); 3] =
    [("infinite", u64::MAX), ("infinity", u64::MAX), ("inf", u64::MAX)];

/// Rounds of waiting, in thousands and so on where a letter says so.
pub(super) fn spins(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count = || {
        let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
            "" => 1,
            "k" => 1_000,
            "m" => 1_000_000,
            "g" => 1_000_000_000,
            "t" => 1_000_000_000_000,
            _ => return None,
        };
        digits.trim().parse::<u64>().ok()?.checked_mul(unit)
    };
    word(text, &FOREVER).or_else(count)
}

/// Microseconds; a number without a unit counts milliseconds.
pub(super) fn time_us(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let time = || {
        let unit = word(&text[digits.len()..], &[("", 1_000), ("ms", 1_000), ("us", 1)])?;
        digits.trim().parse::<u64>().ok()?.checked_mul(unit)
    };
    word(text, &FOREVER).or_else(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_fit_an_int() {
        assert_eq!((number("0"), positive("0")), (Some(0), None));
        assert_eq!((number("2147483647"), number("2147483648")), (Some(0x7fff_ffff), None));
        assert_eq!((number("-1"), number("1.5"), number("")), (None, None, None));
    }

    #[test]
    fn a_size_without_a_letter_counts_in_the_variables_unit() {
        assert_eq!((size("4", 1 << 10), size("4", 1)), (Some(4096), Some(4)));
        assert_eq!((size("4 m", 1), size("4B", 1 << 10)), (Some(4 << 20), Some(4)));
        assert_eq!((size("4x", 1), size("M", 1), size("0", 1)), (None, None, None));
        assert_eq!(size("99999999999T", 1), None);
    }

    #[test]
    fn only_static_keeps_the_order_of_iterations_by_itself() {
        let of = |kind, is_monotonic, chunk| Some(Schedule { kind, is_monotonic, chunk });
        assert_eq!(schedule("STATIC"), of(Kind::Static, true, 0));
        assert_eq!(schedule("dynamic"), of(Kind::Dynamic, false, 1));
        assert_eq!(schedule("monotonic:guided, 8"), of(Kind::Guided, true, 8));
        assert_eq!(
            (schedule("dynamic,0"), schedule("static, 0")),
            (schedule("dynamic"), schedule("static"))
        );
        assert_eq!((schedule("dynamic,-1"), schedule("runtime")), (None, None));
    }

    #[test]
    fn times_are_milliseconds_unless_they_say_otherwise() {
        assert_eq!((time_us("200"), time_us("20us")), (Some(200_000), Some(20)));
        assert_eq!((time_us("infinite"), time_us("5 min")), (Some(u64::MAX), None));
        assert_eq!((spins("30k"), spins("INFINITY")), (Some(30_000), Some(u64::MAX)));
    }
}

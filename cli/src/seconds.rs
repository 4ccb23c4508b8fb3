//! Times that flags take, in seconds.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Reads seconds, with or without their unit, such as `1.5` and `25s`.
pub fn seconds(text: &str, range: RangeInclusive<f64>) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    let seconds = number.parse().ok().filter(|seconds| range.contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("expected {}s to {}s", range.start(), range.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_in_range_and_have_no_other_unit() {
        let read = |text| seconds(text, 2.0..=600.0).ok();
        assert_eq!(read("25s"), Some(Duration::from_secs(25)));
        assert_eq!(read("2.5"), Some(Duration::from_millis(2500)));
        for wrong in ["1", "-1", "601s", "nan", "inf", "5ms", "s", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}

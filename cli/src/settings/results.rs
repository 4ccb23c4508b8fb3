//! Settings of what results show.

use std::str::FromStr;

use clap::Args;

/// The heading of these settings.
pub const GROUP: &str = "Histories of results (compare)";

/// What histories of results show.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = GROUP)]
pub struct Results {
    /// The time of the runs that the histories show, in seconds; the reader of the page chooses
    /// within this range
    #[arg(long, value_name = "FROM..TO", default_value = "0..0.4")]
    pub shown: Shown,
}

/// A time range of simulated runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its beginning.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

impl FromStr for Shown {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        const LONGEST_S: f64 = 1e6;
        let wrong = || format!("expected FROM..TO in seconds, 0 <= FROM < TO <= {LONGEST_S}");
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let time_ns = |text: &str| {
            let time_s = text.parse().ok().filter(|time_s| (0.0..=LONGEST_S).contains(time_s));
            time_s.map(|time_s: f64| (time_s * 1e9) as u64).ok_or_else(wrong)
        };
        let (from_ns, to_ns) = (time_ns(from)?, time_ns(to)?);
        if from_ns < to_ns { Ok(Self { from_ns, to_ns }) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_range_has_a_beginning_and_an_end() {
        let shown: Shown = "0.5..1.25".parse().unwrap();
        assert_eq!((shown.from_ns, shown.to_ns), (500_000_000, 1_250_000_000));
        for wrong in ["", "1", "1..", "..1", "2..1", "1..1", "-1..1", "0..nan", "0..1e9"] {
            assert!(wrong.parse::<Shown>().is_err(), "{wrong}");
        }
    }
}

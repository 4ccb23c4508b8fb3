//! When does the clock rise after the last wide instruction?

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The timeout of D's 2-competitive policy (D 5.3): about the break-even time of heavy 512-bit
/// instructions on a Xeon Gold 6130 whose cores are all active.
pub const TWO_COMPETITIVE_NS: u64 = 150_000;

/// A frequency policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The CPU's own: the holds of its table.
    Stock,
    /// A timeout in ns: a level is given up when nothing has demanded it for that time.
    Timeout(u64),
    /// Every level is held for [`TWO_COMPETITIVE_NS`].
    TwoCompetitive,
    /// A level is held for its break-even time at the current turbo row, in which times without
    /// a running task do not count (ours).
    Adaptive,
    /// The cheapest changes of the clock, with the whole future known.
    Oracle,
}

impl Policy {
    /// D's three policies and ours.
    pub const ALL: [Self; 4] = [Self::Stock, Self::TwoCompetitive, Self::Adaptive, Self::Oracle];
}

impl fmt::Display for Policy {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stock => to.write_str("stock"),
            Self::Timeout(ns) => write!(to, "timeout={}us", ns / 1000),
            Self::TwoCompetitive => to.write_str("2-competitive"),
            Self::Adaptive => to.write_str("adaptive"),
            Self::Oracle => to.write_str("oracle"),
        }
    }
}

/// A text that names no policy.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected stock, timeout=N with us (timeout=300us), 2-competitive, adaptive or oracle")]
pub struct ParsePolicyError;

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|policy| policy.to_string() == text);
        let timeout = || {
            let us = text.strip_prefix("timeout=")?.strip_suffix("us")?;
            // A day is beyond any hold.
            us.parse::<u64>().ok().filter(|&us| us <= 86_400_000_000)
        };
        named.or_else(|| timeout().map(|us| Self::Timeout(us * 1000))).ok_or(ParsePolicyError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_printed() {
        for policy in Policy::ALL.into_iter().chain([Policy::Timeout(500_000)]) {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        for bad in ["", "timeout", "timeout=5", "timeout=-5us", "timeout=99999999999999us"] {
            assert_eq!(bad.parse::<Policy>(), Err(ParsePolicyError));
        }
    }
}

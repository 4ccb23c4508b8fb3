//! A set of CPUs, as the kernel writes it: `0-3,8`.

use std::collections::BTreeSet;
use std::str::FromStr;

/// No machine has a CPU of a higher number.
const CPUS_MAX: usize = 65_536;

/// CPUs by the kernel's numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList(BTreeSet<usize>);

/// What is wrong with a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no list of CPUs such as `0-3,8`")]
pub struct CpuListError {
    text: String,
}

impl CpuList {
    /// Whether a CPU is in it.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let number = |text: &str| text.trim().parse().ok().filter(|&cpu| cpu < CPUS_MAX);
        let range = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(first..=last)
        };
        let parts =
            text.trim().split(',').filter(|part| !text.trim().is_empty() || !part.is_empty());
        let ranges: Option<Vec<_>> = parts.map(range).collect();
        let ranges = ranges.ok_or_else(|| CpuListError { text: text.trim().to_owned() })?;
        Ok(Self(ranges.into_iter().flatten().collect()))
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_numbers_make_a_set_and_nothing_makes_none() {
        let list: CpuList = "0-2, 8\n".parse().unwrap();
        assert_eq!(list.0, BTreeSet::from([0, 1, 2, 8]));
        assert_eq!("\n".parse(), Ok(CpuList::default()));
    }

    #[test]
    fn what_is_no_list_is_told() {
        for text in ["3-1", "a", "1,,2", "-1", "99999999", "cpus.txt"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }
}

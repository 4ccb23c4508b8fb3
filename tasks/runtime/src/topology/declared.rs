//! Machines that a user declares: `2x24`, two NUMA domains of 24 CPUs.

use std::str::FromStr;

use super::Topology;

/// More workers than any machine has; a mistyped number fails before all memory is taken.
const CPUS_MAX: usize = 65_536;

/// The mistake in a declared machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` declares no machine; expected CPUs, as in `8`, or domains x CPUs, as in `2x24`, or \
     domains x caches x CPUs, as in `2x4x6`, with 1 to {CPUS_MAX} CPUs"
)]
pub struct TopologyError(String);

impl FromStr for Topology {
    type Err = TopologyError;

    /// Reads `8` (CPUs), `2x24` (domains x CPUs of each) or `2x4x6` (domains x caches x CPUs).
    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let wrong = || TopologyError(text.to_string());
        let numbers: Vec<usize> =
            text.split('x').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let (domains, caches, each) = match numbers[..] {
            [cpus] => (1, 1, cpus),
            [domains, cpus] => (domains, 1, cpus),
            [domains, caches, cpus] => (domains, caches, cpus),
            _ => return Err(wrong()),
        };
        let cpus = domains.checked_mul(caches).and_then(|groups| groups.checked_mul(each));
        let cpus = cpus.filter(|&cpus| cpus > 0 && cpus <= CPUS_MAX).ok_or_else(wrong)?;
        let groups = |of: usize| (0..cpus / of).map(|n| n * of..(n + 1) * of).collect::<Vec<_>>();
        Ok(Self::from_groups((0..cpus).collect(), groups(each), groups(caches * each)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_domains_of_24_cpus_are_two_levels() {
        let machine: Topology = "2x24".parse().unwrap();
        assert_eq!(machine.cpus(), 48);
        assert_eq!(machine.levels, vec![vec![0..24, 24..48], vec![0..48]]);
        assert_eq!(machine.domain_of(24), 1);
    }

    #[test]
    fn caches_are_a_level_only_where_they_divide_a_domain() {
        let divided: Topology = "2x2x3".parse().unwrap();
        assert_eq!(divided.levels.len(), 3);
        let whole: Topology = "2x1x6".parse().unwrap();
        assert_eq!(whole.levels.len(), 2);
    }

    #[test]
    fn a_text_that_declares_no_machine_is_refused_with_an_example() {
        for text in ["", "x", "0", "2x0", "2x24x1x1", "999999x999999", "-1", "two"] {
            let error = text.parse::<Topology>().unwrap_err();
            let said = error.to_string();
            assert!(["`8`", "`2x24`", "`2x4x6`"].iter().all(|one| said.contains(one)), "{said}");
        }
    }

    #[test]
    fn a_smaller_machine_keeps_its_groups() {
        let machine: Topology = "2x24".parse().unwrap();
        assert_eq!(machine.resized(30).levels, vec![vec![0..24, 24..30], vec![0..30]]);
        assert_eq!(machine.resized(50).cpus(), 50);
    }
}

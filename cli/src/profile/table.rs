//! Which CPU table says what the recorded machine loses to wide instructions?

use cpu_model::embedded;

use crate::compare::REPLAY_CPU;

/// The CPU that losses of clock are computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuOf {
    /// The table of the recorded CPU itself.
    Machine(&'static str),
    /// A CPU that has no license levels, so that no table of levels holds for it.
    NoLevels,
    /// The recorded CPU has no table here: losses are as if it were another one.
    AsIf(&'static str),
}

impl CpuOf {
    /// By the name that the machine gives its CPU (`model name` of /proc/cpuinfo).
    pub fn machine(name: &str) -> Self {
        let name = name.to_lowercase();
        let words: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
        // Zen 4 and 5 have no fixed offsets for classes of instructions, by measurements of others.
        if words.contains(&"amd") {
            return Self::NoLevels;
        }
        let is_it = |table: &&str| {
            let is_model = table.chars().any(|c| c.is_ascii_digit());
            is_model && table.split('-').all(|word| words.contains(&word))
        };
        let known = embedded().iter().map(|&(table, _)| table).find(is_it);
        known.map_or(Self::AsIf(REPLAY_CPU), Self::Machine)
    }

    /// The name of the table.
    pub fn table(self) -> &'static str {
        match self {
            Self::Machine(name) | Self::AsIf(name) => name,
            Self::NoLevels => REPLAY_CPU,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_the_table_of_its_model() {
        let of = CpuOf::machine;
        let gold = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz";
        assert_eq!(of(gold), CpuOf::Machine("xeon-gold-6130"));
        assert_eq!(of("AMD EPYC 9R14"), CpuOf::NoLevels);
        assert_eq!(of("Intel(R) Xeon(R) Gold 6131 CPU"), CpuOf::AsIf(REPLAY_CPU));
        assert_eq!(of("Intel(R) Xeon(R) Processor @ 2.60GHz"), CpuOf::AsIf(REPLAY_CPU));
        assert_eq!(of(""), CpuOf::AsIf(REPLAY_CPU));
    }
}

//! Which CPU table says what the recorded machine loses to wide instructions?

use cpu_model::table_of;

use crate::compare::REPLAY_CPU;
use crate::machine;

/// The CPU that losses of clock are computed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuOf {
    /// The table of the recorded CPU itself.
    Machine(&'static str),
    /// A CPU that has no license levels, so that no table of levels holds for it.
    NoLevels,
    /// The recorded CPU has no complete table here: losses are as if it were another one.
    AsIf(&'static str),
}

impl CpuOf {
    /// By the name that the machine gives its CPU (`model name` of /proc/cpuinfo).
    pub fn machine(name: &str) -> Self {
        // Zen 4 and 5 have no fixed offsets for classes of instructions, by measurements of others.
        if name.split_whitespace().any(|word| word == "AMD") {
            return Self::NoLevels;
        }
        let has_all = |_: &&str| machine::own_model(name).is_some();
        table_of(name).filter(has_all).map_or(Self::AsIf(REPLAY_CPU), Self::Machine)
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
        // Its table lacks values.
        assert_eq!(of("Intel(R) Core(TM) i9-7940X CPU @ 3.10GHz"), CpuOf::AsIf(REPLAY_CPU));
    }
}

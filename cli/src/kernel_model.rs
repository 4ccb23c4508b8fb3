//! Which model stands for a kernel's own scheduler?

use clap::ValueEnum;
use simulator::{CfsKernel, EevdfKernel, Scheduler};

/// Models of the schedulers that kernels have.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// CFS, as in Linux up to 5.12
    Cfs,
    /// CFS of Linux 5.13 to 6.5
    #[value(name = "cfs-6.1")]
    Cfs6_1,
    /// EEVDF of Linux 6.6 to 6.16
    #[value(name = "eevdf-6.12")]
    Eevdf6_12,
    /// EEVDF of Linux 6.17 and later
    #[value(name = "eevdf-6.18")]
    Eevdf6_18,
}

impl Model {
    /// The model for the kernel that a recording names, as in `6.18.44-amd64`.
    pub fn of_kernel(release: &str) -> Option<Self> {
        let (major, rest) = release.split_once('.')?;
        let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let version: (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        Some(match version {
            (..=4, _) | (5, ..=12) => Self::Cfs,
            (5, _) | (6, ..=5) => Self::Cfs6_1,
            (6, ..=16) => Self::Eevdf6_12,
            _ => Self::Eevdf6_18,
        })
    }

    /// The simulator's scheduler.
    pub fn scheduler(self) -> Scheduler {
        match self {
            Self::Cfs => Scheduler::Cfs(CfsKernel::V5_9),
            Self::Cfs6_1 => Scheduler::Cfs(CfsKernel::V6_1),
            Self::Eevdf6_12 => Scheduler::Eevdf(EevdfKernel::V6_12),
            Self::Eevdf6_18 => Scheduler::Eevdf(EevdfKernel::V6_18),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_names_its_model() {
        let models = [
            ("5.10.0-30-amd64", Some(Model::Cfs)),
            ("5.15.0-91-generic", Some(Model::Cfs6_1)),
            ("6.1.192-2", Some(Model::Cfs6_1)),
            ("6.5", Some(Model::Cfs6_1)),
            ("6.12.117+deb12", Some(Model::Eevdf6_12)),
            ("6.18.44-fc", Some(Model::Eevdf6_18)),
            ("7.2-rc1", Some(Model::Eevdf6_18)),
            ("unknown", None),
            ("6.x", None),
        ];
        for (release, model) in models {
            assert_eq!(Model::of_kernel(release), model, "{release}");
        }
    }
}

//! Instruction classes: the kind of instructions that a piece of work runs.

use serde::{Deserialize, Serialize};

/// Instruction class. Class is not level: a CPU's table maps class and rate to the level demanded.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// No wide instructions.
    #[default]
    Scalar = 0,
    /// 256-bit integer logic, loads, stores.
    #[serde(rename = "avx2-light")]
    Avx2Light = 1,
    /// 256-bit floating point and multiplication.
    #[serde(rename = "avx2-heavy")]
    Avx2Heavy = 2,
    /// 512-bit integer logic, loads, stores.
    #[serde(rename = "avx512-light")]
    Avx512Light = 3,
    /// 512-bit floating point and multiplication.
    #[serde(rename = "avx512-heavy")]
    Avx512Heavy = 4,
    /// Matrix tiles.
    Amx = 5,
}

/// Number of classes.
pub const CLASSES: usize = 6;

impl Class {
    /// All classes, lightest first.
    pub const ALL: [Self; CLASSES] = [
        Self::Scalar,
        Self::Avx2Light,
        Self::Avx2Heavy,
        Self::Avx512Light,
        Self::Avx512Heavy,
        Self::Amx,
    ];

    /// The name used in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2Light => "avx2-light",
            Self::Avx2Heavy => "avx2-heavy",
            Self::Avx512Light => "avx512-light",
            Self::Avx512Heavy => "avx512-heavy",
            Self::Amx => "amx",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// Register width: 0 = 128 bits, 1 = 256, 2 = 512 and tiles.
    #[must_use]
    pub fn width(self) -> u8 {
        match self {
            Self::Scalar => 0,
            Self::Avx2Light | Self::Avx2Heavy => 1,
            Self::Avx512Light | Self::Avx512Heavy | Self::Amx => 2,
        }
    }

    /// Whether its instructions count as heavy.
    #[must_use]
    pub fn is_heavy(self) -> bool {
        matches!(self, Self::Avx2Heavy | Self::Avx512Heavy | Self::Amx)
    }
}

impl std::fmt::Display for Class {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

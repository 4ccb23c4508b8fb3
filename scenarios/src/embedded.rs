//! The scenarios that are shipped, as part of the program.

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, concat!($name, ".toml"), include_str!(concat!("../files/", $name, ".toml")))),*]
    };
}

const FILES: &[(&str, &str, &str)] = embedded![
    "parsec-x265",
    "parsec-x265-builds",
    "parsec-x265-two-cores",
    "parsec-synthetic",
    "parsec-synthetic-two-cores",
    "parsec-onednn",
    "parsec-onednn-no-ht",
    "parsec-onednn-four-cores",
    "parsec-onednn-four-cores-no-ht",
    "nginx-crypto",
    "nginx-crypto-no-ht",
    "nginx-crypto-four-cores",
    "nginx-crypto-four-cores-no-ht",
    "phase-changes",
    "memory-bound-phases",
    "pingpong",
    "amx-inference",
    "light512",
    "closed-form-relative",
    "closed-form-isolation",
    "half-load",
    "canary",
];

/// Names of the shipped scenarios, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|&(name, ..)| name)
}

/// File name and text of a shipped scenario.
#[must_use]
pub fn by_name(name: &str) -> Option<(&'static str, &'static str)> {
    FILES.iter().find(|(known, ..)| *known == name).map(|&(_, file, text)| (file, text))
}

//! The study of other frequency policies (D 5.3), on Parsec beside OneDNN and on nginx.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use crate::dvfs;

const SCENARIOS: [&str; 2] = ["parsec-onednn-four-cores", "nginx-crypto-four-cores"];
/// Seeds where no number is asked for.
const REPLICATES: u32 = 8;

/// Means over all programs by policy, with hyper-threads (`ht`) or without (`no-ht`).
pub fn means(threads: &str, seed: u64, replicates: Option<u32>) -> Result<BTreeMap<String, f64>> {
    let mut by_policy: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for scenario in SCENARIOS {
        let scenario =
            if threads == "ht" { scenario.to_owned() } else { format!("{scenario}-{threads}") };
        let found = dvfs::overheads(&scenario, seed, replicates.unwrap_or(REPLICATES));
        for (policy, programs) in found.with_context(|| scenario.clone())? {
            by_policy.entry(policy).or_default().extend(programs.values());
        }
    }
    let mean = |all: Vec<f64>| all.iter().sum::<f64>() / all.len() as f64;
    Ok(by_policy.into_iter().map(|(policy, all)| (policy, mean(all))).collect())
}

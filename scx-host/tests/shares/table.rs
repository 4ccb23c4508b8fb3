//! Runs many configurations; prints a line of CSV for each task, and a summary on standard error.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::configuration::{Configuration, Share};

/// The shares of a configuration, or why its scheduler was ejected.
type Result = std::result::Result<Vec<Share>, String>;

/// Runs the configurations of `count` seeds on all CPUs.
pub fn print(first: u64, count: u64, run: impl Fn(&Configuration) -> Result + Sync) {
    let next = AtomicU64::new(first);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(Configuration, Result)> = std::thread::scope(|scope| {
        let work = || {
            let mut results = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= first + count {
                    return results;
                }
                let configuration = Configuration::random(seed);
                let result = run(&configuration);
                results.push((configuration, result));
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    results.sort_by_key(|(configuration, _)| configuration.seed);
    println!("seed,mode,cpus,task,nice,mask,at_ms,share,ideal,wait_max_ms");
    for (configuration, result) in &results {
        let Configuration { seed, mode, cpus, .. } = configuration;
        match result {
            Err(exit) => println!("{seed},{mode},{cpus},ejected: {exit},,,,,,"),
            Ok(shares) => {
                for (number, share) in shares.iter().enumerate() {
                    println!(
                        "{seed},{mode},{cpus},{number},{},{:#b},{},{:.5},{:.5},{}",
                        share.task.nice,
                        share.task.cpus,
                        share.task.at_ms,
                        share.found,
                        share.ideal,
                        share.wait_max_ms
                    );
                }
            }
        }
    }
    summarise(&results);
}

fn summarise(results: &[(Configuration, Result)]) {
    let ran = || results.iter().filter_map(|(_, result)| result.as_ref().ok());
    let far = |share: &Share| (share.found - share.ideal).abs();
    let mut off: Vec<f64> =
        ran().map(|shares| shares.iter().map(far).fold(0.0, f64::max)).collect();
    off.sort_by(f64::total_cmp);
    if off.is_empty() {
        return;
    }
    let at = |part: f64| off[((off.len() - 1) as f64 * part) as usize];
    let above = |limit: f64| off.iter().filter(|&&off| off > limit).count();
    eprintln!(
        "{} configurations, {} ejected, {} tasks; furthest task of each: median {:.4}, 90 % {:.4}, \
         99 % {:.4}, 99.9 % {:.4}, most {:.4}; above 0.03: {}, above 0.1: {}; longest wait {} ms",
        results.len(),
        results.len() - off.len(),
        ran().flatten().count(),
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0),
        above(0.03),
        above(0.1),
        ran().flatten().map(|share| share.wait_max_ms).max().unwrap_or(0),
    );
}

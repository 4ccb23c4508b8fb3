//! CPU time of busy tasks with random affinity masks, nice values and arrivals, beside the
//! weighted max-min fair shares: a line of CSV for each task, and a summary on standard error.
//!
//! `cargo run --release -p scx-host --example shares -- FIRST_SEED CONFIGURATIONS`

#[path = "../tests/shares/configuration.rs"]
mod configuration;
#[path = "../tests/shares/ideal.rs"]
mod ideal;
#[allow(dead_code)]
#[path = "../tests/host/machine.rs"]
mod machine;

use std::sync::atomic::{AtomicU64, Ordering};

use configuration::{Configuration, Share};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|number| number.parse().expect("a number"));
    let first: u64 = arguments.next().unwrap_or(0);
    let count = arguments.next().unwrap_or(1000);
    let next = AtomicU64::new(first);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut results: Vec<(Configuration, Result<Vec<Share>, String>)> =
        std::thread::scope(|scope| {
            let work = || {
                let mut results = Vec::new();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return results;
                    }
                    let configuration = Configuration::random(seed);
                    let result = configuration.run();
                    results.push((configuration, result));
                }
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
    results.sort_by_key(|(configuration, _)| configuration.seed);
    println!("seed,mode,cpus,task,nice,mask,share,ideal,wait_max_ms");
    for (configuration, result) in &results {
        let Configuration { seed, mode, cpus, .. } = configuration;
        match result {
            Err(exit) => println!("{seed},{mode},{cpus},ejected: {exit},,,,,"),
            Ok(shares) => {
                for (number, share) in shares.iter().enumerate() {
                    println!(
                        "{seed},{mode},{cpus},{number},{},{:#b},{:.5},{:.5},{}",
                        share.task.nice,
                        share.task.cpus,
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

fn summarise(results: &[(Configuration, Result<Vec<Share>, String>)]) {
    let shares: Vec<&Share> =
        results.iter().filter_map(|(_, r)| r.as_ref().ok()).flatten().collect();
    let ejected = results.iter().filter(|(_, result)| result.is_err()).count();
    let mut off: Vec<f64> = results
        .iter()
        .filter_map(|(_, result)| result.as_ref().ok())
        .map(|shares| {
            shares.iter().map(|share| (share.found - share.ideal).abs()).fold(0.0, f64::max)
        })
        .collect();
    off.sort_by(f64::total_cmp);
    let at = |part: f64| off[((off.len() - 1) as f64 * part) as usize];
    eprintln!(
        "{} configurations, {ejected} ejected, {} tasks; furthest task of each: median {:.4}, \
         90 % {:.4}, 99 % {:.4}, 99.9 % {:.4}, most {:.4}; above 0.03: {}; longest wait {} ms",
        results.len(),
        shares.len(),
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0),
        off.iter().filter(|&&off| off > 0.03).count(),
        shares.iter().map(|share| share.wait_max_ms).max().unwrap_or(0),
    );
}

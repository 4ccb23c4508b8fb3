//! How often is what was planted found? `cargo run --release -p silicon --example planted`.
//!
//! Arguments: seeds a machine (100), seconds of model time a run (12), one kind of noise (all). The
//! kind `here` plants on this very machine, with its own noise; it must be asked for, and is meant
//! for a CPU without effects of its own.
//! Prints a row a machine, noise and class: runs, right verdicts, the worst errors of ratio, hold
//! and entry cost, and how many runs were within the goals (ratio within a point of the median of
//! all runs, hold within 5 % or two windows).

#[path = "../tests/planted/truth.rs"]
mod truth;

use silicon::{Modelled, Noise, Planted, Real, characterize, median};
use truth::{Judged, MACHINES, NOISES, judge, model};

/// The noise of this machine, whatever it is.
const HERE: &str = "here";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: f64| {
        arguments.get(index).map_or(default, |text| text.parse().unwrap())
    };
    let (seeds, seconds) = (number(0, 100.0) as u64, number(1, 12.0));
    let kinds: Vec<(&str, Option<Noise>)> = match arguments.get(2).map(String::as_str) {
        Some(HERE) => vec![(HERE, None)],
        only => NOISES
            .into_iter()
            .filter(|(kind, _)| only.is_none_or(|only| only == *kind))
            .map(|(kind, noise)| (kind, Some(noise)))
            .collect(),
    };
    println!(
        "machine,hold_spread,noise,class,planted,runs,right,ratio_within_goal,hold_within_goal,\
         ratio_off_points_max,hold_off_us_max,entry_off_us_max"
    );
    for (name, spread) in MACHINES {
        for (kind, noise) in &kinds {
            // Holds that vary are planted in modelled machines alone.
            if noise.is_none() && spread > 0.0 {
                continue;
            }
            let run = |seed| {
                let model = model(name);
                let mut silent = |_| {};
                let findings = if let Some(noise) = noise {
                    let noise = Noise { hold_spread: spread, ..*noise };
                    let mut machine = Modelled::new(model.clone(), noise, seed);
                    characterize(&mut machine, seconds, seed, &mut silent)
                } else {
                    let mut machine = Planted::new(Real::new(None, None).unwrap(), model.clone());
                    characterize(&mut machine, seconds, seed, &mut silent)
                };
                judge(&findings, &model, spread)
            };
            let runs: Vec<Vec<Judged>> = (0..seeds).map(run).collect();
            for class in 0..runs[0].len() {
                let of_class: Vec<&Judged> = runs.iter().map(|run| &run[class]).collect();
                println!("{name},{spread},{kind},{}", row(&of_class));
            }
        }
    }
}

fn row(runs: &[&Judged]) -> String {
    let worst = |values: Vec<f64>| values.iter().map(|off| off.abs()).fold(0.0, f64::max);
    let ratios: Vec<f64> = runs.iter().filter_map(|run| run.ratio_off_points).collect();
    let middle = median(&ratios);
    let ratio_within = ratios.iter().filter(|off| (*off - middle).abs() <= 1.0).count();
    let holds: Vec<(f64, f64)> = runs.iter().filter_map(|run| run.hold_off_us).collect();
    let hold_within = holds.iter().filter(|(off, allowed)| off.abs() <= *allowed).count();
    let planted = if runs[0].is_affected { "affected" } else { "unaffected" };
    format!(
        "{},{planted},{},{},{ratio_within},{hold_within},{:.3},{:.2},{:.2}",
        runs[0].class,
        runs.len(),
        runs.iter().filter(|run| run.is_right).count(),
        worst(ratios),
        worst(holds.iter().map(|(off, _)| *off).collect()),
        worst(runs.iter().filter_map(|run| run.entry_off_us).collect()),
    )
}

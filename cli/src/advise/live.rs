//! Advice from this machine.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use silicon::advice::{self, Alternation};

use super::progress::Progress;
use super::switch::Switch;
use super::{Args, Report, WINDOW_LIVE_MS};
use crate::terminal;

/// Pairs at most, where the user does not say.
const PAIRS: u32 = 100;
/// The width of the interval that suffices: the half-width of one of no difference is less.
const HALF_WIDTH_POINTS: f64 = 0.4;

/// Switches specialization of the scheduler that runs here.
pub fn run(args: &Args) -> Result<Report> {
    args.refuse_simulation()?;
    let progress = Progress::open(args.progress.as_deref())?;
    let mut switch = Switch::connect(Path::new(crate::scheduler_socket::STATS))?;
    let window_ms = args.window.unwrap_or(WINDOW_LIVE_MS);
    let pairs = args.pairs.unwrap_or(PAIRS);
    let plan = args.plan(window_ms, pairs as usize, HALF_WIDTH_POINTS);
    let bar = terminal::progress(pairs.into(), "measuring");
    let start = Instant::now();
    let now_ns = || start.elapsed().as_nanos() as u64;
    let mut alternation = Alternation::new(plan, 0);
    let mut is_on = true;
    while let Some(at_ns) = alternation.acts_ns() {
        sleep(Duration::from_nanos(at_ns.saturating_sub(now_ns())));
        let work = progress.read()?;
        let turns_on = alternation.act(now_ns(), work);
        if turns_on != is_on {
            switch.turn(turns_on)?;
            is_on = turns_on;
        }
        bar.set_position(alternation.pairs().len() as u64);
    }
    bar.finish_and_clear();
    let advice = advice::advise(alternation.pairs().to_vec()).context("--live")?;
    Ok(Report {
        schema: 1,
        work: None,
        cpu: None,
        scheduler: switch.mode().to_owned(),
        counted: progress.name().to_owned(),
        window_ms,
        seed: args.run.seed,
        switched: Some(advice),
        not_switched: None,
        whole_runs: None,
    })
}

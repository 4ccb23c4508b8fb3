//! `--observe`: prints the observations at each interval of `--stats`, and at the end.

use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use scheduler::kernel::Kernel;
use scheduler::observe::{Observer, text};

use crate::{Args, setup, signals};

/// The hold of a level where no CPU table has one: that of Skylake (D 3.2.3).
const HOLD: Duration = Duration::from_micros(670);
/// Longest wait in one call of `poll`.
const LONG: Duration = Duration::from_secs(3600);

/// Observes until a signal comes, or for the time of `--for`.
pub fn run(args: &Args, kernel: &Kernel) -> Result<ExitCode> {
    let hold = setup::hold(args)?.unwrap_or(HOLD);
    let signals = signals()?;
    let observer = Observer::start(kernel, hold)?;
    let start = Instant::now();
    let mut next = args.stats;
    loop {
        let now = start.elapsed();
        let left = args.duration.map_or(LONG, |limit| limit.saturating_sub(now));
        let until_next = next.map_or(LONG, |time| time.saturating_sub(now));
        let wait = left.min(until_next).min(LONG);
        if left.is_zero() {
            break;
        }
        let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::ZERO);
        let mut polled = [PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut polled, timeout) {
            Err(Errno::EINTR) => continue,
            Ok(0) => {}
            Ok(_) => break,
            Err(error) => return Err(error).context("waiting for signals"),
        }
        let now = start.elapsed();
        if next.is_some_and(|time| time <= now) {
            println!("{}", text(&observer.observed(), now, hold));
            next = args.stats.map(|every| now + every);
        }
    }
    print!("{}", text(&observer.observed(), start.elapsed(), hold));
    Ok(ExitCode::SUCCESS)
}

//! Which scheduler decides here, as far as the models know it.

use std::fs;

use nix::time::{ClockId, clock_getres};
use simulator::{EevdfKernel, Scheduler};

/// The scheduler of this machine and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnScheduler {
    /// The model of it; `None` where a `sched_ext` scheduler decides.
    pub model: Option<Scheduler>,
    /// Kernel release, such as `6.18.44`.
    pub release: String,
    /// Timer interrupts a second.
    pub hz: u32,
}

/// Looks.
#[must_use]
pub fn own_scheduler() -> OwnScheduler {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let is_replaced = fs::read_to_string("/sys/kernel/sched_ext/state")
        .is_ok_and(|state| state.trim() == "enabled");
    OwnScheduler {
        model: if is_replaced { None } else { Some(model(release.trim())) },
        release: release.trim().to_owned(),
        hz: hz(),
    }
}

/// The fair class of a release: EEVDF since 6.6; its placement and slices changed after 6.12.
fn model(release: &str) -> Scheduler {
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    match version {
        (..6, _) | (6, ..6) => Scheduler::Cfs,
        (6, 6..=12) => Scheduler::Eevdf(EevdfKernel::V6_12),
        _ => Scheduler::Eevdf(EevdfKernel::V6_18),
    }
}

/// The coarse clocks advance with each tick (`clock_getres` of kernel/time/posix-timers.c).
fn hz() -> u32 {
    const USUAL: u32 = 250;
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE);
    tick.ok()
        .and_then(|tick| u32::try_from(1_000_000_000 / tick.tv_nsec().max(1)).ok())
        .filter(|hz| (100..=1000).contains(hz))
        .unwrap_or(USUAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_have_the_scheduler_that_was_in_them() {
        assert_eq!(model("5.10.0-28-amd64"), Scheduler::Cfs);
        assert_eq!(model("6.1.0-18"), Scheduler::Cfs);
        assert_eq!(model("6.6.1"), Scheduler::Eevdf(EevdfKernel::V6_12));
        assert_eq!(model("6.18.44-x"), Scheduler::Eevdf(EevdfKernel::V6_18));
        assert_eq!(model("7.0-rc1"), Scheduler::Eevdf(EevdfKernel::V6_18));
    }
}

//! How to wait for something that may come soon.

use std::time::Duration;

use crate::sync::{Instant, spin_loop, yield_now};

/// Steps of a pause at most.
const SPINS_MAX: u32 = 128;
/// How long who waits keeps its CPU from others.
const ALONE: Duration = Duration::from_micros(5);

/// The pauses of one who looks again and again: each twice as long as the last, then as long as
/// the last, and at last others may have the CPU meanwhile.
pub struct Pause {
    spins: u32,
    patience: Duration,
    /// When they became as long as they get.
    since: Option<Instant>,
}

impl Pause {
    /// Of one who looks so long.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self { spins: 1, patience, since: None }
    }

    /// Pauses, or stops short when `stop` holds. Returns false when patience is at its end.
    pub fn lasts(&mut self, stop: impl Fn() -> bool) -> bool {
        if self.patience.is_zero() {
            return false;
        }
        for _ in 0..self.spins {
            if stop() {
                return true;
            }
            spin_loop();
        }
        if self.spins < SPINS_MAX {
            self.spins *= 2;
            return true;
        }
        let lasted = self.since.get_or_insert_with(Instant::now).elapsed();
        let lasts = lasted < self.patience;
        if lasts && lasted > ALONE {
            // Whoever we wait for may want this CPU.
            yield_now();
        }
        lasts
    }
}

/// Looks between two looks at the clock.
const LOOKS: u32 = 16;

/// Whether something holds before `patience` is over that mostly comes sooner: who waits does not
/// leave the CPU meanwhile, nor begins anything else.
pub fn comes_soon(patience: Duration, holds: impl Fn() -> bool) -> bool {
    let mut since = None;
    loop {
        for _ in 0..LOOKS {
            if holds() {
                return true;
            }
            spin_loop();
        }
        if since.get_or_insert_with(Instant::now).elapsed() > patience {
            return false;
        }
    }
}

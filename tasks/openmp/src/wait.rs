//! How a thread waits for another that is to come soon.

pub(crate) mod oversubscription;
pub(crate) mod yielding;

use std::time::Duration;

/// Checks without a system call.
const SPINS: u32 = 200;
/// Checks between which the thread yields its CPU.
const YIELDS: u32 = 50;
/// The first sleep; each one is twice as long as the last.
const SLEEP_MIN: Duration = Duration::from_micros(20);
/// The longest of these sleeps.
const SLEEP_MAX: Duration = Duration::from_micros(500);

/// Waits until something holds that another thread brings about soon.
///
/// Threads may be more than CPUs: the other thread must get one.
pub(crate) fn until(holds: impl Fn() -> bool) {
    for _ in 0..SPINS {
        if holds() {
            return;
        }
        std::hint::spin_loop();
    }
    for _ in 0..YIELDS {
        std::thread::yield_now();
        if holds() {
            return;
        }
    }
    let mut sleep = SLEEP_MIN;
    while !holds() {
        std::thread::sleep(sleep);
        sleep = (sleep * 2).min(SLEEP_MAX);
    }
}

//! How a thread waits for another that is to come soon.

pub(crate) mod crowd;
pub(crate) mod turns;

use std::time::Duration;

/// Looks at what it waits for, without a word to the kernel.
const SPINS: u32 = 200;
/// Then it leaves the CPU to whoever can run, so often.
const YIELDS: u32 = 50;
/// Then it sleeps, longer each time.
const SLEEP_MIN: Duration = Duration::from_micros(20);
/// As above, at most.
const SLEEP_MAX: Duration = Duration::from_micros(500);

/// Waits until something holds that another thread brings about soon.
///
/// Threads may be more than CPUs: whoever is waited for must get one.
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

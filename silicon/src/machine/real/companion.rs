//! A thread on another CPU: asleep, busy, or observing its own frequency.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use kernels::{Tsc, chain};

use super::pinning::pin;

/// The work of a companion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Mode {
    Sleep = 0,
    Work = 1,
    Observe = 2,
    End = 3,
}

/// Most windows an observer keeps: several times those of a burst.
const WINDOWS_MAX: usize = 16_384;

struct Shared {
    /// The requested mode: written by the machine.
    asked: AtomicU32,
    /// The present mode: written by the companion once it has begun the work.
    does: AtomicU32,
    /// Begin and end of each window of the last observation, in ticks.
    log: Mutex<Vec<(u64, u64)>>,
}

/// A thread on another CPU.
pub(super) struct Companion {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Companion {
    /// Starts a sleeping companion. If the process loses the CPU, the companion stays on any other.
    pub(super) fn start(cpu: u32, tsc: Tsc, steps: u64) -> Self {
        let shared = Arc::new(Shared {
            asked: AtomicU32::new(Mode::Sleep as u32),
            does: AtomicU32::new(Mode::Sleep as u32),
            log: Mutex::new(Vec::with_capacity(WINDOWS_MAX)),
        });
        let its = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let _ = pin(cpu);
            live(&its, &tsc, steps);
        });
        Self { shared, thread: Some(thread) }
    }

    /// Requests another mode.
    pub(super) fn ask(&self, mode: Mode) {
        let before = self.shared.asked.swap(mode as u32, Ordering::Release);
        if before == Mode::Sleep as u32
            && mode != Mode::Sleep
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
    }

    /// Waits until the requested mode has begun, up to a limit: another process may occupy the CPU.
    pub(super) fn await_obedience(&self, tsc: &Tsc, patience: Duration) {
        let asked = self.shared.asked.load(Ordering::Relaxed);
        let late = tsc.now() + tsc.ticks(patience);
        while self.shared.does.load(Ordering::Acquire) != asked && tsc.now() < late {
            std::hint::spin_loop();
        }
    }

    /// Ends an observation and returns its windows, begin and end in ticks.
    pub(super) fn report(&self, tsc: &Tsc, patience: Duration) -> Vec<(u64, u64)> {
        self.ask(Mode::Work);
        self.await_obedience(tsc, patience);
        self.shared.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.ask(Mode::End);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic of this thread carries no value that the owner needs.
            let _ = thread.join();
        }
    }
}

fn live(shared: &Shared, tsc: &Tsc, steps: u64) {
    loop {
        let asked = shared.asked.load(Ordering::Acquire);
        match asked {
            asked if asked == Mode::Sleep as u32 => {
                shared.does.store(asked, Ordering::Release);
                std::thread::park();
            }
            asked if asked == Mode::Work as u32 => {
                shared.does.store(asked, Ordering::Release);
                chain::additions(steps);
            }
            asked if asked == Mode::Observe as u32 => observe(shared, tsc, steps),
            _ => return,
        }
    }
}

fn observe(shared: &Shared, tsc: &Tsc, steps: u64) {
    let mut log = shared.log.lock().unwrap_or_else(PoisonError::into_inner);
    log.clear();
    shared.does.store(Mode::Observe as u32, Ordering::Release);
    let mut last = tsc.now();
    while shared.asked.load(Ordering::Relaxed) == Mode::Observe as u32 {
        chain::additions(steps);
        let now = tsc.now();
        if log.len() < WINDOWS_MAX {
            log.push((last, now));
        }
        last = now;
    }
}

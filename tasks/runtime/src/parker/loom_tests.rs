//! Every order of steps of sleeping and waking.

use std::sync::Arc;

use super::Parker;
use crate::sync::{AtomicUsize, Ordering};

/// A thread sees data written after a wake-up that came too early.
#[test]
fn of_two_wake_ups_in_a_row_none_is_lost() {
    loom::model(|| {
        let shared = Arc::new((Parker::new(), AtomicUsize::new(0)));
        let waker = {
            let shared = shared.clone();
            loom::thread::spawn(move || {
                for step in 1..=2 {
                    shared.1.store(step, Ordering::Relaxed);
                    shared.0.unpark();
                }
            })
        };
        while shared.1.load(Ordering::Relaxed) < 2 {
            shared.0.park();
        }
        waker.join().unwrap();
    });
}

/// A thread that asks after a wake-up sees that the sleeper goes on, even one that had not slept
/// yet.
#[test]
fn a_notified_worker_does_not_count_as_asleep() {
    loom::model(|| {
        let parker = Arc::new(Parker::new());
        let sleeper = {
            let parker = parker.clone();
            loom::thread::spawn(move || parker.park())
        };
        parker.unpark();
        assert!(!parker.is_asleep());
        sleeper.join().unwrap();
    });
}

//! Where the threads of a team wait for each other.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use evenkeel_runtime::internal::{Patience, Worker, comes_soon};

use super::Team;
use crate::settings::patience;
use crate::wait::oversubscription::oversubscribed;
use crate::wait::yielding::Yielding;

/// A thread polls the barrier for this time before it marks the barrier and looks for tasks: the
/// mark costs more than a whole barrier at which no thread is late.
const SOON: Duration = Duration::from_micros(2);
/// A bit in the count of passed barriers: a thread looks for tasks meanwhile, and may sleep.
const AWAY: u32 = 1;
/// One more barrier.
const ONE: u32 = 2;

/// One barrier after another, of the same threads.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Barrier {
    /// Threads that have come to this one.
    arrived: AtomicU32,
    /// Barriers that all have come to, times [`ONE`], and perhaps [`AWAY`].
    passed: AtomicU32,
    yielding: Yielding,
}

impl Barrier {
    /// Waits until all threads of the team have come and no task is left, or until `gives_up`
    /// holds. Meanwhile this thread runs tasks of any thread. The last thread that comes calls
    /// `end_work`.
    ///
    /// A thread comes when the tasks below its implicit task have ended; so when all have come no
    /// task is left.
    pub(crate) fn wait(
        &self,
        team: &Team,
        (worker, number): (&Worker, u32),
        end_work: impl FnOnce(),
        gives_up: impl Fn() -> bool,
    ) {
        let size = team.size();
        // Read before this thread is counted: afterwards the last thread may already be at the next
        // barrier.
        let passed = self.passed.load(Ordering::Relaxed) & !AWAY;
        // Pairs with itself: the last thread sees all writes of the other threads before they came.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == size {
            self.arrived.store(0, Ordering::Relaxed);
            end_work();
            if self.passed.swap(passed.wrapping_add(ONE), Ordering::Release) & AWAY != 0 {
                team.tasks().wake();
            }
            return;
        }
        // Pairs with the swap above.
        let is_over = || self.passed.load(Ordering::Acquire) & !AWAY != passed || gives_up();
        let run_tasks = || {
            let order = (Ordering::Relaxed, Ordering::Relaxed);
            // A failure means that the barrier is over, or another thread has set the mark.
            let _ = self.passed.compare_exchange(passed, passed | AWAY, order.0, order.1);
            let asked = patience();
            let parks_at_once = oversubscribed().is_some() && !asked.is_asked;
            let none = Patience::of(Duration::ZERO);
            worker.set_patience(if parks_at_once { none } else { asked });
            worker.run_tasks_until(is_over);
            // A later wait in the region, such as a taskwait, is not one for all threads.
            worker.set_patience(asked);
        };
        let shares_cpu = || team.yields_to_itself(number).then_some(size);
        if let Some(threads) = oversubscribed().or_else(shares_cpu) {
            self.yielding.wait(threads, is_over, run_tasks);
        } else if !comes_soon(SOON, is_over) {
            run_tasks();
        }
    }

    /// Clears the count of arrivals: threads of a cancelled region have passed without the other
    /// threads.
    pub(crate) fn reset(&self) {
        self.arrived.store(0, Ordering::Relaxed);
    }
}

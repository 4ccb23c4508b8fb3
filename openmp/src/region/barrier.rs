//! Where the threads of a team wait for each other.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Member, Team};

/// One barrier after another, of the same threads.
#[derive(Default)]
pub(crate) struct Barrier {
    /// Threads that have come to this one.
    arrived: AtomicU32,
    /// Barriers that all have come to.
    passed: AtomicU32,
}

impl Barrier {
    /// Waits until all have come and no task is left, or until `gives_up` holds. Meanwhile tasks
    /// run, whosever they are.
    ///
    /// A thread comes when the tasks below its implicit task have ended; so when all have come
    /// there are none.
    pub(crate) fn wait(&self, member: &Member, team: &Team, gives_up: impl Fn() -> bool) {
        for group in member.implicit().own_groups() {
            member.worker().wait_with_any(group.root());
        }
        member.worker().wait_with_any(member.implicit().raw());
        let passed = self.passed.load(Ordering::Relaxed);
        // Pairs with itself: whoever comes last has seen what all did before they came.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == member.region().size {
            self.arrived.store(0, Ordering::Relaxed);
            member.region().end_work();
            self.passed.store(passed.wrapping_add(1), Ordering::Release);
            team.tasks().wake();
        } else {
            member.worker().run_tasks_until(|| {
                // Pairs with the store above.
                self.passed.load(Ordering::Acquire) != passed || gives_up()
            });
        }
    }

    /// Forgets who has come: the threads went on without the rest.
    pub(crate) fn reset(&self) {
        self.arrived.store(0, Ordering::Relaxed);
    }
}

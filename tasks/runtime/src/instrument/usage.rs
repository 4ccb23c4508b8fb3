//! For how long was anybody inside of a runtime? Its workers have nothing to do at other times.

use crate::sync::lock_std;
use std::sync::{Mutex, MutexGuard};

/// Of the runtimes of one recording, taken together.
#[derive(Debug, Default)]
pub(super) struct Usage(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Threads from outside that are inside now.
    users: u32,
    /// When the first of them came.
    since: u64,
    /// Ticks with any before that.
    total: u64,
}

impl State {
    fn until(&self, now: u64) -> u64 {
        let current = if self.users > 0 { now.saturating_sub(self.since) } else { 0 };
        self.total + current
    }
}

impl Usage {
    fn state(&self) -> MutexGuard<'_, State> {
        lock_std(&self.0)
    }

    /// A thread comes from outside.
    pub(super) fn begins(&self, now: u64) {
        let mut state = self.state();
        if state.users == 0 {
            state.since = now;
        }
        state.users += 1;
    }

    /// A thread stops using the runtime.
    pub(super) fn ends(&self, now: u64) {
        let mut state = self.state();
        if state.users == 1 {
            state.total = state.until(now);
        }
        state.users -= 1;
    }

    /// Ticks with anybody inside, until now.
    pub(super) fn until(&self, now: u64) -> u64 {
        self.state().until(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_counts_once_however_many_are_inside() {
        let usage = Usage::default();
        assert_eq!(usage.until(5), 0);
        usage.begins(10);
        usage.begins(12);
        usage.ends(14);
        assert_eq!(usage.until(15), 5);
        usage.ends(20);
        assert_eq!(usage.until(30), 10);
        usage.begins(40);
        assert_eq!(usage.until(41), 11);
    }
}

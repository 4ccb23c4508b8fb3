//! Ends a scheduler that lets a task wait for too long (kernel/sched/ext.c, Linux 7.0).

use crate::abi;
use crate::exit::ExitKind;
use crate::host::Host;

impl Host {
    /// How long a task may wait, in ns (`timeout_ms` of the operations).
    #[must_use]
    pub fn watchdog_ns(&self) -> u64 {
        match self.ops.timeout_ms {
            0 => abi::WATCHDOG_MAX_NS,
            ms => u64::from(ms) * 1_000_000,
        }
    }

    /// Lets no task wait for longer than this, which must be at least 1 ms, nor for longer than the
    /// scheduler's own limit.
    pub fn shorten_watchdog(&mut self, limit_ns: u64) {
        let ns = self.watchdog_ns().min(limit_ns);
        self.ops.timeout_ms = (ns / 1_000_000).max(1) as u32;
    }

    /// Ends the scheduler if a task has waited too long (`check_rq_for_timeouts`).
    pub fn check_watchdog(&mut self) {
        let limit_ns = self.watchdog_ns();
        let mut state = self.state();
        let now_ns = state.now_ns;
        let has_starved = |&task: &usize| {
            let one = &state.tasks[task];
            let waits = one.is_queued && state.cpus[one.cpu].current != Some(task);
            waits && now_ns.saturating_sub(one.runnable_since_ns) > limit_ns
        };
        let starved = (0..state.tasks.len()).find(has_starved);
        if let Some(task) = starved {
            let waited_ms = (now_ns - state.tasks[task].runnable_since_ns) / 1_000_000;
            let (seconds, ms) = (waited_ms / 1000, waited_ms % 1000);
            let message = format!("{} failed to run for {seconds}.{ms:03}s", state.label(task));
            state.fail(ExitKind::Stall, message);
        }
    }
}

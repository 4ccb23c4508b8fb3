//! How long the virtual CPUs ran, and how long they waited for a CPU of the host.

use std::fs;
use std::time::Duration;

/// Host time of the threads that are a machine's CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTime {
    /// Time on CPUs of the host, of all virtual CPUs together.
    pub ran: Duration,
    /// Time in which they were runnable and the host ran another thread.
    pub waited: Duration,
}

impl HostTime {
    /// Of a running QEMU whose threads have names; `None` after its end.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let mut sum = Self::default();
        for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
            let path = task.ok()?.path();
            let name = fs::read_to_string(path.join("comm")).ok()?;
            // A counting machine has one thread for all.
            if !["CPU ", "ALL CPUs"].iter().any(|begin| name.starts_with(begin)) {
                continue;
            }
            let (ran, waited) = times(&fs::read_to_string(path.join("schedstat")).ok()?)?;
            sum.ran += ran;
            sum.waited += waited;
        }
        Some(sum)
    }
}

/// The first two numbers of a schedstat, in ns (Documentation/scheduler/sched-stats.rst).
fn times(schedstat: &str) -> Option<(Duration, Duration)> {
    let mut numbers = schedstat.split_whitespace().map(|number| number.parse().ok());
    let mut next = || numbers.next().flatten().map(Duration::from_nanos);
    Some((next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedstat_has_time_run_and_time_waited() {
        let ms = Duration::from_millis;
        assert_eq!(times("2000000 1000000 17\n"), Some((ms(2), ms(1))));
        assert_eq!(times("2000000\n"), None);
    }
}

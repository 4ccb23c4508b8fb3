//! How much CPU time did other processes and the host take while we measured? Runtimes that wait by
//! spinning lose far more time to other processes than these took.

use std::fs;

use anyhow::{Context, Result};

/// Ticks of the kernel's clock, of all CPUs since the start of the machine, and of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    all: u64,
    idle: u64,
    stolen: u64,
    /// Of this process and the children that have ended.
    ours: u64,
}

/// Reads the counters.
pub fn now() -> Result<Ticks> {
    let read = |path: &str| fs::read_to_string(path).with_context(|| format!("reading {path}"));
    let (machine, process) = (read("/proc/stat")?, read("/proc/self/stat")?);
    ticks(&machine, &process).context("reading the kernel's counters of time")
}

/// From `/proc/stat` and `/proc/self/stat` (proc(5)).
fn ticks(machine: &str, process: &str) -> Option<Ticks> {
    // user nice system idle iowait irq softirq steal; later columns are counted in user and nice.
    let of_machine: Vec<u64> =
        machine.lines().next()?.split_whitespace().skip(1).map_while(|w| w.parse().ok()).collect();
    // The name may hold spaces and ends at the last parenthesis; then state, and ten more, before
    // utime, stime, cutime and cstime.
    let after_name = process.rsplit_once(')')?.1;
    let of_process: Vec<u64> =
        after_name.split_whitespace().skip(11).take(4).map_while(|w| w.parse().ok()).collect();
    if of_machine.len() < 8 || of_process.len() < 4 {
        return None;
    }
    Some(Ticks {
        all: of_machine[..8].iter().sum(),
        idle: of_machine[3] + of_machine[4],
        stolen: of_machine[7],
        ours: of_process.iter().sum(),
    })
}

impl Ticks {
    /// The CPU time that other processes and the host took between two readings, in a sentence.
    pub fn until(&self, end: &Ticks) -> String {
        let all = end.all.saturating_sub(self.all).max(1);
        let stolen = end.stolen.saturating_sub(self.stolen);
        let busy = all.saturating_sub(end.idle.saturating_sub(self.idle) + stolen);
        let others = busy.saturating_sub(end.ours.saturating_sub(self.ours));
        let percent = |part: u64| (100 * part + all / 2) / all;
        format!(
            "took {} % of this machine meanwhile, and its host {} %",
            percent(others),
            percent(stolen)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: &str = "7 (a) b) S 1 7 7 0 -1 4194304 1 2 3 4 10 20 300 70 20 0 1 0";

    #[test]
    fn a_name_with_parentheses_is_passed_over() {
        let ticks = ticks("cpu  1 2 3 400 50 6 7 8 9 10\ncpu0 1\n", PROCESS).unwrap();
        assert_eq!(ticks, Ticks { all: 477, idle: 450, stolen: 8, ours: 400 });
    }

    #[test]
    fn time_that_is_not_idle_stolen_or_ours_belongs_to_other_programs() {
        let begin = Ticks { all: 0, idle: 0, stolen: 0, ours: 0 };
        let end = Ticks { all: 1000, idle: 300, stolen: 50, ours: 400 };
        let sentence = begin.until(&end);
        assert_eq!(sentence, "took 25 % of this machine meanwhile, and its host 5 %");
    }

    #[test]
    fn too_few_counters_are_no_reading() {
        assert_eq!(ticks("cpu  1 2 3\n", PROCESS), None);
    }
}

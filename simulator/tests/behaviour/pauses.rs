//! An operator who pauses CPUs and reads their counters.

use cpu_model::Class;
use scenarios::Workload;
use simulator::{Config, Operated, Operator, Outcome, Reading, Scheduler, SimError};

use crate::build::{MS, SECOND, busy, pinned_half_load, run, skylake};

/// Pauses CPUs of a core at a time, and resumes them at another.
struct Pause {
    cpus: [u32; 2],
    /// Begin and end, ascending.
    times_ns: Vec<(u64, u64)>,
    is_paused: bool,
    /// Of the first CPU: at the begin and at the end of each pause.
    readings: Vec<Reading>,
}

impl Pause {
    fn new(cpus: [u32; 2], times_ns: Vec<(u64, u64)>) -> Self {
        Self { cpus, times_ns, is_paused: false, readings: Vec::new() }
    }
}

impl Operator for Pause {
    fn acts_ns(&self) -> Option<u64> {
        let &(begin_ns, end_ns) = self.times_ns.first()?;
        Some(if self.is_paused { end_ns } else { begin_ns })
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        self.readings.push(machine.read(self.cpus[0]));
        for cpu in self.cpus {
            if self.is_paused {
                machine.resume(cpu);
            } else {
                machine.pause(cpu);
            }
        }
        if self.is_paused {
            self.times_ns.remove(0);
        }
        self.is_paused = !self.is_paused;
    }
}

fn run_paused(workload: &Workload, config: &Config, pause: &mut Pause) -> Outcome {
    simulator::run_operated(&skylake(), workload, config, pause).unwrap()
}

fn muqss() -> Config {
    Config::plain(
        Scheduler::Muqss { rq_sharing: simulator::RqSharing::Smt, interactive: true },
        100 * SECOND,
    )
}

/// CPUs 0 and 1 belong to a core with a scalar and a 512-bit task that stay there.
#[test]
fn a_pause_delays_its_tasks_and_lets_the_level_fall() {
    let workload = pinned_half_load(Class::Avx512Heavy);
    let free = run(&workload, &muqss());
    let mut pause = Pause::new([0, 1], vec![(100 * MS, 100 * MS + 700_000)]);
    let paused = run_paused(&workload, &muqss(), &mut pause);
    let [before, after] = pause.readings[..] else { panic!("two readings") };
    assert_eq!((before.task, before.switches), (after.task, after.switches));
    let spent = |level: usize| after.counts.level_cycles[level] - before.counts.level_cycles[level];
    // Held for 670 us at 1.9 GHz, then a transition, then at 2.8 GHz.
    assert_eq!(spent(2), 670 * 1900);
    assert!((1..30 * 2800).contains(&spent(0)), "{}", spent(0));
    let delay_ns = paused.tasks[0].completion_ns.unwrap() - free.tasks[0].completion_ns.unwrap();
    // And by the transition back to the level, 43 us (D 5.2.1), less what the higher clock gave.
    assert!((730_000..743_000).contains(&delay_ns), "{delay_ns}");
    let longer_ns = paused.tasks[0].cpu_time_ns - free.tasks[0].cpu_time_ns;
    assert_eq!(longer_ns, delay_ns - 700_000);
    assert_eq!(free.tasks[1], paused.tasks[1]);
    assert_eq!(paused.paused_ns, 2 * 700_000);
}

#[test]
fn a_history_and_a_pause_exclude_each_other() {
    let config = Config { history: true, ..muqss() };
    let mut pause = Pause::new([0, 1], vec![(MS, 2 * MS)]);
    let workload = busy(Class::Scalar);
    let result = simulator::run_operated(&skylake(), &workload, &config, &mut pause);
    assert_eq!(result.err(), Some(SimError::PausedHistory));
}

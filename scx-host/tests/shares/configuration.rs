//! Random machines with busy tasks, and the ideal share of each task.

use random::SplitMix64;

use crate::ideal::{self, Demand};

/// How the scheduler treats time lost. No task here loses any, so shares are those of `fair`.
pub const MODES: [&str; 4] = ["fair", "fair-relative", "fair-isolation", "even"];

/// Tasks arrive within the first part, the shares settle in the second and are taken in the third.
pub const ARRIVALS_MS: u64 = 2_000;
pub const SETTLE_MS: u64 = 4_000;
pub const WINDOW_MS: u64 = 8_000;

/// A busy task.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub nice: i8,
    /// CPUs as bits.
    pub cpus: u32,
    pub at_ms: u64,
}

/// A machine with one last-level cache, and its tasks in the order of their arrivals.
#[derive(Clone, Debug)]
pub struct Configuration {
    pub seed: u64,
    pub cpus: usize,
    pub mode: &'static str,
    pub tasks: Vec<Arrival>,
}

/// The share of a task.
#[derive(Clone, Debug)]
pub struct Share {
    pub task: Arrival,
    /// Of one CPU.
    pub found: f64,
    pub ideal: f64,
    /// The longest time for which the task was runnable and did not run.
    pub wait_max_ms: u64,
}

impl Configuration {
    /// The configuration of a seed: 1 to 6 CPUs, up to five tasks for each, of any nice value;
    /// a third of the tasks each may run everywhere, on one CPU, and on a random set of CPUs.
    pub fn random(seed: u64) -> Self {
        let mut dice = SplitMix64::new(seed);
        let cpus = 1 + dice.remainder(6) as usize;
        let every = (1u32 << cpus) - 1;
        let mode = MODES[dice.remainder(MODES.len() as u64) as usize];
        // Containers: few sets of CPUs, each of several tasks; or a set for each task.
        let has_containers = dice.remainder(2) == 0;
        let sets: Vec<u32> = (0..3).map(|_| 1 + dice.remainder(u64::from(every)) as u32).collect();
        let tasks = 1 + dice.remainder(5 * cpus as u64);
        let mut tasks: Vec<Arrival> = (0..tasks)
            .map(|_| {
                let cpus = match dice.remainder(3) {
                    0 => every,
                    1 => 1 << dice.remainder(cpus as u64),
                    _ if has_containers => sets[dice.remainder(3) as usize],
                    _ => 1 + dice.remainder(u64::from(every)) as u32,
                };
                let nice = match dice.remainder(2) {
                    0 => 0,
                    _ => dice.remainder(40) as i8 - 20,
                };
                Arrival { nice, cpus, at_ms: dice.remainder(ARRIVALS_MS) }
            })
            .collect();
        tasks.sort_by_key(|task| task.at_ms);
        Self { seed, cpus, mode, tasks }
    }

    /// The shares of tasks that ran for so long in the window and waited for so long at most.
    pub fn shares(&self, ran_ns: &[u64], waits_max_ms: &[u64]) -> Vec<Share> {
        let weight = |nice| f64::from(policy::weight(nice));
        let demand = |task: &Arrival| Demand { weight: weight(task.nice), cpus: task.cpus };
        let demands: Vec<Demand> = self.tasks.iter().map(demand).collect();
        let ideal = ideal::shares(self.cpus, &demands);
        let shares = self.tasks.iter().enumerate().map(|(number, task)| Share {
            task: task.clone(),
            found: ran_ns[number] as f64 / (WINDOW_MS as f64 * 1e6),
            ideal: ideal[number],
            wait_max_ms: waits_max_ms[number],
        });
        shares.collect()
    }
}

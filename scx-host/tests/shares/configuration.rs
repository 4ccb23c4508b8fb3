//! Random machines with busy tasks: the share of each task, and its ideal share.

use cpu_model::{CpuTable, TurboMode};
use policy::Mode;
use random::SplitMix64;
use scx_host::{Compensation, Config, Faults, Part, Sensor, TaskSpec, Topology};
use scx_host::{evenkeel, load_evenkeel};

use crate::ideal::{self, Demand};
use crate::machine::{Machine, SPINS, TICK_NS};

/// How the scheduler treats time lost. No task here loses any, so shares are those of `fair`.
pub const MODES: [&str; 4] = ["fair", "fair-relative", "fair-isolation", "even"];

/// Tasks arrive within the first part, the shares settle in the second and are taken in the third.
const ARRIVALS_MS: u64 = 2_000;
const SETTLE_MS: u64 = 4_000;
const WINDOW_MS: u64 = 8_000;
const WATCHDOG_MS: u32 = 5_000;

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

    /// Runs the configuration.
    ///
    /// # Errors
    /// The kernel's message if the scheduler is ejected.
    pub fn run(&self) -> Result<Vec<Share>, String> {
        let topology = Topology::regular(1, self.cpus, 1);
        let compensation = compensation(self.mode);
        let config = Config { watchdog_ms: WATCHDOG_MS, compensation, ..Config::default() };
        let object = evenkeel(&config, &topology);
        let host = load_evenkeel(&object, topology, Faults::default())
            .map_err(|error| error.to_string())?;
        let mut machine = Machine::new(host, self.cpus);
        machine.step_ns = TICK_NS;
        let mut arrivals = self.tasks.iter().enumerate().peekable();
        let mut ran_ms = Vec::new();
        let mut waits_ms: Vec<u64> = Vec::new();
        let mut before = vec![0; self.tasks.len()];
        for now_ms in 0..ARRIVALS_MS + SETTLE_MS + WINDOW_MS {
            while let Some((number, task)) = arrivals.next_if(|(_, task)| task.at_ms <= now_ms) {
                machine.start(&spec(number, task, self.cpus), SPINS);
                ran_ms.push(now_ms);
                waits_ms.push(0);
            }
            machine.step();
            if let Some(exit) = machine.host.exit() {
                return Err(format!("after {now_ms} ms: {exit}"));
            }
            for cpu in 0..self.cpus {
                if let Some(task) = machine.host.current(cpu) {
                    ran_ms[task] = now_ms;
                }
            }
            for (wait_ms, ran_ms) in waits_ms.iter_mut().zip(&ran_ms) {
                *wait_ms = (*wait_ms).max(now_ms - ran_ms);
            }
            if now_ms + 1 == ARRIVALS_MS + SETTLE_MS {
                before = machine.tasks.iter().map(|task| task.runtime_ns).collect();
            }
        }
        let ideal = ideal::shares(self.cpus, &self.demands());
        let shares = self.tasks.iter().enumerate().map(|(number, task)| Share {
            task: task.clone(),
            found: (machine.tasks[number].runtime_ns - before[number]) as f64
                / (WINDOW_MS as f64 * 1e6),
            ideal: ideal[number],
            wait_max_ms: waits_ms[number],
        });
        Ok(shares.collect())
    }

    fn demands(&self) -> Vec<Demand> {
        let weight = |nice| f64::from(policy::weight(nice));
        self.tasks
            .iter()
            .map(|task| Demand { weight: weight(task.nice), cpus: task.cpus })
            .collect()
    }
}

fn compensation(mode: &str) -> Option<Compensation> {
    let (mode, parts) = match mode {
        "fair" => return None,
        "fair-relative" => (Mode::Relative, Vec::new()),
        "fair-isolation" => (Mode::Isolation, Vec::new()),
        _ => (Mode::Isolation, Part::ALL.to_vec()),
    };
    let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    let of_mode = Compensation::on(&model, mode, &[Sensor::Rules], &[]);
    Some(Compensation { parts, ..of_mode })
}

fn spec(number: usize, task: &Arrival, cpus: usize) -> TaskSpec {
    let allowed: Vec<usize> = (0..cpus).filter(|cpu| task.cpus >> cpu & 1 == 1).collect();
    TaskSpec {
        name: format!("task {number}"),
        nice: task.nice,
        cpu: allowed[0],
        cpus: allowed,
        ..TaskSpec::default()
    }
}

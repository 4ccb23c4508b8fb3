//! Runs a configuration under the kernel scheduler's own source.

use cpu_model::{CpuTable, TurboMode};
use policy::Mode;
use scx_host::{Compensation, Config, Faults, Part, Sensor, TaskSpec, Topology};
use scx_host::{evenkeel, load_evenkeel};

use crate::configuration::{ARRIVALS_MS, Arrival, Configuration, SETTLE_MS, Share, WINDOW_MS};
use crate::machine::{Machine, SPINS, TICK_NS};

const WATCHDOG_MS: u32 = 5_000;

impl Configuration {
    /// Runs the configuration.
    ///
    /// # Errors
    /// The kernel's message if the scheduler is ejected.
    pub fn run(&self) -> Result<Vec<Share>, String> {
        let topology = Topology::regular(1, self.cpus, 1);
        let compensation = compensation(self.mode);
        let config = Config { watchdog_ms: WATCHDOG_MS, compensation, ..Config::default() };
        let object = evenkeel(&config, &topology);
        let host = load_evenkeel(&object, &config, topology, Faults::default())
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
        let ran_ns: Vec<u64> = machine
            .tasks
            .iter()
            .zip(before)
            .map(|(task, before)| task.runtime_ns - before)
            .collect();
        Ok(self.shares(&ran_ns, &waits_ms))
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

//! Invariants on random machines under random events.
//!
//! Tasks start, sleep, yield, change their weight and their CPUs; CPUs go offline and online;
//! timers are late, allocations fail, CPUs choose without a reason and in any order. The seed
//! decides all.

use cpu_model::{CpuTable, TurboMode};
use policy::Mode;
use proptest::prelude::*;
use scx_host::{Compensation, Config, Faults, Host, Part, Sensor, TaskSpec, Topology};

use crate::evenkeel::fair;
use crate::machine::{Habit, Machine, Order, STEP_NS};

/// Short, so that a forgotten task ends the scheduler within the run.
const WATCHDOG_MS: u32 = 400;
const STEPS: u32 = 3000;
/// About three slices of a task that has its CPU for itself.
const WAIT_NS: u64 = 20_000_000;
/// The longest forced idle of a CPU for the deficit of one sibling, and three slices.
const WAIT_FORCED_IDLE_NS: u64 = 54_000_000;

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x9e37_79b9);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 32)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn cpus(&mut self, of: usize) -> Vec<usize> {
        match self.below(4) {
            0 => vec![self.below(of)],
            1 => Vec::new(),
            _ => (0..of).filter(|_| self.once_in(2)).collect(),
        }
    }
}

struct Storm {
    machine: Machine,
    dice: Dice,
    /// The CPU that is offline.
    away: Option<usize>,
    /// CPUs go offline and online. As in the kernel, the masks of idle CPUs show an offline CPU
    /// until a search claims it, and the kick of that CPU is lost: then a CPU may idle beside a
    /// task.
    has_faults: bool,
    bound: Option<usize>,
    /// By task: steps for which the task has waited while a CPU of its mask idles.
    beside: Vec<u32>,
    /// A third of the tasks use wide instructions, by their names.
    is_even: bool,
    /// A task whose affinity changed in this step: its virtual time is that of another group now.
    regrouped: Option<usize>,
}

/// `even`, with wide tasks known by name.
fn even() -> Compensation {
    let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    let isolation = Compensation::on(&model, Mode::Isolation, &[Sensor::Rules], &[]);
    Compensation { parts: Part::ALL.to_vec(), ..isolation }
}

fn storm(seed: u64, topology: &Topology, has_faults: bool) -> Storm {
    let mut dice = Dice(seed);
    let is_even = dice.once_in(2);
    let compensation = is_even.then(even);
    let config = Config { watchdog_ms: WATCHDOG_MS, compensation, ..Config::default() };
    let faults = Faults {
        seed,
        no_memory_permille: if has_faults { 50 } else { 0 },
        timer_late_ns_max: if has_faults { 20_000_000 } else { 0 },
    };
    let host = fair(topology, &config, faults);
    let mut machine = Machine::new(host, topology.cpus());
    machine.order = Order::Seeded(dice.next());
    Storm {
        machine,
        dice,
        away: None,
        has_faults,
        bound: None,
        beside: Vec::new(),
        is_even,
        regrouped: None,
    }
}

/// The rules know the level of a name, which a kernel pads with 0.
fn rule(host: &mut Host, name: &str, level: u32) {
    let mut key = [0; 32];
    key[..name.len()].copy_from_slice(name.as_bytes());
    key[16..16 + name.len()].copy_from_slice(name.as_bytes());
    host.insert("names", &key, &level.to_ne_bytes()).unwrap();
}

impl Storm {
    fn start(&mut self) {
        let cpus = self.machine.cpus;
        let spec = TaskSpec {
            name: format!("task {}", self.machine.tasks.len()),
            nice: self.dice.below(40) as i8 - 20,
            cpus: self.dice.cpus(cpus),
            is_kernel: self.dice.once_in(8),
            is_idle_policy: self.dice.once_in(8),
            cpu: self.dice.below(cpus),
            process: None,
        };
        if self.is_even {
            let level = [0, 0, 0, 0, 1, 2][self.dice.below(6)];
            rule(&mut self.machine.host, &spec.name, level);
        }
        let computes_ns = 100_000 * (1 + self.dice.below(300) as u64);
        let sleeps_ns = 100_000 * (1 + self.dice.below(100) as u64);
        self.machine.start(&spec, Habit { computes_ns, sleeps_ns });
    }

    /// A random event.
    fn happen(&mut self) {
        let cpus = self.machine.cpus;
        let (cpu, at) = (self.dice.below(cpus), self.dice.below(cpus));
        let index = self.dice.below(self.machine.tasks.len().max(1));
        let task = self.machine.tasks.get(index).map(|task| task.number);
        let runtime_ns = self.machine.runtime_ns(cpu);
        let host = &mut self.machine.host;
        match (self.dice.below(8), task) {
            (0, Some(task)) => {
                let set = self.dice.cpus(cpus);
                host.set_cpus(task, &set, at);
                self.regrouped = Some(task);
            }
            (1, Some(task)) => host.set_nice(task, self.dice.below(40) as i8 - 20, at),
            (2, _) => host.yield_now(cpu, runtime_ns),
            // A kick without a reason.
            (3, _) => {
                host.schedule(cpu, runtime_ns);
            }
            (4, _) => self.bind_current(cpu),
            (5, _) if self.has_faults && self.dice.once_in(4) => self.hotplug(cpu),
            _ => {}
        }
        self.machine.choose();
    }

    /// Only a running task itself disables its migration, and enables its migration again.
    fn bind_current(&mut self, cpu: usize) {
        let host = &mut self.machine.host;
        let current = host.current(cpu);
        match (self.bound, current) {
            (None, Some(task)) => {
                host.set_migration_disabled(task, true);
                self.bound = Some(task);
            }
            (Some(task), Some(running)) if task == running => {
                // A change of affinity that was requested meanwhile takes effect now.
                host.set_migration_disabled(task, false);
                self.regrouped = Some(task);
                self.bound = None;
            }
            _ => {}
        }
    }

    fn hotplug(&mut self, cpu: usize) {
        let host = &mut self.machine.host;
        match self.away {
            // A task with migration disabled on that CPU would have to enable migration first.
            None if self.bound.is_none() && self.machine.cpus > 1 => {
                host.take_offline(cpu);
                self.away = Some(cpu);
            }
            Some(away) if host.is_drained(away) => {
                host.finish_offline(away);
                host.take_online(away);
                self.away = None;
            }
            _ => {}
        }
    }

    fn look_for_idle_cpus(&mut self) {
        let host = &self.machine.host;
        let idle: Vec<usize> =
            (0..self.machine.cpus).filter(|&cpu| host.current(cpu).is_none()).collect();
        self.beside.resize(self.machine.tasks.len(), 0);
        for (task, steps) in self.machine.tasks.iter().zip(&mut self.beside) {
            let number = task.number;
            let is_beside =
                host.waits(number) && idle.iter().any(|&cpu| host.may_run_on(number, cpu));
            *steps = if is_beside { *steps + 1 } else { 0 };
        }
    }

    /// Virtual time by task; 0 is none yet.
    fn vtimes(&self) -> Vec<u64> {
        let host = &self.machine.host;
        self.machine.tasks.iter().map(|task| host.vtime(task.number)).collect()
    }

    fn run(&mut self, check: impl Fn(&Self) -> Result<(), String>) -> Result<(), String> {
        for _ in 0..2 + self.dice.below(12) {
            self.start();
        }
        let mut before = self.vtimes();
        for step in 0..STEPS {
            self.machine.step();
            if self.dice.once_in(5) {
                self.happen();
            }
            if self.dice.once_in(200) && self.machine.tasks.len() < 40 {
                self.start();
            }
            if let Some(exit) = self.machine.host.exit() {
                return Err(format!("step {step}: {exit}"));
            }
            self.look_for_idle_cpus();
            check(self).map_err(|wrong| format!("step {step}: {wrong}"))?;
            let after = self.vtimes();
            if self.has_one_coordinate() {
                let mut both = before.iter().zip(&after).zip(&self.machine.tasks);
                let regrouped = self.regrouped.take();
                let fell = both.find(|((before, after), task)| {
                    after < before && Some(task.number) != regrouped
                });
                if let Some((_, task)) = fell {
                    let number = task.number;
                    return Err(format!("step {step}: virtual time of task {number} fell"));
                }
            }
            before = after;
        }
        Ok(())
    }

    /// Whether virtual runtimes change by running only: on machines with one cache domain, and
    /// without CPUs that go offline, which changes affinities as well.
    fn has_one_coordinate(&self) -> bool {
        self.machine.cpus <= 4 && !self.has_faults
    }
}

/// A runnable task is in one queue or runs; a sleeping task is in no queue.
fn each_task_is_in_one_place(storm: &Storm) -> Result<(), String> {
    let host = &storm.machine.host;
    for task in &storm.machine.tasks {
        let places = host.places_of(task.number);
        let expected = usize::from(task.wakes_ns.is_none());
        if places != expected {
            return Err(format!("task {} is in {places} places", task.number));
        }
    }
    Ok(())
}

/// No CPU idles for long while a task waits that may run on that CPU. A short time is allowed: a
/// CPU that was woken for one task can take another one, which no other idle CPU may run.
fn no_cpu_idles_for_nothing(storm: &Storm) -> Result<(), String> {
    let host = &storm.machine.host;
    let tasks = storm.machine.tasks.iter().zip(&storm.beside);
    let limit_ns = if storm.is_even { WAIT_FORCED_IDLE_NS } else { WAIT_NS };
    match tasks.max_by_key(|&(_, &steps)| steps) {
        Some((task, &steps)) if u64::from(steps) * STEP_NS > limit_ns => {
            Err(format!("CPUs idle beside {}", host.describe(task.number)))
        }
        _ => Ok(()),
    }
}

fn topologies() -> impl Strategy<Value = Topology> {
    let known = [(1, 1, 1), (1, 2, 1), (1, 2, 2), (1, 4, 1), (2, 2, 2), (2, 3, 1), (4, 2, 1)];
    proptest::sample::select(known.to_vec()).prop_map(|(c, k, t)| Topology::regular(c, k, t))
}

fn storms() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) }
}

proptest! {
    #![proptest_config(storms())]

    #[test]
    fn nothing_is_lost_and_no_cpu_idles_for_nothing(seed: u64, topology in topologies()) {
        let mut storm = storm(seed, &topology, false);
        let checked = storm.run(|storm| {
            each_task_is_in_one_place(storm)?;
            no_cpu_idles_for_nothing(storm)
        });
        prop_assert_eq!(checked, Ok(()));
    }

    #[test]
    fn nothing_is_lost_when_things_fail(seed: u64, topology in topologies()) {
        let mut storm = storm(seed, &topology, true);
        prop_assert_eq!(storm.run(each_task_is_in_one_place), Ok(()));
    }

    #[test]
    fn the_same_seed_gives_the_same_history(seed: u64, topology in topologies()) {
        let history = || {
            let mut storm = storm(seed, &topology, true);
            let checked = storm.run(|_| Ok(()));
            (checked, storm.machine.history, storm.machine.host.counts())
        };
        prop_assert_eq!(history(), history());
    }
}

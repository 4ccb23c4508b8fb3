//! CPU time of busy tasks with random affinity masks, nice values and arrivals under the models of
//! Linux's schedulers, beside the weighted max-min fair shares: the machines, times and table of
//! the example `shares` of `scx-host`.
//!
//! `cargo run --release -p simulator --example linux_shares -- SCHEDULER HZ FIRST_SEED COUNT`. With
//! feature `scx` the kernel scheduler's own source is a model, too: `scx`.

#[path = "../../scx-host/tests/shares/configuration.rs"]
mod configuration;
#[path = "../../scx-host/tests/shares/ideal.rs"]
mod ideal;
#[path = "../../scx-host/tests/shares/table.rs"]
mod table;

use configuration::{ARRIVALS_MS, Arrival, Configuration, SETTLE_MS, Share, WINDOW_MS};
use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use scenarios::{Application, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload};
use simulator::SensorSet;
use simulator::{CfsKernel, Config, EevdfKernel, KernelMode, Scheduler};
use trace::{Event, History};

const SCHEDULERS: [(&str, Scheduler); 5] = [
    ("eevdf-6.18", Scheduler::Eevdf(EevdfKernel::V6_18)),
    ("eevdf-6.12", Scheduler::Eevdf(EevdfKernel::V6_12)),
    ("cfs-6.1", Scheduler::Cfs(CfsKernel::V6_1)),
    ("cfs-5.9", Scheduler::Cfs(CfsKernel::V5_9)),
    ("scx", Scheduler::Scx(KernelMode::Fair)),
];
const NS_PER_MS: u64 = 1_000_000;
const WINDOW_NS: std::ops::Range<u64> =
    (ARRIVALS_MS + SETTLE_MS) * NS_PER_MS..(ARRIVALS_MS + SETTLE_MS + WINDOW_MS) * NS_PER_MS;
/// More reference cycles than a CPU has in the time of a run.
const ENDLESS: u64 = 1_000_000_000_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| SCHEDULERS[0].0.to_owned());
    let Some((_, scheduler)) = SCHEDULERS.iter().find(|(known, _)| *known == name) else {
        let names = SCHEDULERS.map(|(name, _)| name).join(", ");
        eprintln!("no scheduler has the name {name}; known: {names}");
        std::process::exit(2);
    };
    let mut numbers = arguments.map(|number| number.parse::<u64>().expect("a number"));
    let hz = numbers.next().unwrap_or(1000) as u32;
    let first = numbers.next().unwrap_or(0);
    let count = numbers.next().unwrap_or(1000);
    let cpu = CpuTable::by_name("xeon-gold-6130").expect("the table is part of the project");
    let cpu = cpu.model(TurboMode::On).expect("it lacks nothing");
    table::print(first, count, |configuration| run(&cpu, configuration, scheduler, hz));
}

fn run(
    cpu: &CpuModel,
    configuration: &Configuration,
    scheduler: &Scheduler,
    hz: u32,
) -> Result<Vec<Share>, String> {
    let config = config(scheduler.clone(), hz);
    let outcome = simulator::run(cpu, &workload(configuration), &config);
    let history = outcome.map_err(|error| error.to_string())?.history.expect("it was asked for");
    Ok(shares(configuration, &history))
}

/// What a task did.
#[derive(Clone, Default)]
struct Ran {
    on: Option<u32>,
    since_ns: u64,
    in_window_ns: u64,
    wait_max_ns: u64,
}

impl Ran {
    fn begins(&mut self, cpu: u32, now_ns: u64) {
        self.wait_max_ns = self.wait_max_ns.max(now_ns - self.since_ns);
        (self.on, self.since_ns) = (Some(cpu), now_ns);
    }

    fn ends(&mut self, now_ns: u64) {
        let from_ns = self.since_ns.max(WINDOW_NS.start);
        self.in_window_ns += now_ns.min(WINDOW_NS.end).saturating_sub(from_ns);
        (self.on, self.since_ns) = (None, now_ns);
    }
}

/// The shares that a history has. Panics if a task ran before its arrival or outside of its
/// affinity mask, or did not stay runnable: then the model ran other tasks than those asked for.
fn shares(configuration: &Configuration, history: &History) -> Vec<Share> {
    let arrived = |task: &Arrival| Ran { since_ns: task.at_ms * NS_PER_MS, ..Ran::default() };
    let mut ran: Vec<Ran> = configuration.tasks.iter().map(arrived).collect();
    for record in &history.records {
        let Event::Switch { cpu, prev, state, next } = record.event else { continue };
        let now_ns = record.time_ns;
        if prev > 0 {
            assert_eq!(state, trace::SwitchState::Runnable, "{configuration:?}");
            ran[prev as usize - 1].ends(now_ns);
        }
        if next > 0 {
            let (task, ran) =
                (&configuration.tasks[next as usize - 1], &mut ran[next as usize - 1]);
            let may_run = task.cpus >> cpu & 1 == 1 && now_ns >= task.at_ms * NS_PER_MS;
            assert!(may_run && ran.on.is_none(), "{task:?} of {configuration:?}");
            ran.begins(cpu, now_ns);
        }
    }
    for ran in &mut ran {
        match ran.on {
            Some(_) => ran.ends(WINDOW_NS.end),
            None => ran.wait_max_ns = ran.wait_max_ns.max(WINDOW_NS.end - ran.since_ns),
        }
    }
    let ran_ns: Vec<u64> = ran.iter().map(|ran| ran.in_window_ns).collect();
    let waits_max_ms: Vec<u64> = ran.iter().map(|ran| ran.wait_max_ns / NS_PER_MS).collect();
    configuration.shares(&ran_ns, &waits_max_ms)
}

fn workload(configuration: &Configuration) -> Workload {
    let threads = configuration.tasks.iter().enumerate().map(|(number, task)| Thread {
        application: 0,
        name: format!("task {number}"),
        nice: task.nice,
        affinity: CpuSet {
            cpus: (0..configuration.cpus as u32).filter(|cpu| task.cpus >> cpu & 1 == 1).collect(),
        },
        arrival_ns: task.at_ms * NS_PER_MS,
        was_on: None,
        stream: number as u64,
        enrolled: true,
        ruled_class: None,
        program: vec![Step::Compute(Work {
            ref_cycles: Draw { mean: ENDLESS, spread: Spread::Fixed },
            class: Class::Scalar,
            rate_permille: 0,
            stall_permille: 0,
            integer: false,
            working_set_kib: 0,
        })],
    });
    Workload {
        machine: Machine {
            packages: 1,
            cores_per_package: configuration.cpus as u32,
            threads_per_core: 1,
            turbo_cores: None,
            turbo: true,
        },
        applications: vec![Application {
            name: "busy".to_owned(),
            role: Role::Foreground,
            class: Class::Scalar,
        }],
        threads: threads.collect(),
        barriers: Vec::new(),
        locks: 0,
        semaphores: 0,
        channels: 0,
    }
}

fn config(scheduler: Scheduler, hz: u32) -> Config {
    let plain = Config::plain(scheduler, WINDOW_NS.end);
    Config { sensors: SensorSet::Rules, hz, history: true, ..plain }
}

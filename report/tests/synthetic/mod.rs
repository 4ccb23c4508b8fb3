//! Made-up runs with plausible figures, for looking at reports without a simulator.

pub mod crowd;

use std::collections::BTreeMap;

use cpu_model::Class;
use hdrhistogram::Histogram;
use report::{Sample, Setup};
use scenarios::{Application, Role, Scenario};
use simulator::{Costs, Loss, Outcome, TaskOutcome};
use trace::{Event, Header, History, Record, Source, SwitchState, TaskInfo};

pub const PROGRAMS: [(&str, f64); 10] = [
    ("blackscholes", 0.7),
    ("bodytrack", 0.8),
    ("canneal", 0.55),
    ("dedup", 0.9),
    ("ferret", 1.2),
    ("fluidanimate", 1.15),
    ("freqmine", 1.0),
    ("streamcluster", 1.3),
    ("swaptions", 1.25),
    ("vips", 1.1),
];
/// Scheduler, its AVX-512 slowdown in percent, and the refunded share of the loss.
pub const SCHEDULERS: [(&str, f64, f64); 6] = [
    ("cfs", 22.0, 0.0),
    ("eevdf", 21.5, 0.0),
    ("muqss", 23.0, 0.0),
    ("fair", 23.3, 0.0),
    ("fair-relative", 12.9, 0.5),
    ("fair-isolation", 8.2, 0.96),
];
const THREADS: u32 = 4;

pub fn thread(
    completion_ns: Option<u64>,
    cpu_time_ns: u64,
    lost_ns: u64,
    ref_cycles: u64,
) -> TaskOutcome {
    TaskOutcome {
        cpu_time_ns,
        lost_ns,
        ref_cycles,
        completion_ns,
        slices: 100,
        ..TaskOutcome::default()
    }
}

pub fn outcome(tasks: Vec<TaskOutcome>, losses: Vec<Loss>, simulated_ns: u64) -> Outcome {
    Outcome {
        tasks,
        losses,
        simulated_ns,
        warm_up: None,
        completed: true,
        level_ns: [0; cpu_model::LEVELS_MAX],
        throttled_ns: 0,
        busy_ns: 0,
        idle_ns: 0,
        paused_ns: 0,
        switches: 1000,
        migrations: 10,
        events: 5000,
        wake_latency_ns: Histogram::new(3).unwrap(),
        history: None,
        renewals: Vec::new(),
        policy_records: Vec::new(),
        specialization: None,
        core_forced_idle_ns: None,
    }
}

pub fn application(name: &str, role: Role, class: Class) -> Application {
    Application { name: name.to_owned(), role, class }
}

/// A sequence that looks like chance and is the same everywhere.
fn jitter(seed: u64) -> f64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    (mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64 / f64::from(1 << 24) - 0.5
}

fn run(program: usize, scheduler: usize, background: &str, replicate: u32) -> Sample {
    let (name, weight) = PROGRAMS[program];
    let (scheduler_name, slowdown_pct, refunds) = SCHEDULERS[scheduler];
    let share = match background {
        "avx512" => 1.0,
        "avx2" => 0.31,
        _ => 0.0,
    };
    let seed = u64::from(replicate) * 1000 + (program * 10 + scheduler) as u64;
    let noise = if share > 0.0 { 0.006 * jitter(seed) } else { 0.0 };
    let slowdown = 1.0 + share * slowdown_pct / 100.0 * weight + noise;
    let base_s = 0.8 + 0.1 * program as f64 + 0.01 * jitter(u64::from(replicate));
    let completion_ns = (base_s * slowdown * 1e9) as u64;
    let cpu_ns = (base_s * 3.1e9 * (1.0 + 0.17 * share)) as u64;
    let lost_ns = (base_s * 3.1e9 * 0.17 * share) as u64;
    let mut tasks = Vec::new();
    for _ in 0..THREADS {
        tasks.push(thread(Some(completion_ns), cpu_ns / 4, lost_ns / 4, 500_000_000));
    }
    for _ in 0..THREADS {
        let done = (completion_ns as f64 * (1.9 - 0.3 * share)) as u64;
        tasks.push(thread(None, completion_ns, 0, done));
    }
    let repaid_ns = (lost_ns as f64 * refunds) as u64;
    let losses = if lost_ns == 0 {
        Vec::new()
    } else {
        vec![Loss { victim: 0, culprit: 1, lost_ns, repaid_ns, idle_compensation_ns: 0 }]
    };
    let mut outcome = outcome(tasks, losses, completion_ns);
    outcome.level_ns[..3].copy_from_slice(&[60, 15, (25.0 * share) as u64]);
    for wake in 0..400 {
        let spread = (jitter(seed * 7 + wake) + 0.5) * 9.0;
        let ns = 900.0 * (1.0 + 0.4 * scheduler as f64) * spread.exp2() * spread;
        outcome.wake_latency_ns.record(ns as u64 + 800).unwrap();
    }
    let class = match background {
        "avx512" => Class::Avx512Heavy,
        "avx2" => Class::Avx2Heavy,
        _ => Class::Scalar,
    };
    Sample {
        scheduler: scheduler_name.to_owned(),
        background: background.to_owned(),
        control: background == "sse4",
        program: Some(name.to_owned()),
        replicate,
        sensors: "d7".to_owned(),
        applications: vec![
            application(name, Role::Foreground, Class::Scalar),
            application("x265", Role::Background, class),
        ],
        thread_application: [[0; THREADS as usize], [1; THREADS as usize]].concat(),
        outcome,
    }
}

/// Every scheduler with every background, ten programs, `replicates` each.
pub fn samples(replicates: u32) -> Vec<Sample> {
    let mut all = Vec::new();
    for scheduler in 0..SCHEDULERS.len() {
        for background in ["sse4", "avx2", "avx512"] {
            for program in 0..PROGRAMS.len() {
                all.extend((0..replicates).map(|one| run(program, scheduler, background, one)));
            }
        }
    }
    all
}

/// With the claims of the scenario that the runs pretend to be of.
pub fn setup() -> Setup {
    let (file, text) = scenarios::by_name("parsec-x265").unwrap();
    let scenario = Scenario::parse(text, file).unwrap();
    let parameter = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Setup {
        evenkeel_version: "0.1.0".to_owned(),
        cpu: "xeon-gold-6130".to_owned(),
        level_names: ["L0", "L1", "L2"].map(str::to_owned).to_vec(),
        scenario: "parsec-x265".to_owned(),
        description: "Parsec programs beside four x265 encoders of eight threads.".to_owned(),
        seed: 1,
        sensors: "d7".to_owned(),
        calibrated_on: scenario.calibrated_on,
        claims: scenario.claims,
        parameters: vec![
            parameter("x265 heavy share", "70 %"),
            parameter("burst", "500 us"),
            parameter("SMT share", "0.625"),
        ],
        costs: Costs { switch_ns: 2000, trap_ns: 1200, ..Costs::default() },
        command: "evenkeel compare parsec-x265 --seed 1".to_owned(),
        notes: vec!["These runs are made up to look at the page.".to_owned()],
        ..Setup::default()
    }
}

/// Four CPUs on two cores: a victim and a culprit that take turns, levels that follow.
pub fn history(victim: &str, culprit: &str) -> History {
    let task = |tid, app: &str| TaskInfo {
        tid,
        pid: None,
        comm: format!("{app}/{tid}"),
        app: app.to_owned(),
        nice: 0,
        kernel: false,
        control_group: None,
    };
    let mut records = Vec::new();
    let mut push = |time_ns, event| records.push(Record { time_ns, event });
    for core in 0..2 {
        push(0, Event::License { core, level: 0, rate_permille: 1000 });
        push(0, Event::Frequency { core, khz: 2_800_000 });
    }
    for slice in 0..20_u64 {
        let time_ns = slice * 3_000_000;
        for cpu in 0..4_u32 {
            let (old, new) = ((slice + 1 + u64::from(cpu)) % 3, (slice + u64::from(cpu)) % 3);
            let tid = |turn: u64| if slice == 7 { 0 } else { cpu * 2 + turn.min(1) as u32 + 1 };
            let prev = if slice == 0 { 0 } else { tid(old) };
            let next = tid(new);
            push(time_ns, Event::Switch { cpu, prev, state: SwitchState::Runnable, next });
        }
        for core in 0..2 {
            let level = ((slice + u64::from(core)) % 3) as u8;
            let khz = [2_800_000, 2_400_000, 1_900_000][usize::from(level)];
            push(time_ns + 20_000, Event::License { core, level, rate_permille: 1000 });
            push(time_ns + 20_000, Event::Frequency { core, khz });
        }
    }
    let tasks = (1..=8).map(|tid| task(tid, if tid % 2 == 1 { victim } else { culprit }));
    let header = Header {
        schema: 1,
        source: Source::Simulated,
        cpus: 4,
        start_ns: 0,
        end_ns: 60_000_000,
        threads_per_core: Some(2),
        cores_per_package: Some(2),
        cpu: Some("xeon-gold-6130".to_owned()),
        facts: BTreeMap::new(),
        tasks: tasks.collect(),
        stacks: Vec::new(),
    };
    History { header, records }
}

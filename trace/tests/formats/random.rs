//! Random histories without contradictions, such as a simulator makes.

use cpu_model::Class;
use proptest::prelude::*;
use trace::{Event, Header, History, Record, Source, SwitchState, TaskInfo};

const CPUS: u32 = 3;
const TASKS: u32 = 6;

/// A step: action, CPU, task, and time since the last step.
pub type Step = (u8, u32, u32, u64);

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..8u8, 0..CPUS, 1..=TASKS, 0..2_000_000u64), 0..200)
}

pub fn names() -> impl Strategy<Value = Vec<String>> {
    let odd = prop::sample::select(vec!["==> x", "a prev_pid=7", "b:1 [120]", "[000] 1.5: s:e:"]);
    prop::collection::vec(prop_oneof!["[ -~]{1,15}", odd.prop_map(str::to_owned)], TASKS as usize)
}

pub fn history(steps: &[Step], names: &[String], start_ns: u64) -> History {
    let mut running = [0; CPUS as usize];
    let mut dead = [false; TASKS as usize + 1];
    let mut records = Vec::new();
    let mut time_ns = start_ns;
    for &(what, cpu, task, after_ns) in steps {
        time_ns += after_ns;
        let here = running[cpu as usize];
        let elsewhere = running.contains(&task);
        let event = match what {
            0..=3 if !elsewhere && !dead[task as usize] => {
                let state = if what == 0 { SwitchState::Runnable } else { SwitchState::Blocked };
                running[cpu as usize] = task;
                Event::Switch { cpu, prev: here, state, next: task }
            }
            4 if here != 0 => {
                running[cpu as usize] = 0;
                let state =
                    if after_ns < 100_000 { SwitchState::Dead } else { SwitchState::Blocked };
                dead[here as usize] = state == SwitchState::Dead;
                Event::Switch { cpu, prev: here, state, next: 0 }
            }
            5 if !elsewhere && !dead[task as usize] => {
                Event::Wake { task, by: here, cpu, on: (here == 0).then_some(cpu), sync: None }
            }
            6 if !elsewhere => Event::Migrate { task, from: cpu, to: (cpu + 1) % CPUS },
            _ => Event::Frequency { core: cpu, khz: 2_000_000 + task },
        };
        records.push(Record { time_ns, event });
    }
    let task = |(tid, name): (u32, &String)| TaskInfo {
        tid,
        pid: None,
        comm: name.trim().to_owned(),
        app: name.trim().to_owned(),
        nice: (tid as i8) - 3,
        kernel: false,
        control_group: None,
    };
    let header = Header {
        schema: trace::SCHEMA,
        source: Source::Simulated,
        cpus: CPUS,
        start_ns,
        end_ns: time_ns + 1000,
        threads_per_core: None,
        cores_per_package: None,
        cpu: Some("xeon-gold-6130".to_owned()),
        facts: [("seed".to_owned(), "1".to_owned())].into(),
        tasks: (1..).zip(names).map(task).collect(),
        stacks: Vec::new(),
    };
    History { header, records }
}

/// A further event: the record before it, kind, CPU, task, amount.
pub type Extra = (prop::sample::Index, u8, u32, u32, u16);

pub fn extras(kinds: u8) -> impl Strategy<Value = Vec<Extra>> {
    let extra = (any::<prop::sample::Index>(), 0..kinds, 0..CPUS, 1..=TASKS, any::<u16>());
    prop::collection::vec(extra, 0..60)
}

/// Kinds of extras that only a simulator knows, and all.
pub const SIMULATED: u8 = 4;
pub const ALL: u8 = 6;

/// Adds events that change no running task.
pub fn enrich(history: &mut History, extras: &[Extra]) {
    for (after, kind, cpu, task, number) in extras {
        let (cpu, task, number) = (*cpu, *task, *number);
        let event = match kind {
            0 => Event::License { core: cpu, level: number as u8, rate_permille: number },
            1 => Event::Decision {
                cpu,
                victim: task,
                culprit: u32::from(number) % (TASKS + 1),
                slice_ns: u64::from(number) << 20,
                refund_ns: u64::from(number),
                bill_ns: 7,
            },
            2 => Event::Phase {
                task,
                class: Class::ALL[number as usize % Class::ALL.len()],
                rate_permille: number.into(),
                stall_permille: cpu,
            },
            3 => Event::Overhead { cpu, ns: number.into() },
            4 => Event::Runtime { task, ns: number.into() },
            _ => Event::Registers { task, xfeatures: number.into() },
        };
        if history.records.is_empty() {
            return;
        }
        let after = after.index(history.records.len());
        let time_ns = history.records[after].time_ns;
        history.records.insert(after + 1, Record { time_ns, event });
    }
}

//! A recording of a crowded machine: 50,000 switches, 300 tasks, 24 programs, hostile names.

use std::collections::BTreeMap;

use trace::{Event, Header, History, Record, Source, SwitchState, TaskInfo};

pub const CPUS: u32 = 16;
pub const TASKS: u32 = 300;
pub const SWITCHES: u32 = 50_000;
/// Names begin so; most are as long as a history allows.
pub const PROGRAMS: [&str; 24] = [
    "video-encoder-avx512",
    "<b>bold</b> & \"quoted\" 'name' <script>alert(1)</script>",
    "Größenwächter-für-Überläufe-und-Zähler-äöüß-Prozess",
    "数据库服务器主进程-复制-工作线程组",
    "שרת בסיס הנתונים הראשי",
    "postgres: autovacuum launcher of the warehouse cluster 17",
    "/opt/vendor/product-2026.11/libexec/very/long/path/to/daemon",
    "java -Xmx96g -jar orders-service-7.4.1-SNAPSHOT.jar --prod",
    "nginx",
    "🚀🚀🚀 rocket-launcher 🚀🚀🚀",
    "combining-e\u{301}e\u{301}e\u{301}e\u{301}-Zalgo",
    "no_break_anywhere_in_this_name_that_goes_on_and_on_to_the_end",
    "a",
    "]]>&lt;![CDATA[ not markup %s {{7*7}} ${x}",
    "kube-apiserver",
    "containerd-shim-runc-v2",
    "сервер очередей сообщений",
    "compression-worker",
    "tls-terminator",
    "metrics-exporter",
    "python3 -m warehouse.batch.recompute --everything",
    "node_exporter",
    "journald",
    "spaces    and\u{a0}no-break\u{a0}spaces",
];

/// A sequence that looks like chance and is the same everywhere.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % most
    }
}

/// Which program a task belongs to: the first have many, the last one each.
fn program(task: u32) -> usize {
    let rest = task % 40;
    if rest < PROGRAMS.len() as u32 { rest as usize } else { (rest % 5) as usize }
}

fn tasks() -> Vec<TaskInfo> {
    let task = |tid: u32| TaskInfo {
        tid,
        pid: None,
        comm: format!("worker-<{:06}>", tid % 1_000_000),
        app: PROGRAMS[program(tid)].to_owned(),
        nice: 0,
        kernel: false,
        control_group: None,
    };
    (1..=TASKS).map(task).collect()
}

/// Every task has its CPU; each works, sleeps and is woken by a timer.
pub fn history() -> History {
    let mut records: Vec<Record> = Vec::new();
    let mut chance = Chance(1);
    let mut end_ns = 0;
    for cpu in 0..CPUS {
        let own: Vec<u32> = (1..=TASKS).filter(|tid| tid % CPUS == cpu).collect();
        let mut time_ns = 1000 + u64::from(cpu);
        let mut prev = 0;
        let mut push = |time_ns, event| records.push(Record { time_ns, event });
        for turn in 0..SWITCHES / CPUS {
            // A CPU is idle now and then, and nobody follows itself.
            let next = if prev != 0 && chance.below(8) == 0 {
                0
            } else {
                let next = own[(turn as usize * 7 + chance.below(3) as usize) % own.len()];
                if next == prev { own[(turn as usize * 7 + 4) % own.len()] } else { next }
            };
            if next != 0 {
                push(time_ns - 500, Event::Wake { task: next, by: 0, cpu, on: None, sync: None });
            }
            push(time_ns, Event::Switch { cpu, prev, state: SwitchState::Blocked, next });
            prev = next;
            // From 20 us to 2.6 ms, mostly short.
            let scale = 20_000 << chance.below(8);
            time_ns += scale + chance.below(scale) + 1000;
        }
        end_ns = end_ns.max(time_ns);
    }
    records.sort_by_key(|record| record.time_ns);
    let header = Header {
        schema: 1,
        source: Source::Recorded,
        cpus: CPUS,
        start_ns: 0,
        end_ns,
        threads_per_core: Some(2),
        cores_per_package: Some(8),
        cpu: None,
        facts: BTreeMap::new(),
        tasks: tasks(),
        stacks: Vec::new(),
    };
    History { header, records }
}

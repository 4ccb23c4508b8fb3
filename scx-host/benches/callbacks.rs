//! How many callbacks a second the host runs, our scheduler's own work included.
//!
//! `cargo bench -p scx-host` prints raw samples of CPU time, which other load on the machine
//! disturbs less than wall time; read the smallest. Without `--bench` each case runs once, briefly.

use std::fs::read_to_string;

use cpu_model::{CpuTable, TurboMode};
use policy::Mode;
use scx_host::{
    Compensation, Config, Faults, Host, Part, Sensor, TaskSpec, Topology, Waker, evenkeel,
    load_evenkeel,
};

const SAMPLES: usize = 5;
/// The kernel books CPU time at ticks of up to 4 ms: a sample repeats the work this long.
const SAMPLE_NS: u64 = 1_000_000_000;

/// CPU time of this thread in ns, from `/proc/thread-self/schedstat`.
fn cpu_time_ns() -> u64 {
    let stat = read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}

/// Whether the scheduler compensates; if so, every third task is wide by its name.
fn compensation(mode: &str) -> Option<Compensation> {
    let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    let isolation = Compensation::on(&model, Mode::Isolation, &[Sensor::Rules], &[]);
    match mode {
        "fair" => None,
        "fair-isolation" => Some(isolation),
        _ => Some(Compensation { parts: Part::ALL.to_vec(), ..isolation }),
    }
}

/// The rules know the level of a task's name, which is its process's as well.
fn rule(host: &mut Host, name: &str, level: u32) {
    let mut key = [0; 32];
    for half in key.chunks_exact_mut(16) {
        half[..name.len()].copy_from_slice(name.as_bytes());
    }
    host.insert("names", &key, &level.to_ne_bytes()).unwrap();
}

/// CPUs on which tasks block, wake and end their slices in turn.
struct Bench {
    host: Host,
    cpus: usize,
    now_ns: u64,
    runtime_ns: Vec<u64>,
}

impl Bench {
    fn new(mode: &str, topology: &Topology, tasks: usize) -> Self {
        let config = Config { compensation: compensation(mode), ..Config::default() };
        let object = evenkeel(&config, topology);
        let mut host =
            load_evenkeel(&object, &config, topology.clone(), Faults::default()).unwrap();
        if config.compensation.is_some() {
            for (class, level) in [0, 0, 2].into_iter().enumerate() {
                rule(&mut host, &format!("task {class}"), level);
            }
        }
        let cpus = topology.cpus();
        let mut bench = Self { host, cpus, now_ns: 0, runtime_ns: vec![0; tasks] };
        for task in 0..tasks {
            let name = format!("task {}", task % 3);
            let spec = TaskSpec { name, cpu: task % cpus, ..TaskSpec::default() };
            let number = bench.host.add_task(&spec, Some(spec.cpu)).unwrap();
            bench.host.wake(number, Waker { cpu: spec.cpu, is_fork: true, is_sync: false });
            bench.choose();
        }
        bench
    }

    fn runtime(&self, cpu: usize) -> u64 {
        self.host.current(cpu).map_or(0, |task| self.runtime_ns[task])
    }

    fn choose(&mut self) {
        for cpu in self.host.take_reschedules() {
            let runtime_ns = self.runtime(cpu);
            self.host.schedule(cpu, runtime_ns);
        }
    }

    /// On each CPU in turn: its task sleeps for a moment, or has used its slice up.
    fn round(&mut self) {
        for cpu in 0..self.cpus {
            self.now_ns += 200_000;
            self.host.set_now(self.now_ns);
            let Some(task) = self.host.current(cpu) else { continue };
            if cpu % 2 == 0 {
                self.runtime_ns[task] += 300_000;
                self.host.block(cpu, self.runtime_ns[task]);
                self.host.schedule(cpu, 0);
                self.host.wake(task, Waker { cpu, is_fork: false, is_sync: false });
            } else {
                self.runtime_ns[task] += 8_000_000;
                let runtime_ns = self.runtime_ns[task];
                self.host.tick(cpu, runtime_ns);
            }
            self.choose();
        }
        self.host.fire_timers();
    }
}

fn measure(mode: &str, topology: &Topology, tasks: usize, is_bench: bool) {
    let mut bench = Bench::new(mode, topology, tasks);
    let mut samples = Vec::new();
    let mut best = f64::INFINITY;
    let mut callbacks = 0;
    for _ in 0..if is_bench { SAMPLES } else { 1 } {
        let (start_ns, before) = (cpu_time_ns(), bench.host.counts().callbacks);
        bench.round();
        while is_bench && cpu_time_ns() - start_ns < SAMPLE_NS {
            (0..100).for_each(|_| bench.round());
        }
        let used_ns = (cpu_time_ns() - start_ns) as f64;
        callbacks = bench.host.counts().callbacks - before;
        best = best.min(used_ns / callbacks as f64);
        samples.push(format!("{:.1}", used_ns / 1e6));
    }
    assert!(callbacks > 0 && bench.host.exit().is_none(), "{:?}", bench.host.exit());
    let cpus = topology.cpus();
    if is_bench {
        let rate = 1e3 / best;
        println!("{mode} {cpus} {tasks} {callbacks} {rate:.2} {best:.0} {}", samples.join(" "));
    } else {
        println!("{mode} {cpus} {tasks} {callbacks}");
    }
}

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    println!("mode cpus tasks callbacks M_callbacks/s ns_a_callback cpu_ms...");
    for (caches, cores, threads, tasks) in [(1, 4, 1, 16), (2, 8, 2, 64), (4, 16, 2, 512)] {
        let topology = Topology::regular(caches, cores, threads);
        for mode in ["fair", "fair-isolation", "even"] {
            measure(mode, &topology, tasks, is_bench);
        }
    }
}

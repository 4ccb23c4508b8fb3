//! The gain of keeping the AVX-512 tasks of a program on a part of the cores.
//!
//! A random task graph with two classes of tasks runs on the license model, as on a task runtime:
//! one queue, the oldest first, nothing preempts. Each task is a thread of the simulator, each
//! dependence a semaphore. Prints CSV: the program's time where any core runs any task, where wide
//! tasks run on some cores alone (as many as their share of the work, or one more), and where
//! these cores are closed to all other tasks.

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use random::SplitMix64;
use scenarios::{Application, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload};
use simulator::{Config, Scheduler};

const CPU: &str = "xeon-gold-6130";
const CORES: u32 = 16;
/// Tasks of a wave, and waves; each task waits for two of the wave before.
const WAVE: u32 = 96;
const WAVES: u32 = 30;
const SEEDS: u64 = 10;

/// Where tasks may run.
#[derive(Clone, Copy)]
enum Placement {
    /// Anywhere.
    Off,
    /// Wide tasks on the first cores, scalar tasks anywhere.
    Prefer(u32),
    /// Wide tasks on the first cores, scalar tasks on the remaining ones.
    Apart(u32),
}

impl Placement {
    fn cpus(self, is_wide: bool) -> CpuSet {
        let cpus = match (self, is_wide) {
            (Self::Off, _) | (Self::Prefer(_), false) => 0..CORES,
            (Self::Prefer(cores) | Self::Apart(cores), true) => 0..cores,
            (Self::Apart(cores), false) => cores..CORES,
        };
        CpuSet { cpus: cpus.collect() }
    }
}

/// Parameters of a graph.
#[derive(Clone, Copy)]
struct Graph {
    wide_percent: u32,
    task_us: u32,
    seed: u64,
}

/// Uniform in `0..end`.
fn below(random: &mut SplitMix64, end: u32) -> u32 {
    random.remainder(u64::from(end)) as u32
}

fn workload(cpu: &CpuModel, graph: Graph, placement: Placement) -> Workload {
    let mut random = SplitMix64::new(graph.seed);
    let number = WAVE * WAVES;
    let wide: Vec<bool> =
        (0..number).map(|_| below(&mut random, 100) < graph.wide_percent).collect();
    let mut before: Vec<u64> = vec![0; number as usize];
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); number as usize];
    for task in WAVE..number {
        for _ in 0..2 {
            let other = task / WAVE * WAVE - WAVE + below(&mut random, WAVE);
            after[other as usize].push(task);
            before[task as usize] += 1;
        }
    }
    let ref_cycles = u64::from(graph.task_us) * u64::from(cpu.turbo.ref_khz) / 1000;
    let threads = (0..number).map(|task| {
        let is_wide = wide[task as usize];
        let waits = (0..before[task as usize]).map(|_| Step::Wait(task));
        let work = Step::Compute(Work {
            ref_cycles: Draw { mean: ref_cycles, spread: Spread::Exponential },
            class: if is_wide { Class::Avx512Heavy } else { Class::Scalar },
            rate_permille: if is_wide { 1000 } else { 0 },
            stall_permille: 0,
            integer: false,
            working_set_kib: 0,
        });
        let wakes = after[task as usize].iter().map(|&other| Step::Wake(other));
        Thread {
            application: u32::from(is_wide),
            name: format!("task {task}"),
            nice: 0,
            affinity: placement.cpus(is_wide),
            arrival_ns: 0,
            was_on: None,
            stream: u64::from(task),
            enrolled: true,
            ruled_class: None,
            program: waits.chain([work]).chain(wakes).collect(),
        }
    });
    let application =
        |name: &str, class| Application { name: name.to_owned(), role: Role::Foreground, class };
    Workload {
        machine: Machine {
            packages: 1,
            cores_per_package: CORES,
            threads_per_core: 1,
            turbo_cores: None,
            turbo: true,
        },
        applications: vec![
            application("ordinary", Class::Scalar),
            application("wide", Class::Avx512Heavy),
        ],
        threads: threads.collect(),
        barriers: Vec::new(),
        locks: 0,
        semaphores: number,
        channels: 0,
    }
}

fn config(seed: u64) -> Config {
    Config { seed, ..Config::plain(Scheduler::Fifo, 100_000_000_000) }
}

/// The program's time in us.
fn time_us(cpu: &CpuModel, graph: Graph, placement: Placement) -> f64 {
    let work = workload(cpu, graph, placement);
    let outcome = simulator::run(cpu, &work, &config(graph.seed)).expect("a graph has no cycle");
    let ends = outcome.tasks.iter().map(|task| task.completion_ns.expect("all tasks end"));
    ends.max().unwrap_or(0) as f64 / 1000.0
}

/// Cores for wide tasks: their share of the work, where one takes so many times as long as another.
fn cores(graph: Graph, slower: f64) -> u32 {
    let wide = f64::from(graph.wide_percent) * slower;
    let share = wide / (wide + f64::from(100 - graph.wide_percent));
    ((share * f64::from(CORES)).round() as u32).clamp(1, CORES - 1)
}

fn main() {
    let cpu = CpuTable::by_name(CPU).expect("the table is part of the project");
    let cpu = cpu.model(TurboMode::On).expect("it lacks nothing");
    let graphs = |seed| {
        [50, 200, 1000, 5000].into_iter().flat_map(move |task_us| {
            [2, 5, 10, 20, 40].map(|wide_percent| Graph { wide_percent, task_us, seed })
        })
    };
    // How much longer a wide task is, all else equal: all cores full of either.
    let of = |wide_percent| {
        time_us(&cpu, Graph { wide_percent, task_us: 1000, seed: 1 }, Placement::Off)
    };
    let slower = of(100) / of(0);
    println!("task_us,wide_percent,seed,cores,off_us,prefer_us,prefer_one_more_us,apart_us");
    for graph in (1..=SEEDS).flat_map(graphs) {
        let cores = cores(graph, slower);
        let more = (cores + 1).min(CORES - 1);
        let times = [
            Placement::Off,
            Placement::Prefer(cores),
            Placement::Prefer(more),
            Placement::Apart(cores),
        ];
        let [off, prefer, prefer_more, apart] =
            times.map(|placement| time_us(&cpu, graph, placement));
        let Graph { wide_percent, task_us, seed } = graph;
        print!("{task_us},{wide_percent},{seed},{cores},{off:.1},{prefer:.1},");
        println!("{prefer_more:.1},{apart:.1}");
    }
}

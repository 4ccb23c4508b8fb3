//! Replays a recording under a model and under two wrong ones, and judges all three.

use std::collections::{BTreeMap, HashMap};

use cpu_model::CpuModel;
use scenarios::{Repetition, ReplayError};
use serde::Serialize;
use simulator::{Config, Costs, Scheduler, SensorFaults, SensorSet, SimError};
use trace::{History, TaskInfo};

use super::figures::{Capacity, Figure, KINDS, Verdict};
use super::profile::{Profile, Tally, profile};

/// A program with so many switches stands for itself,
const ROW_SWITCHES: u64 = 200;
/// or with one in so many of the CPU time of all.
const ROW_TIME_ONE_IN: u64 = 100;
/// How much longer slices are in the first wrong model.
const LONG_SLICES: u32 = 4;
const OTHERS: &str = "others";
const KERNEL: &str = "kernel threads";

/// A program at one nice level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub program: String,
    /// Nice level, where it has one.
    pub nice: Option<i8>,
    /// CPU time of all CPUs, in percent.
    pub share_percent: Figure,
    /// Switches to its tasks.
    pub switches: Figure,
    /// Mean of its slices, in ms.
    pub slice_ms: Figure,
    /// Distance of the distributions of wake-up latency.
    pub latency_distance: Figure,
    /// Switches to another CPU.
    pub migrations: Figure,
}

impl Row {
    /// All of them, in the order of tables.
    #[must_use]
    pub fn figures(&self) -> [Figure; 5] {
        let Self { share_percent, switches, slice_ms, latency_distance, migrations, .. } = *self;
        [share_percent, switches, slice_ms, latency_distance, migrations]
    }
}

/// A model beside a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// Name of the model.
    pub scheduler: String,
    /// Timer interrupts a second of the model.
    pub hz: u32,
    /// Length of the recording.
    pub recorded_ns: u64,
    /// Logical CPUs.
    pub cpus: u32,
    /// Tasks that were replayed.
    pub tasks: u64,
    /// What an idle CPU took to react: the median of the recording.
    pub idle_exit_ns: u64,
    /// Waits for other tasks that stayed dependencies.
    pub dependencies: u64,
    /// Waits that became sleeps of the recorded length.
    pub sleeps: u64,
    /// Sleeps that may have been waits for a task.
    pub unclear: u64,
    /// Programs, those that ran longest first; the rest together.
    pub rows: Vec<Row>,
}

impl Validation {
    /// Figures with that verdict of the model.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.figures().filter(|figure| figure.verdict == verdict).count()
    }

    /// Of all rows.
    pub fn figures(&self) -> impl Iterator<Item = Figure> + '_ {
        self.rows.iter().flat_map(Row::figures)
    }
}

/// Why a recording cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum RealityError {
    /// It is no work.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The replay failed.
    #[error("replay under {scheduler}: {error}")]
    Run {
        /// Name of the model.
        scheduler: String,
        /// Why.
        error: SimError,
    },
}

/// Compares a recording with its replay under the model, whose timer interrupts `hz` times.
///
/// The CPU gives the replay one frequency, which the recorded times are taken to be of.
///
/// # Errors
/// When the recording holds no work, or a replay gives up.
pub fn against_recording(
    history: &History,
    cpu: &CpuModel,
    scheduler: &Scheduler,
    hz: u32,
) -> Result<Validation, RealityError> {
    let mut repetition = scenarios::repeat(history, cpu.turbo.khz(cpu.turbo.row(1), 0))?;
    repetition.workload.machine.turbo_cores = Some(1);
    let header = &history.header;
    let length_ns = header.end_ns.saturating_sub(header.start_ns);
    let (names, row_of) = rows(history);
    let recorded = profile(history, &row_of, names.len(), length_ns);
    let idle_exit_ns = recorded.idle_exits_ns.get(recorded.idle_exits_ns.len() / 2).copied();
    let idle_exit_ns = idle_exit_ns.unwrap_or(0);
    let run = |scheduler: &Scheduler, slice_factor: u32| {
        let config = Config {
            scheduler: scheduler.clone(),
            slice_factor,
            sensors: SensorSet::Truth,
            sensor_faults: SensorFaults::default(),
            seed: 1,
            costs: Costs { idle_exit_ns, ..Costs::default() },
            smt_share_permille: 1000,
            hz,
            limit_ns: length_ns,
            events_max: u64::MAX,
            history: true,
        };
        replay(&repetition, cpu, &config, &row_of, names.len())
    };
    let [replayed, long, fifo] =
        [run(scheduler, 1)?, run(scheduler, LONG_SLICES)?, run(&Scheduler::Fifo, 1)?];
    let capacity = Capacity { ns: length_ns.saturating_mul(u64::from(header.cpus)) };
    let mut rows = Vec::new();
    for group in grouped(&recorded, &names) {
        let sum = |profile: &Profile| {
            let mut sum = Tally::default();
            group.iter().for_each(|&row| sum.add(&profile.rows[row]));
            sum
        };
        let tallies = [&recorded, &replayed, &long, &fifo].map(sum);
        let (program, nice) = match group[..] {
            [only] => names[only].clone(),
            _ => (OTHERS.to_owned(), None),
        };
        rows.push(row(program, nice, &tallies, capacity));
    }
    Ok(Validation {
        scheduler: scheduler.name().to_owned(),
        hz,
        recorded_ns: length_ns,
        cpus: header.cpus,
        tasks: repetition.tids.len() as u64,
        idle_exit_ns,
        dependencies: repetition.dependencies,
        sleeps: repetition.sleeps,
        unclear: repetition.unclear,
        rows,
    })
}

type Name = (String, Option<i8>);

/// Programs by nice level, and the row of every task.
fn rows(history: &History) -> (Vec<Name>, HashMap<u32, usize>) {
    let name = |task: &TaskInfo| {
        if task.kernel { (KERNEL.to_owned(), None) } else { (task.app.clone(), Some(task.nice)) }
    };
    let mut numbers: BTreeMap<Name, usize> = BTreeMap::new();
    let mut row_of = HashMap::new();
    for task in history.header.tasks.iter().filter(|task| task.tid != 0) {
        let next = numbers.len();
        row_of.insert(task.tid, *numbers.entry(name(task)).or_insert(next));
    }
    let mut names = vec![Name::default(); numbers.len()];
    for (name, number) in numbers {
        names[number] = name;
    }
    (names, row_of)
}

fn replay(
    repetition: &Repetition,
    cpu: &CpuModel,
    config: &Config,
    row_of: &HashMap<u32, usize>,
    rows: usize,
) -> Result<Profile, RealityError> {
    let outcome = simulator::run(cpu, &repetition.workload, config).map_err(|error| {
        RealityError::Run { scheduler: config.scheduler.name().to_owned(), error }
    })?;
    // A simulated history numbers the threads from 1.
    let row_of: HashMap<u32, usize> = (1..)
        .zip(&repetition.tids)
        .filter_map(|(thread, tid)| Some((thread, *row_of.get(tid)?)))
        .collect();
    let history = outcome.history.unwrap_or_else(|| unreachable!("the run keeps its history"));
    Ok(profile(&history, &row_of, rows, config.limit_ns))
}

/// Rows that stand for themselves, those that ran longest first, and the rest as one group.
fn grouped(recorded: &Profile, names: &[Name]) -> Vec<Vec<usize>> {
    let all_ns: u64 = recorded.rows.iter().map(|row| row.run_ns).sum();
    let stands_alone = |tally: &Tally| {
        tally.switches >= ROW_SWITCHES || tally.run_ns.saturating_mul(ROW_TIME_ONE_IN) >= all_ns
    };
    let mut order: Vec<usize> = (0..recorded.rows.len()).collect();
    order.sort_by_key(|&row| (std::cmp::Reverse(recorded.rows[row].run_ns), names[row].clone()));
    let (alone, rest): (Vec<usize>, Vec<usize>) =
        order.into_iter().partition(|&row| stands_alone(&recorded.rows[row]));
    let mut groups: Vec<Vec<usize>> = alone.into_iter().map(|row| vec![row]).collect();
    let mut sum = Tally::default();
    rest.iter().for_each(|&row| sum.add(&recorded.rows[row]));
    if stands_alone(&sum) && !rest.is_empty() {
        groups.push(rest);
    }
    groups
}

/// Recorded, of the model, with long slices, of FIFO.
fn row(program: String, nice: Option<i8>, tallies: &[Tally; 4], capacity: Capacity) -> Row {
    let [recorded, replayed, long, fifo] = tallies;
    let [share_percent, switches, slice_ms, latency_distance, migrations] = KINDS.map(|kind| {
        let (replay, verdict) = kind.judge(recorded, replayed, capacity);
        Figure {
            recorded: kind.value(recorded, capacity),
            replay,
            verdict,
            with_long_slices: kind.judge(recorded, long, capacity).1,
            with_fifo: kind.judge(recorded, fifo, capacity).1,
        }
    });
    Row { program, nice, share_percent, switches, slice_ms, latency_distance, migrations }
}

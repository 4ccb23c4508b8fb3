//! Replays a recording under a model and under two wrong ones, and judges all three.

use std::collections::{BTreeMap, HashMap};

use cpu_model::CpuModel;
use scenarios::{Repetition, ReplayError, Start};
use serde::Serialize;
use simulator::{Config, Costs, Scheduler, SensorFaults, SensorSet, SimError};
use trace::{Header, History, TaskInfo};

use super::figures::{Capacity, Figure, KINDS, LATENCY_MIN_NS, Verdict};
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
    /// Nice level, if the task has one.
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
    /// Reaction time of an idle CPU: the median of the recording.
    pub idle_exit_ns: u64,
    /// Waits for other tasks that stayed dependencies.
    pub dependencies: u64,
    /// Waits that became sleeps of the recorded length.
    pub sleeps: u64,
    /// Sleeps that may have been waits for a task.
    pub unclear: u64,
    /// Events that the recorder lost, where it says so: the figures are of what is left.
    pub lost_events: u64,
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
pub enum ValidationError {
    /// The recording gives no workload.
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
) -> Result<Validation, ValidationError> {
    let mut repetition = scenarios::repeat(history, cpu.turbo.khz(cpu.turbo.row(1), 0))?;
    repetition.workload.machine.turbo_cores = Some(1);
    let header = &history.header;
    let length_ns = header.end_ns.saturating_sub(header.start_ns);
    let (names, row_of) = rows(history);
    let recorded = profile(history, &row_of, names.len(), length_ns);
    let idle_exit_ns = idle_exit_ns(&recorded.idle_exits_ns);
    let run = |scheduler: &Scheduler, slice_factor: u32| {
        let config = Config {
            scheduler: scheduler.clone(),
            slice_factor,
            sensors: SensorSet::Truth,
            sensor_faults: SensorFaults::default(),
            seed: 1,
            costs: Costs { idle_exit_ns, ..Costs::default() },
            smt_share_permille: 1000,
            believed_smt_share_permille: 1000,
            private_licenses: false,
            adaptive_holds: false,
            steady_cores_permille: 0,
            hz,
            start: Start::default(),
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
        lost_events: lost_events(header),
        rows,
    })
}

fn lost_events(header: &Header) -> u64 {
    header.facts.get("lost_events").and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The median of what is plausible: after longer the CPU did something that was not recorded.
fn idle_exit_ns(ascending_ns: &[u64]) -> u64 {
    let plausible = &ascending_ns[..ascending_ns.partition_point(|&ns| ns < LATENCY_MIN_NS)];
    plausible.get(plausible.len() / 2).copied().unwrap_or(0)
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
) -> Result<Profile, ValidationError> {
    let outcome = simulator::run(cpu, &repetition.workload, config).map_err(|error| {
        ValidationError::Run { scheduler: config.scheduler.name().to_owned(), error }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validation::testing::{history, switch, wake};
    use cpu_model::{CpuTable, TurboMode};
    use simulator::EevdfKernel;
    use trace::SwitchState::{Blocked, Runnable};

    const MS: u64 = 1_000_000;

    fn validate(history: &History) -> Validation {
        let cpu = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
        let eevdf = Scheduler::Eevdf(EevdfKernel::V6_18);
        against_recording(history, &cpu, &eevdf, 250).unwrap()
    }

    /// Two hogs that share a CPU in slices of that length for two seconds.
    fn hogs(slice_ns: u64) -> History {
        let mut records = vec![(0, wake(1)), (0, wake(2)), (0, switch(0, 0, Runnable, 1))];
        let mut running = 1;
        for turn in 1..2000 * MS / slice_ns {
            let next = 3 - running;
            records.push((turn * slice_ns, switch(0, running, Runnable, next)));
            running = next;
        }
        history(1, 2000 * MS, records)
    }

    #[test]
    fn hogs_recorded_under_the_model_are_hits_and_distinguish_wrong_models() {
        let validation = validate(&hogs(4 * MS));
        assert_eq!(validation.rows.len(), 2);
        for row in &validation.rows {
            for figure in [row.share_percent, row.switches, row.slice_ms] {
                assert_eq!(figure.verdict, Verdict::Hit, "{row:?}");
                assert_eq!(figure.with_fifo, Verdict::Miss, "{row:?}");
            }
        }
    }

    #[test]
    fn hogs_recorded_with_longer_slices_are_a_miss() {
        for row in &validate(&hogs(20 * MS)).rows {
            assert_eq!(row.slice_ms.verdict, Verdict::Miss);
            assert_eq!(row.share_percent.verdict, Verdict::Hit);
        }
    }

    #[test]
    fn a_program_that_hardly_ran_is_no_row() {
        let records = vec![
            (0, switch(0, 0, Runnable, 1)),
            (MS, switch(0, 1, Blocked, 2)),
            (MS + 1, switch(0, 2, Blocked, 0)),
        ];
        let programs: Vec<String> =
            validate(&history(1, 2 * MS, records)).rows.into_iter().map(|r| r.program).collect();
        assert_eq!(programs, ["app1"]);
    }

    #[test]
    fn an_idle_cpu_reacts_within_a_tenth_of_a_millisecond_or_was_not_idle() {
        assert_eq!(idle_exit_ns(&[10_000, 30_000, 50_000, 3 * MS, 4 * MS, 5 * MS]), 30_000);
        assert_eq!(idle_exit_ns(&[3 * MS]), 0);
    }
}

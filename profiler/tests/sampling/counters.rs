//! Profiles of recordings with counts: those of a simulated machine, written as a recorder of a
//! kernel writes them, yield what the same counts yield at once.

use std::collections::BTreeMap;

use cpu_model::Class;
use profiler::matrix::Matrix;
use profiler::{Basis, recorded, simulated};
use scenarios::Workload;
use simulator::{Config, Operated, Operator, SliceCounts};
use trace::{COUNTED_FACT, CounterCounts, Event, History, Record};

use crate::build::{add, config, pair, skylake, truth_pct, two_cores, work};

/// Notes the counts of each CPU, by the ends of slices.
#[derive(Default)]
struct Notes(BTreeMap<u32, Vec<(u64, CounterCounts)>>);

impl Operator for Notes {
    fn acts_ns(&self) -> Option<u64> {
        None
    }

    fn act(&mut self, _: &mut dyn Operated) {}

    fn slice_ended(&mut self, slice: &SliceCounts) {
        let SliceCounts { counts, throttled_cycles, retired, .. } = *slice;
        let noted = CounterCounts {
            cycles: counts.cycles,
            ref_cycles: counts.ref_cycles,
            license_1: counts.level_cycles[1],
            license_2: counts.level_cycles[2],
            throttled: throttled_cycles,
            stalled: counts.stall_cycles,
            fp_256: retired[0],
            fp_512: retired[1],
        };
        self.0.entry(slice.cpu).or_default().push((slice.ended_ns, noted));
    }
}

/// A recording of a run, with counts in front of switches and without classes; and the true
/// overhead of the first application.
fn recording(workload: &Workload) -> (History, f64) {
    let config = Config { history: true, ..config() };
    let mut notes = Notes::default();
    let mut outcome = simulator::run_operated(&skylake(), workload, &config, &mut notes).unwrap();
    let truth = truth_pct(workload, &outcome, 0);
    let mut history = outcome.history.take().unwrap();
    let mut records = Vec::new();
    for record in history.records {
        if let Event::Switch { cpu, .. } = record.event {
            let noted = notes.0.entry(cpu).or_default();
            let until = noted.partition_point(|&(ended_ns, _)| ended_ns <= record.time_ns);
            let counts = noted.drain(..until).map(|(_, counts)| counts).reduce(sum);
            records.push(counted(record.time_ns, cpu, counts));
        }
        if !matches!(record.event, Event::Phase { .. }) {
            records.push(record);
        }
    }
    for (cpu, noted) in notes.0 {
        let counts = noted.into_iter().map(|(_, counts)| counts).reduce(sum);
        records.push(counted(history.header.end_ns, cpu, counts));
    }
    history.records = records;
    history.header.facts.insert(COUNTED_FACT.to_owned(), "license-1,license-2,cycles".to_owned());
    (history, truth)
}

fn counted(time_ns: u64, cpu: u32, counts: Option<CounterCounts>) -> Record {
    Record { time_ns, event: Event::Counters { cpu, counts: counts.unwrap_or_default() } }
}

fn sum(one: CounterCounts, other: CounterCounts) -> CounterCounts {
    CounterCounts {
        cycles: one.cycles + other.cycles,
        ref_cycles: one.ref_cycles + other.ref_cycles,
        license_1: one.license_1 + other.license_1,
        license_2: one.license_2 + other.license_2,
        throttled: one.throttled + other.throttled,
        stalled: one.stalled + other.stalled,
        fp_256: one.fp_256 + other.fp_256,
        fp_512: one.fp_512 + other.fp_512,
    }
}

fn matrix(history: &History) -> Matrix {
    let reading = recorded::Reading { seed: 1, ..Default::default() };
    Matrix::of_slices(&recorded::profile(&skylake(), history, &reading), 1)
}

#[test]
fn recorded_counts_tell_what_the_same_counts_tell_at_once() {
    for class in [Class::Scalar, Class::Avx2Heavy, Class::Avx512Heavy] {
        let workload = pair(class, 1000);
        let (history, truth) = recording(&workload);
        let recorded = matrix(&history);
        let (profile, _) = simulated::profile(&skylake(), &workload, &config(), None).unwrap();
        let at_once = Matrix::of_slices(&profile, 1);
        let [value, expected] = [&recorded, &at_once].map(|it| it.victims[0].overhead_pct.value);
        assert!((value - expected).abs() < 0.05, "{class:?}: {value}, at once {expected}");
        assert!((value - truth).abs() <= 0.3, "{class:?}: {value} is not {truth}");
        assert_ne!(recorded.victims[0].basis, Basis::Table);
        let culprits = |matrix: &Matrix| {
            let lost = matrix.entries.iter().filter(|entry| entry.lost_ns.value > 0.0);
            lost.map(|entry| (entry.victim, entry.culprit)).collect::<Vec<_>>()
        };
        assert_eq!(culprits(&recorded), culprits(&at_once), "{class:?}");
    }
}

/// A program that stalls loses less by the clock, which only counters show.
#[test]
fn counted_stalls_make_a_loss_smaller() {
    let mut workload = two_cores();
    let stalling = scenarios::Step::Compute(scenarios::Work {
        stall_permille: 600,
        ..match work(Class::Scalar, 1000, 1000) {
            scenarios::Step::Compute(work) => work,
            _ => unreachable!("work is a computation"),
        }
    });
    add(&mut workload, "victim", 0, &[stalling], Some(2000));
    add(&mut workload, "culprit", 1, &[work(Class::Avx512Heavy, 1000, 1000)], None);
    let (history, truth) = recording(&workload);
    let value = matrix(&history).victims[0].overhead_pct.value;
    assert!(truth > 5.0 && (value - truth).abs() <= 0.3, "{value} is not {truth}");
}

/// Another program took a counter: the time without counts is kept, and is of no level.
#[test]
fn slices_without_counts_are_time_without_a_loss() {
    let (mut history, _) = recording(&pair(Class::Avx512Heavy, 1000));
    let cpu_time_ns = |matrix: &Matrix| matrix.victims[0].cpu_time_ns;
    let all = matrix(&history);
    history.records.retain(|record| !matches!(record.event, Event::Counters { .. }));
    let none = matrix(&history);
    assert_eq!(cpu_time_ns(&none), cpu_time_ns(&all));
    assert!(all.victims[0].overhead_pct.value > 5.0);
    assert!(none.victims[0].overhead_pct.value.abs() < 1e-9);
}

/// The first switch of a CPU names the task that ran there since before the recording.
#[test]
fn the_first_slice_of_a_cpu_has_its_counts() {
    let (mut history, _) = recording(&pair(Class::Avx512Heavy, 1000));
    let expected = matrix(&history).victims[0].overhead_pct.value;
    let is_first = |record: &Record| matches!(record.event, Event::Switch { cpu: 0, prev: 0, .. });
    let first = history.records.iter().position(is_first).unwrap();
    history.records.remove(first);
    let leaves = |record: &Record| matches!(record.event, Event::Switch { cpu: 0, .. });
    assert!(history.records.iter().any(leaves), "its task leaves");
    let value = matrix(&history).victims[0].overhead_pct.value;
    assert!(expected > 5.0 && (value - expected).abs() < 0.1, "{value} is not {expected}");
}

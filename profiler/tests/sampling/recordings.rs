//! Profiles of histories, which show classes or registers and no counter.

use cpu_model::Class;
use profiler::matrix::Matrix;
use profiler::{Basis, recorded};
use scenarios::{Step, Workload};
use simulator::{Config, Outcome};
use trace::{Event, History, Record};

use crate::build::{add, config, pair, skylake, truth_pct, two_cores, work};

/// The history of a run of code that never stalls, as a recording shows no stalls.
fn history(workload: &Workload) -> (Workload, Outcome, History) {
    let mut workload = workload.clone();
    for step in workload.threads.iter_mut().flat_map(|thread| &mut thread.program) {
        if let Step::Compute(work) = step {
            work.stall_permille = 0;
        }
    }
    let config = Config { history: true, ..config() };
    let mut outcome = simulator::run(&skylake(), &workload, &config).unwrap();
    let history = outcome.history.take().unwrap();
    (workload, outcome, history)
}

fn victims(history: &History) -> Matrix {
    let reading = recorded::Reading { active_cores: Some(16), seed: 1, ..Default::default() };
    Matrix::of_slices(&recorded::profile(&skylake(), history, &reading), 1)
}

#[test]
fn classes_and_a_table_predict_what_a_victim_loses() {
    for class in [Class::Scalar, Class::Avx2Heavy, Class::Avx512Heavy] {
        let (workload, outcome, history) = history(&pair(class, 1000));
        let truth = truth_pct(&workload, &outcome, 0);
        let matrix = victims(&history);
        let value = matrix.victims[0].overhead_pct.value;
        assert!((value - truth).abs() <= 0.01 * truth, "{class:?}: {value} is not {truth}");
        assert!(matrix.victims[1].overhead_pct.value < 1e-6);
        assert_eq!(matrix.victims[1].basis, Basis::Table);
    }
}

/// The class of bursts is known, and the hold after them is a loss of the same task.
#[test]
fn code_of_changing_classes_is_told_by_its_phases() {
    let mut workload = two_cores();
    let steps = [work(Class::Avx512Heavy, 1000, 100), work(Class::Scalar, 1000, 3000)];
    add(&mut workload, "mixed", 0, &steps, Some(500));
    add(&mut workload, "beside", 1, &[work(Class::Scalar, 1000, 1000)], None);
    let (workload, outcome, history) = history(&workload);
    let matrix = victims(&history);
    for group in 0..2 {
        let truth = truth_pct(&workload, &outcome, group);
        let value = matrix.victims[group as usize].overhead_pct.value;
        // A table of frequencies does not show throttles.
        assert!((0.85 * truth..1.01 * truth).contains(&value), "{group}: {value}, not {truth}");
    }
    let lost = matrix.entries.iter().filter(|entry| entry.lost_ns.value > 0.0);
    assert!(lost.map(|entry| entry.culprit).all(|culprit| culprit == Some(0)));
}

/// Registers instead of classes: two marks make an application wide, one does not.
#[test]
fn registers_show_which_application_is_wide() {
    let (_, _, history) = history(&pair(Class::Avx512Heavy, 1000));
    let with_marks = |marks: usize| {
        let is_phase = |record: &&Record| matches!(record.event, Event::Phase { .. });
        let mut records: Vec<Record> =
            history.records.iter().filter(|record| !is_phase(record)).cloned().collect();
        let culprit = history.header.tasks.iter().find(|task| task.app == "culprit").unwrap().tid;
        let at_ns = records[0].time_ns;
        let mark = Event::Registers { task: culprit, xfeatures: 1 << 6 };
        let mark = Record { time_ns: at_ns, event: mark };
        records.splice(0..0, std::iter::repeat_n(mark, marks));
        victims(&History { records, ..history.clone() })
    };
    assert_eq!(with_marks(1).victims[0].overhead_pct.value, 0.0);
    let found = with_marks(2);
    assert!((found.victims[0].overhead_pct.value - 47.4).abs() < 1.0, "{:?}", found.victims[0]);
    let entry = found.entries.iter().find(|entry| entry.lost_ns.value > 0.0).unwrap();
    assert_eq!((entry.victim, entry.culprit), (0, Some(1)));
}

/// Two tasks that share a CPU wait for each other, and nothing else.
#[test]
fn waits_have_their_culprits() {
    let mut workload = two_cores();
    add(&mut workload, "first", 0, &[work(Class::Scalar, 1000, 1000)], Some(300));
    add(&mut workload, "second", 0, &[work(Class::Scalar, 1000, 1000)], None);
    add(&mut workload, "alone", 2, &[work(Class::Scalar, 1000, 1000)], None);
    let (_, outcome, history) = history(&workload);
    let matrix = victims(&history);
    let waited_ns = |victim: usize, culprit: usize| {
        let entry =
            matrix.entries.iter().find(|it| (it.victim, it.culprit) == (victim, Some(culprit)));
        entry.map_or(0, |entry| entry.waited_ns)
    };
    for (victim, culprit) in [(0, 1), (1, 0)] {
        let all_ns = outcome.tasks[victim].waited_ns;
        let (low_ns, high_ns) = (all_ns * 95 / 100, all_ns);
        let found_ns = waited_ns(victim, culprit);
        assert!((low_ns..=high_ns).contains(&found_ns), "{found_ns} of {all_ns}");
    }
    assert_eq!(waited_ns(2, 0) + waited_ns(2, 1) + waited_ns(0, 2) + waited_ns(1, 2), 0);
}

/// A switch may name tasks and CPUs that the header does not have, and times may be equal.
#[test]
fn records_of_unknown_tasks_are_passed_over() {
    let (_, _, mut history) = history(&pair(Class::Avx512Heavy, 1000));
    let state = trace::SwitchState::Runnable;
    for cpu in [0, 3, 99] {
        let event = Event::Switch { cpu, prev: 77_777, state, next: 88_888 };
        history.records.push(Record { time_ns: history.header.end_ns, event });
    }
    history.records.push(Record {
        time_ns: history.header.end_ns,
        event: Event::Wake { task: 77_777, by: 0, cpu: 0, on: None, sync: None },
    });
    assert_eq!(victims(&history).victims.len(), 2);
}

/// Two CPUs are of one core only if the recording or its reader says so.
#[test]
fn siblings_are_those_that_the_reader_names() {
    let (_, _, mut history) = history(&pair(Class::Avx512Heavy, 1000));
    let beside_ns = |history: &History, threads_per_core: Option<u32>| {
        let reading = recorded::Reading { threads_per_core, ..Default::default() };
        let profile = recorded::profile(&skylake(), history, &reading);
        Matrix::of_slices(&profile, 1).entries.iter().map(|entry| entry.beside_ns).sum::<u64>()
    };
    let known_ns = beside_ns(&history, None);
    history.header.threads_per_core = None;
    assert_eq!((beside_ns(&history, None), beside_ns(&history, Some(2))), (0, known_ns));
    assert!(known_ns > 0);
}

//! Profiles of histories, which show classes or registers and no counter.

use cpu_model::Class;
use profiler::matrix::Matrix;
use profiler::{Basis, Cause, recorded};
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

/// A CPU goes from `prev` to `next`.
fn switch(time_ns: u64, cpu: u32, prev: u32, next: u32) -> Record {
    let state = trace::SwitchState::Runnable;
    Record { time_ns, event: Event::Switch { cpu, prev, state, next } }
}

/// A recording with pauses of CPU 0 by task 9: task 1 runs there, and task 2, whose code is of 512
/// bits, on its sibling. `sibling_first` is when the sibling's thread comes, relative to that of
/// the CPU.
fn with_pauses(sibling_first_ns: i64, clocks_mhz: [u32; 3]) -> History {
    let (_, _, mut history) = history(&pair(Class::Avx512Heavy, 1000));
    let template = history.header.tasks[0].clone();
    let task = |tid, name: &str| trace::TaskInfo {
        tid,
        comm: name.to_owned(),
        app: name.to_owned(),
        ..template.clone()
    };
    history.header.tasks =
        vec![task(1, "victim"), task(2, "wide"), task(9, "pauses"), task(10, "pauses")];
    let mut records = vec![
        switch(0, 0, 0, 1),
        switch(0, 1, 0, 2),
        Record {
            time_ns: 0,
            event: Event::Phase {
                task: 2,
                class: Class::Avx512Heavy,
                rate_permille: 1000,
                stall_permille: 0,
            },
        },
    ];
    let [first, last, alone] = clocks_mhz.map(|mhz| 1000 * mhz);
    for round in 1..=40_u64 {
        let at_ns = 20_000_000 * round;
        let sibling_ns = at_ns.saturating_add_signed(sibling_first_ns);
        let mut pause = vec![
            switch(at_ns, 0, 1, 9),
            switch(sibling_ns, 1, 2, 10),
            // The kernel's stop thread goes before the one that pauses.
            switch(at_ns + 300_000, 0, 9, 10),
            switch(at_ns + 310_000, 0, 10, 9),
            switch(at_ns + 700_000, 0, 9, 1),
            switch(at_ns + 770_000, 0, 1, 9),
            switch(at_ns + 840_000, 0, 9, 1),
            switch(at_ns + 841_000, 1, 10, 2),
            Record {
                time_ns: at_ns + 900_000,
                event: Event::Pause {
                    cpu: 0,
                    by: 9,
                    first_ns: at_ns + 1_000,
                    alone_ns: at_ns + 771_000,
                    first_khz: first,
                    last_khz: last,
                    alone_khz: alone,
                    paused_ns: 770_000,
                },
            },
        ];
        pause.sort_by_key(|record| record.time_ns);
        records.extend(pause);
    }
    history.header.start_ns = 0;
    history.header.end_ns = 20_000_000 * 41;
    history.records = records;
    history
}

/// The victim's loss in percent, and the shares of its causes.
fn by_clocks(history: &History) -> (f64, [f64; 3], Option<String>) {
    let profile = recorded::profile(&skylake(), history, &recorded::Reading::default());
    let matrix = Matrix::of_clocks(&profile, 1);
    let victim = profile.groups.iter().position(|name| name == "victim").unwrap();
    let of_victim = matrix.entries.iter().filter(|entry| entry.victim == victim);
    let lost = of_victim.max_by(|a, b| a.lost_ns.value.total_cmp(&b.lost_ns.value)).unwrap();
    let sum: f64 = lost.by_cause_ns.iter().sum();
    let shares = lost.by_cause_ns.map(|ns| if sum > 0.0 { ns / sum } else { 0.0 });
    let culprit = lost.culprit.map(|it| profile.groups[it].clone());
    (matrix.victims[victim].overhead_pct.value, shares, culprit)
}

/// Which thread comes first is chance, and so are tasks of a higher priority within a look.
#[test]
fn pauses_of_a_recording_name_victim_sibling_and_loss() {
    for sibling_first_ns in [-3_000, 0, 3_000] {
        let found = by_clocks(&with_pauses(sibling_first_ns, [1900, 2800, 2800]));
        let (overhead_pct, shares, culprit) = found;
        assert!((overhead_pct - 100.0 * (2800.0 / 1900.0 - 1.0)).abs() < 1.0, "{overhead_pct}");
        assert_eq!(culprit.as_deref(), Some("wide"));
        assert!(shares[Cause::Sibling as usize] > 0.9, "{sibling_first_ns}: {shares:?}");
    }
}

/// On most Intel machines the siblings of a core are numbered half of all CPUs apart.
#[test]
fn siblings_that_are_no_neighbours_are_known_by_the_list_of_cores() {
    let mut history = with_pauses(0, [1900, 2800, 2800]);
    history.header.threads_per_core = None;
    for record in &mut history.records {
        if let Event::Switch { cpu, .. } = &mut record.event {
            *cpu *= 2;
        }
    }
    let (_, shares, _) = by_clocks(&history);
    assert_eq!(shares[Cause::Sibling as usize], 0.0, "not known to be siblings");
    history.header.facts.insert("cores".to_owned(), "0+2,1+3".to_owned());
    let (_, shares, culprit) = by_clocks(&history);
    assert_eq!(culprit.as_deref(), Some("wide"));
    assert!(shares[Cause::Sibling as usize] > 0.9, "{shares:?}");
}

#[test]
fn pauses_without_a_change_of_clock_show_no_loss() {
    let profile = recorded::profile(
        &skylake(),
        &with_pauses(0, [2800, 2800, 2700]),
        &recorded::Reading::default(),
    );
    let matrix = Matrix::of_clocks(&profile, 1);
    assert!(matrix.victims.iter().all(|victim| victim.lost_ns.value == 0.0));
    assert_eq!(profile.tally.taken, 40);
    // 40 pauses exclude no loss in up to 8.8 % of the time, and the slowest level costs a third.
    let victim = profile.groups.iter().position(|name| name == "victim").unwrap();
    let most_pct = matrix.victims[victim].overhead_pct.high;
    assert!((2.5..3.2).contains(&most_pct), "{most_pct}");
}

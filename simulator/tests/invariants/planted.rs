//! The checks must fail on runs into which an error has been planted.

use cpu_model::{LEVELS_MAX, LicenseTable, ROWS_MAX};
use simulator::Outcome;
use trace::{Event, History, Record, SwitchState};

use crate::case::{COMPENSATIONS, Case};
use crate::outcome::check;

/// A case with loss, refunds, migrations and idle CPUs, so that each error has a place.
fn rich() -> (Case, Outcome) {
    let is_rich = |outcome: &Outcome| {
        let refunded: u64 = outcome.tasks.iter().map(|task| task.refunded_ns).sum();
        refunded > 0 && outcome.migrations > 0 && outcome.idle_ns > 0 && outcome.completed
    };
    (0..)
        .map(|seed| Case::new(seed).with_compensation(COMPENSATIONS[2]))
        .filter(|case| case.workload.machine.cpus() > 1)
        .filter(|case| case.workload.threads.iter().all(|thread| thread.affinity.cpus.is_empty()))
        .map(|case| {
            let outcome = case.run().unwrap();
            (case, outcome)
        })
        .find(|(_, outcome)| is_rich(outcome))
        .unwrap()
}

/// The check must accept the run and refuse the changed run, in words that contain `why`.
fn refuses(why: &str, plant: impl FnOnce(&mut Case, &mut Outcome)) {
    let (mut case, mut outcome) = rich();
    assert_eq!(check(&case, &outcome), Ok(()), "without an error");
    plant(&mut case, &mut outcome);
    let wrong = check(&case, &outcome).expect_err("the planted error is not seen");
    assert!(wrong.contains(why), "{wrong:?} does not say {why:?}");
}

fn records(outcome: &mut Outcome) -> &mut Vec<Record> {
    let History { records, .. } = outcome.history.as_mut().unwrap();
    records
}

fn position(records: &[Record], found: impl Fn(&Event) -> bool) -> usize {
    records.iter().position(|record| found(&record.event)).unwrap()
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::Switch { prev: 0, next, .. } if *next != 0)
}

#[test]
fn a_task_on_two_cpus() {
    refuses("comes to CPU", |case, outcome| {
        let cpus = case.workload.machine.cpus();
        let records = records(outcome);
        let at = position(records, is_start);
        let mut twin = records[at].clone();
        if let Event::Switch { cpu, .. } = &mut twin.event {
            *cpu = (*cpu + 1) % cpus;
        }
        records.insert(at + 1, twin);
    });
}

#[test]
fn a_cpu_that_idles_while_a_task_waits() {
    refuses("idles while task", |_, outcome| {
        let records = records(outcome);
        let at = position(records, is_start);
        let gap_ns = records[at..].iter().find(|r| r.time_ns > records[at].time_ns);
        let late_ns = gap_ns.unwrap().time_ns;
        let start = records.remove(at);
        records.retain(|record| {
            record.time_ns >= late_ns
                || record.time_ns < start.time_ns
                || matches!(record.event, Event::Wake { .. })
        });
    });
}

#[test]
fn a_task_that_runs_without_being_woken() {
    refuses("comes to CPU", |_, outcome| {
        let records = records(outcome);
        let at = position(records, |event| matches!(event, Event::Wake { .. }));
        records.remove(at);
    });
}

#[test]
fn a_task_that_runs_on_after_it_ended() {
    refuses("is Ended", |_, outcome| {
        let records = records(outcome);
        let at = position(
            records,
            |e| matches!(e, Event::Switch { prev, state: SwitchState::Blocked, .. } if *prev != 0),
        );
        if let Event::Switch { state, .. } = &mut records[at].event {
            *state = SwitchState::Dead;
        }
    });
}

#[test]
fn a_cpu_forbidden_to_a_task() {
    let (mut case, outcome) = rich();
    let first = outcome.tasks.iter().position(|task| task.migrations > 0).unwrap();
    case.workload.threads[first].affinity.cpus = vec![0];
    let wrong = check(&case, &outcome).unwrap_err();
    assert!(wrong.contains("may not use CPU"), "{wrong}");
}

#[test]
fn a_frequency_that_is_not_the_tables() {
    refuses("kHz instead of", |_, outcome| {
        let records = records(outcome);
        let at = position(records, |event| matches!(event, Event::Frequency { .. }));
        if let Event::Frequency { khz, .. } = &mut records[at].event {
            *khz -= 1000;
        }
    });
}

#[test]
fn a_level_given_up_before_its_hold() {
    refuses("before its hold", |_, outcome| {
        let records = records(outcome);
        let at = position(records, |e| matches!(e, Event::License { level, .. } if *level > 0));
        let Event::License { core, .. } = records[at].event else { unreachable!() };
        let time_ns = records[at].time_ns;
        let event = Event::License { core, level: 0, rate_permille: 1000 };
        records.insert(at + 1, Record { time_ns, event });
    });
}

#[test]
fn a_level_that_is_never_granted() {
    refuses("is not granted", |case, outcome| {
        const KHZ: u32 = 1_000_000;
        case.cpu.turbo.khz = [[KHZ; LEVELS_MAX]; ROWS_MAX];
        // A license that costs nothing is granted at once.
        case.cpu.license = LicenseTable::free(case.cpu.license.levels);
        let records = records(outcome);
        records.retain(|r| !matches!(r.event, Event::License { level: 1.., .. }));
        for record in records {
            if let Event::Frequency { khz, .. } = &mut record.event {
                *khz = KHZ;
            }
        }
    });
}

#[test]
fn time_that_no_cpu_had() {
    refuses("busy and idle", |_, outcome| outcome.idle_ns += 1);
    refuses("ns busy", |_, outcome| outcome.busy_ns += 1);
    refuses("levels have", |_, outcome| outcome.level_ns[0] += 1);
}

#[test]
fn time_moved_from_one_task_to_another() {
    refuses("CPU time", |_, outcome| {
        let ran = |ns: u64| move |task: &simulator::TaskOutcome| task.cpu_time_ns > ns;
        let rich = outcome.tasks.iter().position(ran(1)).unwrap();
        let other = (rich + 1) % outcome.tasks.len();
        outcome.tasks[rich].cpu_time_ns -= 1;
        outcome.tasks[other].cpu_time_ns += 1;
    });
}

#[test]
fn waits_slices_and_migrations_that_the_history_does_not_show() {
    refuses("waiting time", |_, outcome| outcome.tasks[0].waited_ns += 1);
    refuses("slices", |_, outcome| outcome.tasks[0].slices += 1);
    refuses("migrations", |_, outcome| outcome.tasks[0].migrations += 1);
}

#[test]
fn work_left_out_or_done_twice() {
    let ended = |outcome: &Outcome| {
        outcome.tasks.iter().position(|task| task.completion_ns.is_some()).unwrap()
    };
    refuses("cycles", |_, outcome| {
        let task = ended(outcome);
        outcome.tasks[task].ref_cycles *= 1000;
    });
    refuses("did not end", |_, outcome| {
        let task = ended(outcome);
        outcome.tasks[task].completion_ns = None;
    });
}

#[test]
fn losses_inflated_or_given_to_no_task() {
    refuses("lost", |_, outcome| {
        outcome.tasks[0].lost_ns = outcome.tasks[0].cpu_time_ns + 1;
    });
    refuses("pairs say", |_, outcome| {
        let loss = outcome.losses.iter_mut().find(|loss| loss.lost_ns > 0).unwrap();
        loss.lost_ns += 1000;
    });
}

#[test]
fn a_refund_without_a_bill() {
    refuses("bill", |_, outcome| {
        let task = outcome.tasks.iter().position(|task| task.billed_ns > 0).unwrap();
        outcome.tasks[task].billed_ns -= 1;
    });
    refuses("refunded", |_, outcome| {
        let billed = outcome.tasks.iter().position(|task| task.billed_ns > 0).unwrap();
        outcome.tasks[billed].billed_ns -= 1;
        let records = &mut outcome.history.as_mut().unwrap().records;
        let bill = records.iter_mut().find_map(|record| match &mut record.event {
            Event::Decision { culprit, bill_ns, .. } if *culprit as usize == billed + 1 => {
                Some(bill_ns)
            }
            _ => None,
        });
        *bill.unwrap() -= 1;
    });
}

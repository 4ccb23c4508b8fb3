//! Changes of a run that must change nothing, or only the intended figures.

use cpu_model::Class;
use scenarios::{Step, Workload};
use simulator::{Compensation, Costs, EvenParts, Outcome};

use crate::case::{COMPENSATIONS, Case, SENSORS};
use crate::{fingerprint, for_each_case};

fn run(case: &Case) -> Result<Outcome, String> {
    case.run().map_err(|error| error.to_string())
}

fn ensure_equal(what: &str, one: u64, other: u64) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what}: {one:x} is not {other:x}")) }
}

/// Replaces the work of every compute step.
fn change_work(workload: &mut Workload, change: impl Fn(&mut scenarios::Work)) {
    for step in workload.threads.iter_mut().flat_map(|thread| &mut thread.program) {
        if let Step::Compute(work) = step {
            change(work);
        }
    }
}

#[test]
fn a_run_repeats_itself_in_any_number_of_threads() {
    for_each_case("metamorphic::a_run_repeats_itself_in_any_number_of_threads", 60, |case| {
        let alone = fingerprint::of(&run(case)?);
        let together = std::thread::scope(|scope| {
            let spawn = |_| scope.spawn(|| run(case).map(|outcome| fingerprint::of(&outcome)));
            let handles: Vec<_> = (0..3).map(spawn).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect::<Vec<_>>()
        });
        together.into_iter().try_for_each(|other| ensure_equal("a second run", alone, other?))
    });
}

#[test]
fn keeping_the_history_changes_nothing_else() {
    for_each_case("metamorphic::keeping_the_history_changes_nothing_else", 200, |case| {
        let mut with = run(case)?;
        with.history = None;
        let mut other = case.clone();
        other.config.history = false;
        ensure_equal(
            "a run without history",
            fingerprint::of(&with),
            fingerprint::of(&run(&other)?),
        )
    });
}

#[test]
fn names_of_tasks_and_applications_change_nothing() {
    for_each_case("metamorphic::names_of_tasks_and_applications_change_nothing", 200, |case| {
        let mut renamed = case.clone();
        for (index, thread) in renamed.workload.threads.iter_mut().enumerate() {
            thread.name = format!("{}", 1000 - index);
        }
        for application in &mut renamed.workload.applications {
            application.name.insert(0, 'z');
            application.class = Class::Amx;
        }
        ensure_equal("renamed", fingerprint::of(&run(case)?), fingerprint::of(&run(&renamed)?))
    });
}

#[test]
fn without_wide_instructions_compensation_and_sensors_change_nothing() {
    let test = "metamorphic::without_wide_instructions_compensation_and_sensors_change_nothing";
    for_each_case(test, 50, |case| {
        let mut scalar = case.clone();
        // String functions are wide instructions too.
        scalar.config.sensor_faults.evex_strings = false;
        change_work(&mut scalar.workload, |work| work.class = Class::Scalar);
        let base = run(&scalar.with_compensation(Compensation::None))?;
        let lost: u64 = base.tasks.iter().map(|task| task.lost_ns).sum();
        ensure_equal("lost time", lost, 0)?;
        for compensation in COMPENSATIONS {
            for sensors in SENSORS {
                // Where registers are read, a forced switch-out comes whatever they show.
                let compensation = match compensation {
                    Compensation::Even(parts) => {
                        Compensation::Even(EvenParts { without_forced_switch_out: true, ..parts })
                    }
                    other => other,
                };
                let mut other = scalar.with_compensation(compensation);
                other.config.sensors = sensors;
                let what = format!("{compensation:?} with {sensors:?}");
                ensure_equal(&what, fingerprint::of(&base), fingerprint::of(&run(&other)?))?;
            }
        }
        Ok(())
    });
}

#[test]
fn work_that_only_waits_for_memory_does_not_see_the_frequency() {
    let test = "metamorphic::work_that_only_waits_for_memory_does_not_see_the_frequency";
    for_each_case(test, 200, |case| {
        let mut stalled = case.with_compensation(Compensation::None);
        stalled.config.costs = Costs::default();
        change_work(&mut stalled.workload, |work| work.stall_permille = 1000);
        let mut slow = stalled.clone();
        for khz in slow.cpu.turbo.khz.iter_mut().flatten() {
            *khz /= 3;
        }
        let (fast, slow) = (run(&stalled)?, run(&slow)?);
        for (task, (fast, slow)) in fast.tasks.iter().zip(&slow.tasks).enumerate() {
            if (fast.completion_ns, fast.ref_cycles) != (slow.completion_ns, slow.ref_cycles) {
                return Err(format!("task {task} got {fast:?} and {slow:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn work_that_never_waits_for_memory_takes_longer_at_a_lower_frequency() {
    let mut case = Case::new(1);
    case.config.limit_ns = 10_000_000_000;
    change_work(&mut case.workload, |work| work.stall_permille = 0);
    let mut slow = case.clone();
    for khz in slow.cpu.turbo.khz.iter_mut().flatten() {
        *khz /= 3;
    }
    let (fast, slow) = (run(&case).unwrap(), run(&slow).unwrap());
    assert!(fast.completed && slow.completed);
    assert!(slow.simulated_ns > fast.simulated_ns, "the metric above must be able to move");
}

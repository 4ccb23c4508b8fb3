//! Whether the books of a run agree with its history, its workload and each other.

use scenarios::{Draw, Spread, Step, Thread};
use simulator::{Compensation, KernelMode, Outcome, Scheduler};

use crate::case::Case;
use crate::replay::{Got, Promises, replay};

/// Units of work in a reference ns.
const UNITS_PER_NS: u128 = 1 << 20;
/// An exponential draw is cut off at this many means.
const EXPONENTIAL_MAX: u64 = 20;

/// Every invariant that holds for any scheduler, and those this one promises.
pub fn check(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let history = outcome.history.as_ref().ok_or("there is no history")?;
    let promises = Promises {
        work_conserving: match case.config.scheduler {
            // A deficit is repaid by a CPU that stays idle.
            Scheduler::Fair { compensation: Compensation::Even(parts), .. }
            | Scheduler::Scx(KernelMode::Even(parts)) => parts.without_repayment,
            Scheduler::Fair { .. }
            | Scheduler::Muqss { interactive: true, .. }
            | Scheduler::Scx(_) => true,
            _ => false,
        },
    };
    let got = replay(&case.cpu, &case.workload, history, promises)?;
    time_adds_up(case, outcome, &got)?;
    tasks_got_what_the_history_shows(outcome, &got)?;
    progress_is_the_work(case, outcome)?;
    losses_add_up(case, outcome)?;
    compensation_adds_up(case, outcome)
}

/// Those that hold where an operator pauses CPUs, and the history is not kept.
pub fn check_paused(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let all_ns = u64::from(case.workload.machine.cpus()) * outcome.simulated_ns;
    let parts = [outcome.busy_ns, outcome.idle_ns, outcome.paused_ns];
    ensure(parts.iter().sum::<u64>() == all_ns, || format!("{parts:?} are not {all_ns} ns"))?;
    progress_is_the_work(case, outcome)?;
    losses_add_up(case, outcome)
}

fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong()) }
}

fn time_adds_up(case: &Case, outcome: &Outcome, got: &[Got]) -> Result<(), String> {
    let cpus = u64::from(case.workload.machine.cpus());
    let busy_ns: u64 = got.iter().map(|got| got.cpu_time_ns).sum();
    ensure(outcome.busy_ns == busy_ns, || {
        format!("{} ns busy, but the history shows {busy_ns}", outcome.busy_ns)
    })?;
    let all_ns = cpus * outcome.simulated_ns;
    ensure(outcome.busy_ns + outcome.idle_ns == all_ns, || {
        format!("busy and idle are {} + {}, not {all_ns}", outcome.busy_ns, outcome.idle_ns)
    })?;
    let of_tasks: u64 = outcome.tasks.iter().map(|task| task.cpu_time_ns).sum();
    ensure(of_tasks == busy_ns, || format!("tasks ran {of_tasks} of {busy_ns} ns"))?;
    let by_level: u64 = outcome.level_ns.iter().sum();
    ensure(by_level == busy_ns, || format!("levels have {by_level} of {busy_ns} ns"))?;
    ensure(outcome.throttled_ns <= busy_ns, || "throttled longer than busy".into())?;
    let ended = case.config.limit_ns == outcome.simulated_ns;
    ensure(outcome.completed || ended, || "it ended early".into())
}

fn tasks_got_what_the_history_shows(outcome: &Outcome, got: &[Got]) -> Result<(), String> {
    for (task, (booked, seen)) in outcome.tasks.iter().zip(got).enumerate() {
        let pairs = [
            ("CPU time", booked.cpu_time_ns, seen.cpu_time_ns),
            ("waiting time", booked.waited_ns, seen.waited_ns),
            ("slices", booked.slices, seen.slices),
            ("migrations", booked.migrations, seen.migrations),
            ("refund", booked.refunded_ns, seen.refunded_ns),
            ("bill", booked.billed_ns, seen.billed_ns),
        ];
        for (what, booked, seen) in pairs {
            ensure(booked == seen, || {
                format!("task {task}: {what} {booked}, but the history shows {seen}")
            })?;
        }
    }
    let switches: u64 = got.iter().map(|got| got.slices).sum();
    let migrations: u64 = got.iter().map(|got| got.migrations).sum();
    ensure(outcome.switches == switches, || format!("{} switches", outcome.switches))?;
    ensure(outcome.migrations == migrations, || format!("{} migrations", outcome.migrations))
}

fn progress_is_the_work(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let ref_khz = case.cpu.turbo.ref_khz;
    for (index, (task, thread)) in outcome.tasks.iter().zip(&case.workload.threads).enumerate() {
        let role = case.workload.applications[thread.application as usize].role;
        let Some((least, most)) = work_of(thread, ref_khz) else { continue };
        ensure(task.ref_cycles <= most, || {
            format!("task {index} did {} of at most {most} cycles", task.ref_cycles)
        })?;
        if task.completion_ns.is_some() {
            ensure(task.ref_cycles >= least, || {
                format!("task {index} ended after {} of {least} cycles", task.ref_cycles)
            })?;
        } else {
            let foreground = role == scenarios::Role::Foreground;
            ensure(!(foreground && outcome.completed), || format!("task {index} did not end"))?;
        }
    }
    Ok(())
}

/// Least and most reference cycles of a program, `None` for an endless one.
fn work_of(thread: &Thread, ref_khz: u32) -> Option<(u64, u64)> {
    let mut rounds = 1;
    let mut units = (0_u128, 0_u128);
    for step in &thread.program {
        match *step {
            Step::Compute(work) => {
                let (least, most) = bounds(work.ref_cycles);
                units.0 += to_units(least, ref_khz);
                units.1 += to_units(most, ref_khz);
            }
            Step::Loop { to, times } => {
                assert_eq!(to, 0, "loops of generated programs go back to the start");
                rounds *= u128::from(times?);
            }
            _ => {}
        }
    }
    let cycles =
        |units: u128| (units * rounds * u128::from(ref_khz) / (1_000_000 * UNITS_PER_NS)) as u64;
    Some((cycles(units.0), cycles(units.1)))
}

fn to_units(ref_cycles: u64, ref_khz: u32) -> u128 {
    u128::from(ref_cycles) * 1_000_000 * UNITS_PER_NS / u128::from(ref_khz)
}

fn bounds(draw: Draw) -> (u64, u64) {
    match draw.spread {
        Spread::Fixed => (draw.mean, draw.mean),
        Spread::Uniform(permille) => {
            let half = draw.mean * u64::from(permille) / 1000;
            (draw.mean - half, draw.mean + half)
        }
        Spread::Exponential => (0, EXPONENTIAL_MAX * draw.mean),
    }
}

fn losses_add_up(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let applications = case.workload.applications.len();
    let mut of_tasks = vec![0_u64; applications];
    // Each task and each share of a culprit is rounded down; a share at most once a segment.
    let mut rounding_ns = vec![1_u64; applications];
    for (index, (task, thread)) in outcome.tasks.iter().zip(&case.workload.threads).enumerate() {
        ensure(task.lost_ns <= task.cpu_time_ns, || {
            format!("task {index} lost {} of {} ns", task.lost_ns, task.cpu_time_ns)
        })?;
        of_tasks[thread.application as usize] += task.lost_ns;
        rounding_ns[thread.application as usize] += 1;
    }
    let mut of_pairs = vec![0_u64; applications];
    for loss in &outcome.losses {
        of_pairs[loss.victim as usize] += loss.lost_ns;
        rounding_ns[loss.victim as usize] += 1;
        let is_wide =
            case.workload.threads.iter().any(|thread| {
                thread.application == loss.culprit && thread.program.iter().any(is_wide)
            });
        ensure(loss.lost_ns == 0 || is_wide, || {
            format!("application {} is blamed but runs nothing wide", loss.culprit)
        })?;
    }
    for application in 0..applications {
        let (tasks, pairs) = (of_tasks[application], of_pairs[application]);
        ensure(tasks.abs_diff(pairs) <= rounding_ns[application], || {
            format!("application {application}: tasks lost {tasks} ns, pairs say {pairs}")
        })?;
    }
    Ok(())
}

fn is_wide(step: &Step) -> bool {
    matches!(step, Step::Compute(work) if work.class.width() > 0)
}

fn compensation_adds_up(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let refunded: u64 = outcome.tasks.iter().map(|task| task.refunded_ns).sum();
    let billed: u64 = outcome.tasks.iter().map(|task| task.billed_ns).sum();
    let repaid: u64 = outcome.losses.iter().map(|loss| loss.repaid_ns).sum();
    let holds = match case.config.scheduler {
        Scheduler::Fair {
            compensation: Compensation::Isolation | Compensation::Even(_), ..
        }
        | Scheduler::FairSpecialize(_)
        | Scheduler::Scx(KernelMode::Isolation | KernelMode::Even(_)) => {
            refunded == billed && refunded == repaid
        }
        Scheduler::Fair {
            compensation: Compensation::Relative | Compensation::Cycles | Compensation::Energy,
            ..
        }
        | Scheduler::Scx(KernelMode::Relative) => billed == 0 && repaid <= refunded,
        _ => refunded == 0 && billed == 0 && repaid == 0,
    };
    ensure(holds, || format!("refunded {refunded}, billed {billed}, repaid {repaid} ns"))?;
    let beyond = outcome.tasks.iter().position(|task| task.refunded_ns > task.cpu_time_ns);
    ensure(beyond.is_none(), || format!("task {beyond:?} is refunded more than it ran"))
}

//! Core specialization of the kernel scheduler's own source.

use cpu_model::Class;
use scenarios::{CpuSet, Machine, Role, Workload};
use simulator::{Compensation, Config, KernelMode, PhaseEnd, Scheduler, SensorSet, Specialization};

use trace::Event;

use crate::build::{MS, SECOND, add, empty, fair, machine, run_switched, saturating, skylake};

const SETTINGS: Specialization =
    Specialization { phase_end: PhaseEnd::Timeout, ..Specialization::PUBLISHED };

fn scx(mode: KernelMode, limit_ns: u64) -> Config {
    Config {
        scheduler: Scheduler::Scx(mode),
        sensors: SensorSet::Rules,
        hz: 1000,
        limit_ns,
        history: true,
        ..fair(Compensation::None)
    }
}

fn mix(machine: Machine, narrow: u64, wide: u64) -> Workload {
    let mut workload = empty(machine);
    add(&mut workload, Role::Foreground, narrow, &saturating(Class::Scalar, Some(100_000)));
    add(&mut workload, Role::Background, wide, &saturating(Class::Avx512Heavy, None));
    for thread in &mut workload.threads[narrow as usize..] {
        thread.ruled_class = Some(Class::Avx512Heavy);
    }
    workload
}

#[test]
fn switched_off_it_is_the_mode_without_it() {
    let mut workload = mix(machine(4, 2), 9, 7);
    workload.threads.iter_mut().for_each(|thread| thread.arrival_ns = MS);
    for (own, plain) in [
        (KernelMode::Specialize(SETTINGS), KernelMode::Fair),
        (KernelMode::FairSpecialize(SETTINGS), KernelMode::Isolation),
    ] {
        let config = scx(own, SECOND);
        let off = run_switched(&workload, &config, &[(0, false)]);
        let plain = simulator::run(&skylake(), &workload, &scx(plain, SECOND)).unwrap();
        let on = simulator::run(&skylake(), &workload, &config).unwrap();
        assert_eq!(off.tasks, plain.tasks, "{own:?}");
        assert_ne!(on.tasks, plain.tasks, "{own:?}");
    }
}

#[test]
fn switched_on_again_it_keeps_wide_tasks_from_narrow_cores() {
    let workload = mix(machine(8, 1), 12, 6);
    let settings = Specialization { wide_cores: Some(2), ..SETTINGS };
    for mode in [KernelMode::Specialize(settings), KernelMode::FairSpecialize(settings)] {
        let switches = [(SECOND / 2, false), (SECOND, true)];
        let outcome = run_switched(&workload, &scx(mode, 2 * SECOND), &switches);
        let mut misplaced_ns = [0; 3];
        let mut running = [(0, 0); 8];
        for record in &outcome.history.unwrap().records {
            let Event::Switch { cpu, next, .. } = record.event else { continue };
            let (task, since_ns) =
                std::mem::replace(&mut running[cpu as usize], (next, record.time_ns));
            // Tasks are numbered from 1, and the cores of the last two CPUs are wide.
            if task > 12 && cpu < 6 {
                misplaced_ns[(since_ns * 2 / SECOND).min(2) as usize] += record.time_ns - since_ns;
            }
        }
        // Tasks that were queued while it was off run for a slice yet.
        assert!(misplaced_ns[0] == 0 && misplaced_ns[2] < 20 * MS, "{mode:?}: {misplaced_ns:?}");
        assert!(misplaced_ns[1] > SECOND / 2, "{mode:?}: {misplaced_ns:?}");
    }
}

/// As many narrow tasks as narrow CPUs: none of them waits, and they give way nevertheless.
#[test]
fn wide_tasks_get_their_share_where_no_narrow_task_waits() {
    let workload = mix(machine(16, 2), 28, 16);
    let config = scx(KernelMode::FairSpecialize(SETTINGS), 2 * SECOND);
    let outcome = simulator::run(&skylake(), &workload, &config).unwrap();
    let wide_ns: u64 = outcome.tasks[28..].iter().map(|task| task.cpu_time_ns).sum();
    // 16 of 44 tasks on 32 CPUs.
    let share_ns = 2 * SECOND * 32 * 16 / 44;
    assert!(wide_ns > share_ns / 10 * 9, "{wide_ns} of {share_ns} ns");
}

/// Each last-level cache decides by its own tasks (D 6.6.2): no wide task has to leave its node.
#[test]
fn each_package_has_wide_cores_for_its_own_wide_tasks() {
    let two = Machine { packages: 2, ..machine(4, 1) };
    let mut workload = mix(two, 10, 6);
    let node = |first: u32| CpuSet { cpus: (first..first + 4).collect() };
    for (index, thread) in workload.threads.iter_mut().enumerate() {
        // Of the wide tasks, from 10 on, five are bound to the first package and one to the other.
        let is_second = if index < 10 { index % 2 == 1 } else { index == 10 };
        thread.affinity = node(if is_second { 4 } else { 0 });
    }
    for mode in [KernelMode::Specialize(SETTINGS), KernelMode::FairSpecialize(SETTINGS)] {
        let outcome = simulator::run(&skylake(), &workload, &scx(mode, 2 * SECOND)).unwrap();
        let counts = outcome.specialization.unwrap();
        // Two of four cores for five of ten tasks, and one for one of six.
        let mean = counts.wide_core_ns as f64 / outcome.simulated_ns as f64;
        assert!((2.0..4.2).contains(&mean), "{mode:?}: {mean}");
        assert!(counts.misplaced_slices < 30, "{mode:?}: {counts:?}");
        assert!(outcome.tasks.iter().all(|task| task.cpu_time_ns > SECOND / 5), "{mode:?}");
    }
}

/// Specialization does not concern some tasks, which no other mode is to know.
#[test]
fn default_tasks_are_tasks_like_all_others_without_specialization() {
    let enrolled = mix(machine(4, 2), 9, 7);
    let mut workload = enrolled.clone();
    workload.threads[4..12].iter_mut().for_each(|thread| thread.enrolled = false);
    let of = |workload: &Workload, mode| {
        simulator::run(&skylake(), workload, &scx(mode, SECOND)).unwrap().tasks
    };
    for mode in [KernelMode::Fair, KernelMode::Isolation] {
        assert_eq!(of(&workload, mode), of(&enrolled, mode), "{mode:?}");
    }
    for mode in [KernelMode::Specialize(SETTINGS), KernelMode::FairSpecialize(SETTINGS)] {
        assert_ne!(of(&workload, mode), of(&enrolled, mode), "{mode:?}");
    }
}

/// They run anywhere, with wide instructions too, and no load counts them.
#[test]
fn default_tasks_run_on_all_cores_and_change_none() {
    let mut workload = mix(machine(8, 1), 16, 8);
    workload.threads[16..].iter_mut().for_each(|thread| thread.enrolled = false);
    for mode in [KernelMode::Specialize(SETTINGS), KernelMode::FairSpecialize(SETTINGS)] {
        let outcome = simulator::run(&skylake(), &workload, &scx(mode, SECOND)).unwrap();
        assert_eq!(outcome.specialization.unwrap().core_changes, 0, "{mode:?}");
        assert!(outcome.level_ns[2] > outcome.simulated_ns * 3 / 2, "{mode:?}");
    }
}

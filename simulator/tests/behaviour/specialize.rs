//! Core specialization: where wide tasks run, and how many cores they get.

use cpu_model::Class;
use scenarios::{CpuSet, Draw, Role, Spread, Step, Workload};
use simulator::{
    Config, Costs, Outcome, PhaseEnd, Scheduler, SensorFaults, Specialization, SpecializationCounts,
};
use trace::{Event, SwitchState};

use crate::build::{
    MS, SECOND, Switches, add, empty, machine, run, run_switched, saturating, skylake, work,
};

fn specialize(settings: Specialization) -> Config {
    Config::plain(Scheduler::Specialize(settings), 1000 * SECOND)
}

fn published() -> Config {
    specialize(Specialization::PUBLISHED)
}

fn muqss() -> Config {
    let rq_sharing = simulator::RqSharing::Smt;
    Config::plain(Scheduler::Muqss { rq_sharing, interactive: true }, 1000 * SECOND)
}

fn counts(outcome: &Outcome) -> SpecializationCounts {
    outcome.specialization.expect("specialization has counts")
}

fn mean_wide_cores(outcome: &Outcome) -> f64 {
    counts(outcome).wide_core_ns as f64 / outcome.simulated_ns as f64
}

/// Scalar and wide threads that never wait.
fn saturated(cores: u32, narrow: u64, wide: u64, culprit: Class) -> Workload {
    saturated_for(500, cores, narrow, wide, culprit)
}

fn saturated_for(ms: u64, cores: u32, narrow: u64, wide: u64, culprit: Class) -> Workload {
    let mut workload = empty(machine(cores, 2));
    add(&mut workload, Role::Foreground, narrow, &saturating(Class::Scalar, Some(ms)));
    add(&mut workload, Role::Background, wide, &saturating(culprit, None));
    workload
}

#[test]
fn without_wide_tasks_every_thread_gets_what_muqss_gives_it() {
    let mut workload = saturated(4, 11, 9, Class::Avx2Heavy);
    workload.threads[3].nice = 5;
    let (own, plain) = (run(&workload, &published()), run(&workload, &muqss()));
    for (own, plain) in own.tasks.iter().zip(&plain.tasks).take(11) {
        let ratio = own.completion_ns.unwrap() as f64 / plain.completion_ns.unwrap() as f64;
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }
    assert_eq!((counts(&own).faults, counts(&own).core_changes), (0, 0));
}

#[test]
fn no_narrow_core_runs_at_the_level_of_wide_code() {
    for (narrow, wide) in [(32, 32), (40, 3), (3, 40), (17, 8)] {
        let workload = saturated(16, narrow, wide, Class::Avx512Heavy);
        let config = Config { history: true, ..published() };
        let outcome = run(&workload, &config);
        let changes = counts(&outcome).core_changes;
        // Cores that change their kind hold their level for 670 us; these were wide before.
        let ceiling_ns = counts(&outcome).wide_core_ns * 2 + changes * 2 * MS;
        assert!(outcome.level_ns[2] > 0 && outcome.level_ns[2] <= ceiling_ns, "{narrow} {wide}");
        // With enough narrow tasks no CPU idles before the first program ends.
        let history = outcome.history.as_ref().unwrap();
        let stops = history.records.iter().find_map(|record| match record.event {
            Event::Switch { state, next, .. } if state == SwitchState::Dead || next == 0 => {
                Some(state)
            }
            _ => None,
        });
        if narrow >= 32 {
            assert_eq!(stops, Some(SwitchState::Dead), "{narrow} {wide}");
        }
    }
}

#[test]
fn loads_of_both_kinds_of_core_become_equal() {
    for (narrow, wide, cores) in [(32, 32, 8.0), (48, 16, 4.0), (60, 4, 1.0), (8, 56, 14.0)] {
        let workload = saturated_for(3000, 16, narrow, wide, Class::Avx512Heavy);
        let outcome = run(&workload, &published());
        let mean = mean_wide_cores(&outcome);
        assert!((mean - cores).abs() < 1.2, "{narrow} {wide}: {mean:.1} wide cores");
        // At most one change in 20 ms, and none once the loads are equal.
        let at_most = outcome.simulated_ns / (20 * MS) + 1;
        assert!(counts(&outcome).core_changes <= at_most.min(40), "{:?}", counts(&outcome));
    }
}

#[test]
fn victims_lose_a_tenth_of_what_they_lose_under_muqss() {
    let build = |class| saturated(16, 32, 32, class);
    // CPU time beside wide code by that beside scalar code, as D measures (D 6.5.1).
    let added_pct = |config: &Config| {
        let cpu_time = |class| -> u64 {
            run(&build(class), config).tasks[..32].iter().map(|task| task.cpu_time_ns).sum()
        };
        100.0 * (cpu_time(Class::Avx512Heavy) as f64 / cpu_time(Class::Scalar) as f64 - 1.0)
    };
    let (plain, own) = (added_pct(&muqss()), added_pct(&published()));
    assert!(plain > 15.0 && own.abs() < plain / 10.0, "{plain:.1} % {own:.1} %");
}

#[test]
fn a_fixed_number_of_wide_cores_stays() {
    let workload = saturated(16, 32, 32, Class::Avx512Heavy);
    let config = specialize(Specialization { wide_cores: Some(3), ..Specialization::PUBLISHED });
    let outcome = run(&workload, &config);
    assert_eq!(counts(&outcome).core_changes, 0);
    assert_eq!(counts(&outcome).wide_core_ns, 3 * outcome.simulated_ns);
}

#[test]
fn a_machine_without_room_for_both_kinds_is_refused() {
    let workload = saturated(4, 1, 1, Class::Scalar);
    for wide_cores in [4, 5] {
        let settings = Specialization { wide_cores: Some(wide_cores), ..Specialization::PUBLISHED };
        let error = simulator::run(&skylake(), &workload, &specialize(settings)).unwrap_err();
        assert!(error.to_string().contains("4 cores"), "{error}");
    }
}

/// Wide tasks alone, none at all, and one core: nobody starves and nothing idles.
#[test]
fn one_kind_of_task_or_one_core_is_no_trap() {
    for (cores, narrow, wide) in [(1, 3, 3), (1, 4, 0), (4, 1, 12), (2, 9, 1)] {
        let workload = saturated(cores, narrow, wide, Class::Avx512Heavy);
        let outcome = run(&workload, &published());
        let ran = |task: &simulator::TaskOutcome| task.cpu_time_ns > 50 * MS;
        assert!(outcome.tasks.iter().all(ran), "{cores} {narrow} {wide}");
    }
}

#[test]
fn a_wide_task_that_may_use_no_wide_core_runs_and_is_counted() {
    let mut workload = saturated(4, 6, 2, Class::Avx512Heavy);
    workload.threads[6].affinity = CpuSet { cpus: vec![0, 1] };
    let settings = Specialization { wide_cores: Some(1), ..Specialization::PUBLISHED };
    let outcome = run(&workload, &specialize(settings));
    assert!(counts(&outcome).misplaced_slices > 10);
    assert!(outcome.tasks[6].cpu_time_ns > outcome.simulated_ns / 2);
    let free = saturated(4, 6, 2, Class::Avx512Heavy);
    assert_eq!(counts(&run(&free, &specialize(settings))).misplaced_slices, 0);
}

/// A wide burst, a system call, and scalar work in turn.
fn bursts(threads: u64, narrow_ns: u64, rounds: u64) -> Workload {
    let mut workload = empty(machine(16, 2));
    let program = [
        Step::Compute(work(Class::Avx512Heavy, 20_000)),
        Step::SystemCall,
        Step::Compute(work(Class::Scalar, narrow_ns)),
        Step::Loop { to: 0, times: Some(rounds) },
    ];
    add(&mut workload, Role::Foreground, threads, &program);
    workload
}

#[test]
fn a_system_call_ends_long_narrow_phases_and_short_ones_keep_the_task_wide() {
    let long = counts(&run(&bursts(48, 2 * MS, 100), &published()));
    assert!(long.faults > 4000 && long.ended_by_call * 10 > long.faults * 9, "{long:?}");
    let short = counts(&run(&bursts(48, 30_000, 2000), &published()));
    assert!(short.faults * 20 < long.faults * 20 && short.faults < 5000, "{short:?}");
    let always = Specialization { keeps_short_phases: false, ..Specialization::PUBLISHED };
    let faulting = counts(&run(&bursts(48, 30_000, 2000), &specialize(always)));
    assert!(faulting.faults > 10 * short.faults, "{faulting:?} {short:?}");
}

#[test]
fn timeouts_end_phases_where_calls_do_not_and_renewed_ones_do_not_while_registers_are_used() {
    let settings = |phase_end| Specialization { phase_end, ..Specialization::PUBLISHED };
    let saturated = saturated(16, 32, 32, Class::Avx512Heavy);
    let of = |phase_end| counts(&run(&saturated, &specialize(settings(phase_end))));
    let (fixed, renewed) = (of(PhaseEnd::Timeout), of(PhaseEnd::RenewedTimeout));
    assert!(fixed.ended_by_timeout > 500 && fixed.ended_by_call == 0, "{fixed:?}");
    assert!(renewed.ended_by_timeout < 40, "{renewed:?}");
    let calls = bursts(48, 2 * MS, 100);
    let ended = counts(&run(&calls, &specialize(settings(PhaseEnd::Timeout))));
    assert!(ended.ended_by_timeout > 200 && ended.ended_by_call == 0, "{ended:?}");
}

#[test]
fn a_fault_costs_what_a_trap_costs_and_happens_before_wide_code_runs() {
    let workload = bursts(1, 2 * MS, 50);
    let took_ns = |trap_ns| {
        let costs = Costs { trap_ns, ..Costs::default() };
        let outcome = run(&workload, &Config { costs, ..published() });
        (outcome.tasks[0].completion_ns.unwrap(), counts(&outcome).faults)
    };
    let ((without_ns, faults), (with_ns, same)) = (took_ns(0), took_ns(100_000));
    assert_eq!((faults, same), (50, 50));
    // Reference time, on a core whose clock falls from 2.8 to 1.9 GHz meanwhile.
    let mean_ns = (with_ns - without_ns) / faults;
    assert!((75_000..130_000).contains(&mean_ns), "{mean_ns}");
}

#[test]
fn a_child_inherits_the_kind_of_its_parent() {
    let mut workload = empty(machine(2, 2));
    let parent = [
        Step::Compute(work(Class::Avx512Heavy, MS)),
        Step::Fork(1),
        Step::Compute(work(Class::Scalar, MS)),
    ];
    add(&mut workload, Role::Foreground, 1, &parent);
    add(&mut workload, Role::Foreground, 1, &saturating(Class::Avx512Heavy, Some(3)));
    // The fork is a system call, which ends the phase of the parent before there is a child.
    let kept = Specialization { phase_end: PhaseEnd::Timeout, ..Specialization::PUBLISHED };
    let faults = |settings| counts(&run(&workload, &specialize(settings))).faults;
    assert_eq!((faults(Specialization::PUBLISHED), faults(kept)), (2, 1));
}

/// 10 kHz of changes and sleeps: the books stay right, and every thread gets on.
#[test]
fn fast_changes_starve_no_task() {
    let mut workload = bursts(40, 70_000, 500);
    let sleep = Step::Sleep(Draw { mean: 60_000, spread: Spread::Exponential });
    let sleeper = [
        Step::Compute(work(Class::Avx512Heavy, 10_000)),
        sleep,
        Step::Compute(work(Class::Scalar, 30_000)),
        Step::Loop { to: 0, times: Some(500) },
    ];
    add(&mut workload, Role::Foreground, 20, &sleeper);
    let always = Specialization { keeps_short_phases: false, ..Specialization::PUBLISHED };
    let outcome = run(&workload, &specialize(always));
    assert!(counts(&outcome).faults > 10_000);
    let waited_most_ns = outcome.tasks.iter().map(|task| task.waited_ns).max().unwrap();
    assert!(waited_most_ns < outcome.simulated_ns * 3 / 4, "{waited_most_ns}");
}

fn fair_specialize() -> Config {
    Config::plain(Scheduler::FairSpecialize(Specialization::PUBLISHED), 1000 * SECOND)
}

/// Victims as fast as beside scalar code, and culprits no slower than their own clock makes them.
#[test]
fn fair_specialize_isolates_and_takes_nothing_from_culprits() {
    let of = |class, config: &Config| {
        let workload = saturated_for(2000, 16, 32, 32, class);
        let outcome = run(&workload, config);
        let end_ns = outcome.tasks[..32].iter().filter_map(|task| task.completion_ns).max();
        let work: u64 = outcome.tasks[32..].iter().map(|task| task.ref_cycles).sum();
        let rate = work as f64 / outcome.simulated_ns as f64;
        (end_ns.unwrap() as f64, rate, counts(&outcome))
    };
    let (alone_ns, full_rate, _) = of(Class::Scalar, &fair_specialize());
    let (beside_ns, rate, counts) = of(Class::Avx512Heavy, &fair_specialize());
    let slowdown_pct = 100.0 * (beside_ns / alone_ns - 1.0);
    assert!(slowdown_pct.abs() < 4.0, "{slowdown_pct:.1} %");
    // 1.9 of 2.8 GHz is 68 %.
    assert!(rate / full_rate > 0.60, "{:.2}", rate / full_rate);
    assert!(counts.core_changes < 100, "{counts:?}");
}

/// Tasks that specialization does not concern use 512-bit registers anywhere (D 6.3.2).
#[test]
fn default_tasks_run_on_all_cores_and_move_none() {
    let mut workload = saturated(8, 24, 12, Class::Avx512Heavy);
    workload.threads[24..].iter_mut().for_each(|thread| thread.enrolled = false);
    for config in [published(), fair_specialize()] {
        let outcome = run(&workload, &config);
        assert_eq!((counts(&outcome).faults, counts(&outcome).core_changes), (0, 0));
        // A third of 8 cores; one of them is wide from the beginning.
        assert!(outcome.level_ns[2] > outcome.simulated_ns * 3 / 2);
    }
}

/// The dynamic linker opens a narrow core until the next context switch (D 6.2.3).
#[test]
fn lazy_binding_hides_wide_code_until_a_task_first_leaves_its_cpu() {
    let lazy = SensorFaults { lazy_binding: true, ..SensorFaults::default() };
    for config in [published(), fair_specialize()] {
        let faults = |ms, sensor_faults| {
            let mut workload = empty(machine(8, 1));
            add(&mut workload, Role::Foreground, 7, &saturating(Class::Avx512Heavy, Some(ms)));
            counts(&run(&workload, &Config { sensor_faults, ..config.clone() })).faults
        };
        // Programs of less than a slice, and such that run on.
        assert!(faults(2, SensorFaults::default()) > 0 && faults(2, lazy) == 0);
        assert!(faults(100, lazy) > 0);
    }
}

/// Loads are those of narrow and wide tasks alone (D Eq. 6.1, 6.2): half of the cores for each.
#[test]
fn default_tasks_count_for_no_load() {
    let mut workload = saturated_for(1000, 8, 8, 8, Class::Avx512Heavy);
    add(&mut workload, Role::Background, 32, &saturating(Class::Scalar, None));
    workload.threads[16..].iter_mut().for_each(|thread| thread.enrolled = false);
    let mean = mean_wide_cores(&run(&workload, &published()));
    assert!((3.0..5.0).contains(&mean), "{mean:.1} wide cores");
}

#[test]
fn fair_specialize_lets_every_core_be_wide_where_wide_tasks_would_wait() {
    let mut workload = empty(machine(4, 2));
    add(&mut workload, Role::Foreground, 12, &saturating(Class::Avx512Heavy, Some(500)));
    let outcome = run(&workload, &fair_specialize());
    let counts = counts(&outcome);
    assert!(counts.wide_core_ns > outcome.simulated_ns * 3, "{counts:?}");
    assert!(outcome.idle_ns < outcome.simulated_ns / 2, "{}", outcome.idle_ns);
}

/// One core, one kind of task, affinity without a wide core: every task gets its share.
#[test]
fn fair_specialize_starves_no_task() {
    for (cores, narrow, wide) in [(1, 3, 3), (1, 4, 0), (2, 9, 1), (2, 1, 9), (4, 1, 12)] {
        let mut workload = saturated(cores, narrow, wide, Class::Avx512Heavy);
        workload.threads[0].affinity = CpuSet { cpus: vec![0, 1] };
        let outcome = run(&workload, &fair_specialize());
        let tasks = &outcome.tasks[1..];
        let of = |task: &simulator::TaskOutcome| task.cpu_time_ns as f64;
        let least = tasks.iter().map(of).fold(f64::MAX, f64::min);
        let mean = tasks.iter().map(of).sum::<f64>() / tasks.len() as f64;
        assert!(least > mean / 3.0, "{cores} {narrow} {wide}: {least} of {mean}");
    }
}

#[test]
fn fair_specialize_has_a_wide_task_that_no_wide_core_may_run_where_it_may() {
    let mut workload = saturated(4, 6, 2, Class::Avx512Heavy);
    workload.threads[6].affinity = CpuSet { cpus: vec![0, 1] };
    let settings = Specialization { wide_cores: Some(1), ..Specialization::PUBLISHED };
    let config = Config { scheduler: Scheduler::FairSpecialize(settings), ..fair_specialize() };
    let outcome = run(&workload, &config);
    assert!(counts(&outcome).misplaced_slices > 10);
    assert!(outcome.tasks[6].cpu_time_ns > outcome.simulated_ns / 3);
}

#[test]
fn switched_off_it_is_the_scheduler_without_it() {
    let mut workload = saturated(4, 9, 7, Class::Avx512Heavy);
    workload.threads.iter_mut().for_each(|thread| thread.arrival_ns = 1000);
    let fair = Scheduler::Fair {
        compensation: simulator::Compensation::Isolation,
        queues: simulator::Queues::Global,
        newcomers: simulator::Newcomers::Floor,
    };
    let fair = Config { scheduler: fair, ..fair_specialize() };
    for (own, plain) in [(published(), muqss()), (fair_specialize(), fair)] {
        let off = run_switched(&workload, &own, &[(0, false)]);
        let plain = run(&workload, &plain);
        assert_eq!(off.tasks, plain.tasks);
        assert_eq!((counts(&off).faults, counts(&off).core_changes), (0, 0));
    }
}

#[test]
fn switched_on_again_it_confines_wide_code_as_before() {
    let workload = saturated_for(2000, 8, 24, 12, Class::Avx512Heavy);
    for config in [published(), fair_specialize()] {
        let levels = |switches: &[(u64, bool)]| {
            let outcome = run_switched(&workload, &config, switches);
            let SpecializationCounts { wide_core_ns, core_changes, .. } = counts(&outcome);
            // Time at the level of wide code, without the cores that were wide; those that change
            // their kind hold the level for 670 us.
            let wide_ns = 2 * wide_core_ns + core_changes * 2 * MS;
            outcome.level_ns[2].saturating_sub(wide_ns)
        };
        assert_eq!(levels(&[]), 0);
        // For a second about 10 of 16 CPUs are of narrow cores, and wide code slows most of them.
        let off = levels(&[(SECOND, false), (2 * SECOND, true)]);
        assert!((SECOND..10 * SECOND).contains(&off), "{off}");
        // For a millisecond, and while the level is held.
        assert!(levels(&[(SECOND, false), (SECOND + MS, true)]) < 2 * 10 * MS);
    }
}

#[test]
fn a_scheduler_without_specialization_has_nothing_to_switch() {
    let mut operator = Switches(vec![(MS, false)]);
    let workload = saturated(2, 2, 2, Class::Scalar);
    let result = simulator::run_operated(&skylake(), &workload, &muqss(), &mut operator);
    assert_eq!(result.err(), Some(simulator::SimError::NotSpecialized));
}

/// Changes of cores until a time, and the time for which cores were wide.
fn changes_until(workload: &Workload, config: &Config, limit_ns: u64) -> (u64, u64) {
    let config = Config { limit_ns, ..config.clone() };
    let outcome = simulator::run(&skylake(), workload, &config).unwrap();
    (counts(&outcome).core_changes, counts(&outcome).wide_core_ns)
}

#[test]
fn cores_settle_within_a_second_where_shares_are_whole_cores() {
    // By the shares of virtual time the last narrow core becomes wide as well.
    for (narrow, wide, cores) in
        [(32, 32, [8, 8]), (48, 16, [4, 4]), (60, 4, [1, 1]), (8, 56, [14, 16])]
    {
        let workload = saturated_for(10_000, 16, narrow, wide, Class::Avx512Heavy);
        for (config, cores) in [published(), fair_specialize()].iter().zip(cores) {
            let (before, settled_ns) = changes_until(&workload, config, SECOND);
            let (after, end_ns) = changes_until(&workload, config, 3 * SECOND);
            assert!(after - before <= 20, "{narrow} {wide}: {before} {after}");
            let mean = (end_ns - settled_ns) as f64 / (2 * SECOND) as f64;
            assert!((mean - f64::from(cores)).abs() < 0.2, "{narrow} {wide}: {mean}");
        }
    }
}

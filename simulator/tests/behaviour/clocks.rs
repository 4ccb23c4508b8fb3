//! Machines whose cores differ in clock: what is lost on them, and which of them are wide.

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use scenarios::{CpuSet, Role, Workload};
use simulator::{Compensation, Config, Outcome, Scheduler, SensorSet, Specialization};
use trace::Event;

use crate::build::{MS, SECOND, add, empty, fair, machine, saturating};

/// Cores 0 to 5 of 16 have high priority.
const FAST_CORES: usize = 6;

fn speed_select() -> CpuModel {
    CpuTable::by_name("cascade-lake-sst-tf").unwrap().model(TurboMode::On).unwrap()
}

fn run(workload: &Workload, config: &Config) -> Outcome {
    simulator::run(&speed_select(), workload, config).unwrap()
}

#[test]
fn a_capped_clock_is_slower_and_no_time_lost() {
    for (class, ratio) in [(Class::Scalar, 3100.0 / 2600.0), (Class::Avx512Heavy, 2900.0 / 2100.0)]
    {
        let mut workload = empty(machine(16, 1));
        add(&mut workload, Role::Foreground, 2, &saturating(class, Some(1000)));
        for (thread, cpu) in workload.threads.iter_mut().zip([0, 15]) {
            thread.affinity = CpuSet { cpus: vec![cpu] };
        }
        for sensors in [SensorSet::Truth, SensorSet::D7] {
            let config = Config { sensors, ..fair(Compensation::Isolation) };
            let outcome = run(&workload, &config);
            let [fast, slow] = [0, 1].map(|task| outcome.tasks[task].completion_ns.unwrap() as f64);
            assert!((slow / fast - ratio).abs() < 1e-3, "{class:?}: {slow} {fast}");
            for task in &outcome.tasks {
                // A throttled request for the license comes before the wide tasks run at it.
                let limit_ns = if class == Class::Scalar { 0 } else { MS };
                assert!(task.lost_ns <= limit_ns, "{class:?}: {task:?}");
                assert!(task.refunded_ns <= limit_ns, "{class:?} {sensors:?}: {task:?}");
            }
        }
    }
}

/// What a wide task costs its victim on a slow core, relative to the frequency of that core.
#[test]
fn what_is_lost_on_a_core_is_measured_by_its_own_frequencies() {
    for (cpu, lost) in [(0, 1.0 - 2900.0 / 3100.0), (15, 1.0 - 2100.0 / 2600.0)] {
        let mut workload = empty(machine(16, 2));
        add(&mut workload, Role::Foreground, 1, &saturating(Class::Scalar, Some(200)));
        add(&mut workload, Role::Background, 1, &saturating(Class::Avx512Heavy, None));
        for (thread, sibling) in workload.threads.iter_mut().zip(0..) {
            thread.affinity = CpuSet { cpus: vec![2 * cpu + sibling] };
        }
        let model = Config { sensors: SensorSet::D7, ..fair(Compensation::Isolation) };
        let mut configs = vec![model];
        #[cfg(feature = "scx")]
        {
            let scheduler = Scheduler::Scx(simulator::KernelMode::Isolation);
            let sensors = SensorSet::Rules;
            workload.threads[1].ruled_class = Some(Class::Avx512Heavy);
            configs.push(Config { scheduler, sensors, ..fair(Compensation::None) });
        }
        for config in configs {
            let victim = &run(&workload, &config).tasks[0];
            let [actual, refunded] = [victim.lost_ns, victim.refunded_ns]
                .map(|ns| ns as f64 / victim.cpu_time_ns as f64);
            // The license rises within the first 40 us.
            assert!((actual - lost).abs() < 0.002, "{cpu}: {actual:.3} of {lost:.3}");
            assert!((refunded - lost).abs() < 0.005, "{cpu}: {refunded:.3} of {lost:.3}");
        }
    }
}

/// The time in which wide tasks, the last ones, had a CPU of a fast core, and of a slow one.
fn wide_ns(outcome: &Outcome, narrow: u32, from_ns: u64) -> [u64; 2] {
    let mut time_ns = [0; 2];
    let mut running = [(0, 0); 32];
    let mut ends = |cpu: usize, (task, since_ns): (u32, u64), now_ns: u64| {
        // Tasks are numbered from 1.
        if task > narrow {
            time_ns[usize::from(cpu / 2 >= FAST_CORES)] +=
                now_ns.saturating_sub(since_ns.max(from_ns));
        }
    };
    for record in &outcome.history.as_ref().unwrap().records {
        let Event::Switch { cpu, next, .. } = record.event else { continue };
        let cpu = cpu as usize;
        ends(cpu, std::mem::replace(&mut running[cpu], (next, record.time_ns)), record.time_ns);
    }
    for (cpu, &last) in running.iter().enumerate() {
        ends(cpu, last, outcome.simulated_ns);
    }
    time_ns
}

fn config_of(scheduler: &Scheduler) -> Config {
    Config {
        scheduler: scheduler.clone(),
        sensors: SensorSet::Rules,
        hz: 1000,
        limit_ns: 2 * SECOND,
        history: true,
        ..fair(Compensation::None)
    }
}

/// The share of wide tasks is 5.8 of 16 cores; ten are slow.
fn check(scheduler: &Scheduler) {
    let mut workload = empty(machine(16, 2));
    add(&mut workload, Role::Foreground, 28, &saturating(Class::Scalar, Some(100_000)));
    add(&mut workload, Role::Background, 16, &saturating(Class::Avx512Heavy, None));
    for thread in &mut workload.threads[28..] {
        thread.ruled_class = Some(Class::Avx512Heavy);
    }
    let outcome = run(&workload, &config_of(scheduler));
    let [fast_ns, slow_ns] = wide_ns(&outcome, 28, SECOND);
    assert!(fast_ns < 5 * MS, "{scheduler:?}: {fast_ns} ns on fast cores");
    assert!(slow_ns > 8 * SECOND, "{scheduler:?}: {slow_ns} ns on slow cores");
}

/// Wide tasks that are bound to the fast cores, and to the one that is wide at the start, make fast
/// ones wide, and no slow core in their stead.
fn check_bound(scheduler: &Scheduler) {
    let mut workload = empty(machine(16, 2));
    add(&mut workload, Role::Foreground, 28, &saturating(Class::Scalar, Some(100_000)));
    add(&mut workload, Role::Background, 10, &saturating(Class::Avx512Heavy, None));
    for thread in &mut workload.threads[28..] {
        thread.ruled_class = Some(Class::Avx512Heavy);
        thread.affinity = CpuSet { cpus: (0..2 * FAST_CORES as u32).chain([30, 31]).collect() };
    }
    let outcome = run(&workload, &config_of(scheduler));
    let mean = outcome.specialization.unwrap().wide_core_ns as f64 / outcome.simulated_ns as f64;
    assert!((2.0..7.1).contains(&mean), "{scheduler:?}: {mean:.1} wide cores");
    let least_ns = outcome.tasks[28..].iter().map(|task| task.cpu_time_ns).min();
    assert!(least_ns > Some(SECOND / 2), "{scheduler:?}: {least_ns:?}");
}

fn for_each_scheduler(check: impl Fn(&Scheduler)) {
    check(&Scheduler::Specialize(Specialization::PUBLISHED));
    check(&Scheduler::FairSpecialize(Specialization::PUBLISHED));
    #[cfg(feature = "scx")]
    {
        use simulator::{KernelMode, PhaseEnd};
        let settings = Specialization { phase_end: PhaseEnd::Timeout, ..Specialization::PUBLISHED };
        check(&Scheduler::Scx(KernelMode::Specialize(settings)));
        check(&Scheduler::Scx(KernelMode::FairSpecialize(settings)));
    }
}

#[test]
fn slow_cores_are_wide_before_fast_ones() {
    for_each_scheduler(check);
}

#[test]
fn wide_tasks_bound_to_fast_cores_make_those_wide() {
    for_each_scheduler(check_bound);
}

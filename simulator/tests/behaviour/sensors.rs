//! The readings of each sensor set, and the compensation that they allow.

use cpu_model::Class;
use scenarios::{Draw, Role, Spread, Step, Workload};
use simulator::{
    Compensation, Config, Outcome, Scheduler, SensorFaults, SensorSet, Specialization,
};

use crate::build::{MS, SECOND, add, empty, fair, machine, run, saturating, slowdown_pct, work};

const TOLERANCE_PCT: f64 = 1.0;

/// Scalar victims and wide culprits, two of each a core.
fn mixed(culprit: Class) -> Workload {
    let mut workload = empty(machine(2, 2));
    add(&mut workload, Role::Foreground, 4, &saturating(Class::Scalar, Some(4000)));
    add(&mut workload, Role::Background, 4, &saturating(culprit, None));
    workload
}

fn isolation(sensors: SensorSet) -> Config {
    Config { sensors, ..fair(Compensation::Isolation) }
}

fn slowdown(culprit: Class, config: &Config) -> f64 {
    slowdown_pct(mixed, culprit, config)
}

fn refunded_ns(outcome: &Outcome) -> u64 {
    outcome.tasks.iter().map(|task| task.refunded_ns).sum()
}

fn lost_ns(outcome: &Outcome) -> u64 {
    outcome.tasks.iter().map(|task| task.lost_ns).sum()
}

#[test]
fn perfect_knowledge_leaves_no_more_than_the_sensors_do() {
    for culprit in [Class::Avx2Heavy, Class::Avx512Heavy] {
        let none = slowdown(culprit, &fair(Compensation::None));
        let truth = slowdown(culprit, &isolation(SensorSet::Truth));
        let d7 = slowdown(culprit, &isolation(SensorSet::D7));
        assert!(truth.abs() <= d7.abs() + TOLERANCE_PCT, "{truth:.2} % and {d7:.2} %");
        assert!(d7 < none / 2.0, "d7 leaves {d7:.2} of {none:.2} %");
    }
}

/// Names decide under `rules`: the tasks that really run 512-bit code must not show.
#[test]
fn wrong_names_bill_the_wrong_task() {
    let mut workload = empty(machine(2, 2));
    add(&mut workload, Role::Foreground, 4, &saturating(Class::Scalar, Some(1000)));
    add(&mut workload, Role::Background, 4, &saturating(Class::Avx512Heavy, None));
    let culprits = |thread: &scenarios::Thread| thread.application == 1;
    for thread in &mut workload.threads {
        let named = if culprits(thread) { Class::Scalar } else { Class::Avx512Heavy };
        thread.ruled_class = Some(named);
    }
    let outcome = run(&workload, &isolation(SensorSet::Rules));
    let billed = |wanted: bool| -> u64 {
        let tasks = workload.threads.iter().zip(&outcome.tasks);
        tasks.filter(|(t, _)| culprits(t) == wanted).map(|(_, task)| task.billed_ns).sum()
    };
    assert_eq!(billed(true), 0);
    assert!(billed(false) > 0);
}

/// License cycles and stalls give the loss to within a tenth (D 7.4.2).
#[test]
fn counters_measure_the_loss() {
    let outcome = run(&mixed(Class::Avx512Heavy), &isolation(SensorSet::D7));
    let ratio = refunded_ns(&outcome) as f64 / lost_ns(&outcome) as f64;
    assert!((0.9..1.1).contains(&ratio), "refunded {ratio:.3} of the loss");
}

#[test]
fn the_truth_is_refunded_to_the_last_nanosecond_of_each_slice() {
    let config = Config { sensors: SensorSet::Truth, ..fair(Compensation::Relative) };
    let outcome = run(&mixed(Class::Avx512Heavy), &config);
    let slices: u64 = outcome.tasks.iter().map(|task| task.slices).sum();
    // Consecutive slices of a task are one to the history, several to the sensors.
    let gap = lost_ns(&outcome) - refunded_ns(&outcome);
    assert!(gap <= 4 * slices, "{gap} ns in {slices} slices");
}

/// Refunds that counted instructions add to those of registers alone.
fn counted_ns(workload: &Workload) -> u64 {
    let refunded = |sensors| refunded_ns(&run(workload, &isolation(sensors)));
    refunded(SensorSet::FpRetired) - refunded(SensorSet::Xinuse)
}

#[test]
fn no_event_counts_light_wide_instructions() {
    let light = mixed(Class::Avx512Light);
    assert!(lost_ns(&run(&light, &isolation(SensorSet::FpRetired))) > 0, "victims do lose");
    assert_eq!(counted_ns(&light), 0);
    assert!(counted_ns(&mixed(Class::Avx512Heavy)) > 0);
}

/// The same heavy code on integers, as in most of a video encoder.
#[test]
fn no_floating_point_counter_sees_heavy_integer_code() {
    let mut workload = mixed(Class::Avx512Heavy);
    for thread in &mut workload.threads {
        for step in &mut thread.program {
            if let Step::Compute(work) = step {
                work.integer = true;
            }
        }
    }
    assert_eq!(counted_ns(&workload), 0);
    let refunded = |sensors| refunded_ns(&run(&workload, &isolation(sensors)));
    assert!(refunded(SensorSet::Xinuse) > 0 && refunded(SensorSet::D7) > 0);
}

/// Evenly spread errors cancel over many slices, where the loss is far from nothing.
#[test]
fn noisy_counters_scatter_refunds_and_keep_their_sum() {
    let with_noise = |permille| {
        let sensor_faults =
            SensorFaults { counter_noise_permille: permille, ..SensorFaults::default() };
        run(&mixed(Class::Avx512Heavy), &Config { sensor_faults, ..isolation(SensorSet::D7) })
    };
    let (exact, noisy) = (with_noise(0), with_noise(50));
    assert_ne!(refunded_ns(&exact), refunded_ns(&noisy));
    let of_loss = refunded_ns(&noisy) as f64 / lost_ns(&noisy) as f64;
    assert!((0.9..1.1).contains(&of_loss), "refunded {of_loss:.3} of the loss");
}

/// EVEX string functions trap in everybody's slices: nobody looks like a victim (D 6.5.1).
#[test]
fn string_functions_that_trap_void_the_traps_and_leave_register_state_alone() {
    let with_strings = |sensors| {
        let sensor_faults = SensorFaults { evex_strings: true, ..SensorFaults::default() };
        run(&mixed(Class::Avx512Heavy), &Config { sensor_faults, ..isolation(sensors) })
    };
    assert_eq!(refunded_ns(&with_strings(SensorSet::D7)), 0);
    let without = run(&mixed(Class::Avx512Heavy), &isolation(SensorSet::Xinuse));
    assert_eq!(refunded_ns(&with_strings(SensorSet::Xinuse)), refunded_ns(&without));
}

/// Traps take light 512-bit code for heavy code, which is never a victim. D proposes events of the
/// level that code needs (4.6.2).
#[test]
fn proposed_events_tell_light_code_from_heavy_code() {
    let build = || {
        let mut workload = empty(machine(2, 2));
        add(&mut workload, Role::Foreground, 4, &saturating(Class::Avx512Light, Some(4000)));
        add(&mut workload, Role::Background, 4, &saturating(Class::Avx512Heavy, None));
        workload
    };
    let found = |sensors| refunded_ns(&run(&build(), &isolation(sensors)));
    let lost_ns = lost_ns(&run(&build(), &isolation(SensorSet::Truth)));
    assert_eq!(found(SensorSet::D7), 0);
    let proposed = found(SensorSet::Proposed);
    assert!(lost_ns > MS && proposed > lost_ns / 2, "{proposed} of {lost_ns} ns");
}

/// XCR0 forbids 512-bit registers alone; an interrupt before the clock falls (D 6.6.4) confines
/// 256-bit code as well, and leaves code alone that lowers no clock.
#[test]
fn a_power_interrupt_confines_what_lowers_the_clock() {
    let faults = |class, rate_permille, sensors| {
        let mut workload = empty(machine(8, 1));
        let mut program = saturating(class, Some(50));
        for step in &mut program {
            if let Step::Compute(work) = step {
                work.rate_permille = rate_permille;
            }
        }
        add(&mut workload, Role::Foreground, 6, &program);
        let scheduler = Scheduler::Specialize(Specialization::PUBLISHED);
        let config = Config { sensors, ..Config::plain(scheduler, 1000 * SECOND) };
        run(&workload, &config).specialization.unwrap().faults
    };
    for sensors in [SensorSet::D7, SensorSet::Proposed] {
        assert!(faults(Class::Avx512Heavy, 1000, sensors) > 0);
        assert_eq!(faults(Class::Scalar, 1000, sensors), 0);
    }
    assert_eq!(faults(Class::Avx2Heavy, 1000, SensorSet::D7), 0);
    assert!(faults(Class::Avx2Heavy, 1000, SensorSet::Proposed) > 0);
    assert_eq!(faults(Class::Avx2Heavy, 100, SensorSet::Proposed), 0);
}

/// Register state is seen at about 1 in 40 switch-outs; evidence counts for 2 s.
#[test]
fn rare_register_state_is_enough_for_programs_that_use_it_all_the_time() {
    let outcome = run(&mixed(Class::Avx512Heavy), &isolation(SensorSet::Xinuse));
    let recall = refunded_ns(&outcome) as f64 / lost_ns(&outcome) as f64;
    assert!((0.5..1.3).contains(&recall), "refunded {recall:.2} of the loss");
    let scalar = run(&mixed(Class::Scalar), &isolation(SensorSet::Xinuse));
    assert_eq!(refunded_ns(&scalar), 0);
}

#[test]
fn rules_believe_names() {
    let mut workload = mixed(Class::Avx512Heavy);
    let named = refunded_ns(&run(&workload, &isolation(SensorSet::Rules)));
    assert!(named > 0);
    for thread in &mut workload.threads {
        thread.ruled_class = Some(Class::Scalar);
    }
    let misnamed = run(&workload, &isolation(SensorSet::Rules));
    assert_eq!(refunded_ns(&misnamed), 0);
    assert!(lost_ns(&misnamed) > 0);
    // Rules that blame the victims pay the culprits.
    for thread in &mut workload.threads {
        let is_victim = thread.application == 0;
        thread.ruled_class = Some(if is_victim { Class::Avx512Heavy } else { Class::Scalar });
    }
    let inverted = run(&workload, &isolation(SensorSet::Rules));
    assert!(inverted.tasks[..4].iter().all(|task| task.refunded_ns == 0));
    assert!(inverted.tasks[..4].iter().all(|task| task.billed_ns > 0));
}

/// The slice of the trapped task pays for the trap: less work in the same CPU time.
#[test]
fn a_trap_costs_work_where_a_policy_uses_sensors_that_trap_and_nowhere_else() {
    let culprits_work = |sensors, compensation, trap_ns| {
        let mut config = Config { sensors, ..fair(compensation) };
        config.costs.trap_ns = trap_ns;
        let outcome = run(&mixed(Class::Avx512Heavy), &config);
        outcome.tasks[4..].iter().map(|task| task.ref_cycles).sum::<u64>()
    };
    let traps_cost = |sensors, compensation| {
        let [free, costly] = [0, 100_000].map(|ns| culprits_work(sensors, compensation, ns));
        costly < free
    };
    assert!(traps_cost(SensorSet::D7, Compensation::Relative));
    assert!(!traps_cost(SensorSet::Xinuse, Compensation::Relative));
    assert!(!traps_cost(SensorSet::D7, Compensation::None));
}

fn with_faults(workload: &Workload, sensors: SensorSet, sensor_faults: SensorFaults) -> Outcome {
    run(workload, &Config { sensor_faults, ..isolation(sensors) })
}

/// The share of their losses that victims got back.
fn returned(workload: &Workload, sensors: SensorSet, faults: SensorFaults) -> f64 {
    let outcome = with_faults(workload, sensors, faults);
    let victims = &outcome.tasks[..4];
    let refunded_ns: u64 = victims.iter().map(|task| task.refunded_ns).sum();
    let lost_ns: u64 = victims.iter().map(|task| task.lost_ns).sum();
    refunded_ns as f64 / lost_ns as f64
}

/// A measured clock gives the row of the actual number of active cores, whatever the table's
/// levels; a clock computed from the table has the table's errors.
#[test]
fn a_wrong_table_changes_what_is_returned_and_nothing_of_the_machine() {
    let wrong = |table_error_permille| SensorFaults { table_error_permille, ..Default::default() };
    let returned = |sensors, error| returned(&mixed(Class::Avx512Heavy), sensors, wrong(error));
    let [low, exact, high] = [-100, 0, 100].map(|error| returned(SensorSet::D7, error));
    assert!((low - exact).abs() < 0.02, "{low:.2} and {exact:.2}");
    assert!((high - exact).abs() < 0.02, "{high:.2} and {exact:.2}");
    let [low, exact, high] = [-100, 0, 100].map(|error| returned(SensorSet::Rules, error));
    assert!(low > exact + 0.1, "{low:.2} and {exact:.2}");
    assert!(high <= exact, "{high:.2} and {exact:.2}");
    let of_fair = |sensor_faults| {
        let config = Config { sensor_faults, ..fair(Compensation::None) };
        run(&mixed(Class::Avx512Heavy), &config).tasks
    };
    assert_eq!(of_fair(wrong(0)), of_fair(wrong(-100)));
}

#[test]
fn stalls_that_are_counted_too_often_return_less() {
    let mut workload = mixed(Class::Avx512Heavy);
    for thread in &mut workload.threads {
        for step in &mut thread.program {
            if let Step::Compute(work) = step {
                work.stall_permille = 400;
            }
        }
    }
    let returned = |sensors, stall_error_permille| {
        let faults = SensorFaults { stall_error_permille, ..SensorFaults::default() };
        returned(&workload, sensors, faults)
    };
    let [few, exact, many] = [-300, 0, 300].map(|error| returned(SensorSet::D7, error));
    assert!(few > exact + 0.05 && many < exact - 0.05, "{few:.2}, {exact:.2}, {many:.2}");
    assert_eq!(returned(SensorSet::Truth, 0), returned(SensorSet::Truth, 300));
}

#[test]
fn victims_that_are_taken_for_culprits_get_nothing_back() {
    let faults =
        |permille| SensorFaults { false_detections_permille: permille, ..SensorFaults::default() };
    let mixed = mixed(Class::Avx512Heavy);
    let returned = |sensors, permille| returned(&mixed, sensors, faults(permille));
    for sensors in [SensorSet::D7, SensorSet::FpRetired] {
        let [never, seldom, always] = [0, 50, 1000].map(|permille| returned(sensors, permille));
        assert!(always < seldom && seldom < never, "{always:.2}, {seldom:.2}, {never:.2}");
    }
    assert_eq!(returned(SensorSet::Rules, 0), returned(SensorSet::Rules, 1000));
    let tasks = |permille| with_faults(&mixed, SensorSet::D7, faults(permille)).tasks;
    assert_eq!(tasks(50), tasks(50));
}

/// Tasks with wide code in every second slice: a slice late is always wrong.
#[test]
fn a_late_detection_refunds_a_task_for_its_own_level() {
    let mut workload = empty(machine(1, 1));
    let [light, wide] = [Class::Scalar, Class::Avx512Heavy].map(|class| work(class, 3 * MS));
    let nap = Step::Sleep(Draw { mean: 2 * MS, spread: Spread::Fixed });
    let rounds = Step::Loop { to: 0, times: Some(200) };
    let program = [Step::Compute(light), nap, Step::Compute(wide), nap, rounds];
    add(&mut workload, Role::Foreground, 2, &program);
    let of_loss = |false_detections_permille| {
        let faults = SensorFaults { false_detections_permille, ..SensorFaults::default() };
        let outcome = with_faults(&workload, SensorSet::D7, faults);
        refunded_ns(&outcome) as f64 / lost_ns(&outcome) as f64
    };
    let (on_time, late) = (of_loss(0), of_loss(1));
    assert!(on_time < 1.1 && late > 2.0, "refunded {on_time:.2} and {late:.2} of the loss");
}

#[test]
fn on_a_core_without_sensors_the_evidence_of_other_cores_counts() {
    let returned = |sensors, deaf_cores_permille| {
        let faults = SensorFaults { deaf_cores_permille, ..SensorFaults::default() };
        returned(&mixed(Class::Avx512Heavy), sensors, faults)
    };
    for sensors in [SensorSet::D7, SensorSet::Rules, SensorSet::Truth] {
        let [none, half, all] = [0, 500, 1000].map(|permille| returned(sensors, permille));
        assert!((0.8..1.2).contains(&(half / none)), "{half:.2} of {none:.2}");
        // Names are known everywhere.
        assert_eq!(all, if sensors == SensorSet::Rules { none } else { 0.0 });
    }
}

//! Core scheduling: the siblings of a core run one application, or idle.

use cpu_model::Class;
use scenarios::{Draw, Role, Spread, Step, Workload};
use simulator::{CfsKernel, Config, Outcome, Scheduler};
use trace::Event;

use crate::build::{MS, SECOND, add, empty, machine, run, saturating, work};

fn config() -> Config {
    Config::plain(Scheduler::CoreScheduling(CfsKernel::V5_9), 1000 * SECOND)
}

/// Two applications, with sleepers among the first.
fn mixed(cores: u32, culprit: Class) -> Workload {
    let mut workload = empty(machine(cores, 2));
    let threads = u64::from(2 * cores);
    let sleep = Step::Sleep(Draw { mean: 700_000, spread: Spread::Uniform(500) });
    let again = Step::Loop { to: 0, times: Some(150) };
    add(&mut workload, Role::Foreground, threads, &saturating(Class::Scalar, Some(400)));
    let sleeper = [Step::Compute(work(Class::Scalar, 2 * MS)), sleep, again];
    add(&mut workload, Role::Foreground, 2, &sleeper);
    workload.threads.iter_mut().for_each(|thread| thread.application = 0);
    workload.applications.truncate(1);
    add(&mut workload, Role::Background, threads, &saturating(culprit, None));
    workload
}

#[test]
fn siblings_run_one_application_at_any_time() {
    let workload = mixed(4, Class::Avx512Heavy);
    let outcome = run(&workload, &Config { history: true, ..config() });
    let history = outcome.history.as_ref().unwrap();
    let mut runs = [None; 8];
    let (mut since_ns, mut together_ns) = (0, 0);
    for record in &history.records {
        let pairs = runs.chunks(2).filter(|pair| pair[0].is_some() && pair[1].is_some());
        let unlike = pairs.filter(|pair| pair[0] != pair[1]).count();
        assert!(unlike == 0 || record.time_ns == since_ns, "at {} ns: {runs:?}", record.time_ns);
        if runs[0].is_some() && runs[1].is_some() {
            together_ns += record.time_ns - since_ns;
        }
        since_ns = record.time_ns;
        if let Event::Switch { cpu, next, .. } = record.event {
            let task = (next as usize).checked_sub(1);
            runs[cpu as usize] = task.map(|task| workload.threads[task].application);
        }
    }
    assert!(together_ns > outcome.simulated_ns / 2, "siblings hardly ever ran together");
}

fn cpu_time_ns(outcome: &Outcome, tasks: std::ops::Range<usize>) -> u64 {
    outcome.tasks[tasks].iter().map(|task| task.cpu_time_ns).sum()
}

#[test]
fn both_applications_get_on_and_the_victim_keeps_its_clock() {
    let cfs = Config { scheduler: Scheduler::Cfs(CfsKernel::V5_9), ..config() };
    let of = |class, config: &Config| {
        let outcome = run(&mixed(8, class), config);
        let (own, other) = (cpu_time_ns(&outcome, 0..18), cpu_time_ns(&outcome, 18..34));
        assert!(other > own / 3, "{own} {other}");
        own as f64
    };
    let added = |config| of(Class::Avx512Heavy, config) / of(Class::Scalar, config) - 1.0;
    let (plain, apart) = (added(&cfs), added(&config()));
    assert!(plain > 0.05 && apart < plain / 2.0, "{plain:.3} {apart:.3}");
}

/// One core, two applications of one thread: they take turns, and a CPU idles all the time.
#[test]
fn forced_idle_is_counted_and_starves_no_application() {
    let mut workload = empty(machine(1, 2));
    add(&mut workload, Role::Foreground, 1, &saturating(Class::Scalar, Some(400)));
    add(&mut workload, Role::Foreground, 1, &saturating(Class::Scalar, Some(400)));
    let outcome = run(&workload, &config());
    let forced_ns = outcome.core_forced_idle_ns.unwrap();
    let ends = [0, 1].map(|task| outcome.tasks[task].completion_ns.unwrap() as f64);
    assert!(ends[0] / ends[1] > 0.85 && ends[0] / ends[1] < 1.15, "{ends:?}");
    assert!(forced_ns > outcome.simulated_ns * 8 / 10, "{forced_ns}");
    assert!(forced_ns <= outcome.idle_ns);
}

//! Schedulers in Rust by the public interface.

use std::collections::VecDeque;

use cpu_model::Class;
use scenarios::{Role, Step, Workload};
use simulator::custom::{Custom, CustomScheduler, Machine, Pick, Refund, Stop, Stopped};
use simulator::{Config, Scheduler, SensorSet, SimError};

use crate::build::{MS, SECOND, add, empty, machine, run, saturating, skylake, work};

/// One queue in order of arrival, with a mistake.
struct Fifo {
    waiting: VecDeque<usize>,
    mistake: Mistake,
    slice_ns: Option<u64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    LosesTask1,
    PicksTwice,
    PicksWhatIsNotThere,
    IgnoresAffinity,
    WakesNoCpu,
}

impl CustomScheduler for Fifo {
    fn wakes(&mut self, machine: &dyn Machine, task: usize) -> Option<usize> {
        if self.mistake != Mistake::LosesTask1 || task != 1 {
            self.waiting.push_back(task);
        }
        if self.mistake == Mistake::WakesNoCpu {
            return Some(machine.cpus());
        }
        machine.idle_cpu_near(task, machine.last_cpu(task).unwrap_or(0))
    }

    fn stops(&mut self, machine: &dyn Machine, stopped: &Stopped) -> Refund {
        let _ = machine;
        if stopped.why == Stop::Preempted {
            self.waiting.push_back(stopped.task);
        }
        let Some(seen) = stopped.seen else { return Refund::default() };
        assert!(seen.lost_ns <= stopped.ran_ns);
        Refund { refund_ns: seen.lost_ns, bill_ns: seen.lost_ns, culprit: seen.culprit }
    }

    fn picks(&mut self, machine: &dyn Machine, cpu: usize) -> Option<Pick> {
        let pick = |task| Some(Pick { task, slice_ns: self.slice_ns });
        match self.mistake {
            Mistake::PicksTwice if !self.waiting.is_empty() => pick(self.waiting[0]),
            Mistake::PicksWhatIsNotThere => pick(machine.tasks()),
            _ => {
                let is_free = self.mistake == Mistake::IgnoresAffinity;
                let may = |&task: &usize| is_free || machine.may_run_on(task, cpu);
                let place = self.waiting.iter().position(may)?;
                pick(self.waiting.remove(place)?)
            }
        }
    }

    fn ticks(&mut self, _: &dyn Machine, _: usize, _: usize) -> bool {
        self.slice_ns.is_none() && !self.waiting.is_empty()
    }
}

fn fifo(mistake: Mistake, slice_ns: Option<u64>) -> Custom {
    Custom::new("mine", move |_| Fifo { waiting: VecDeque::new(), mistake, slice_ns })
}

/// Three tasks without end on one core of two CPUs, the last one on CPU 1 alone.
fn three() -> Workload {
    let mut workload = empty(machine(1, 2));
    for class in [Class::Scalar, Class::Scalar, Class::Avx512Heavy] {
        add(&mut workload, Role::Foreground, 1, &saturating(class, None));
    }
    workload.threads[2].affinity.cpus = vec![1];
    workload
}

fn under(custom: Custom, workload: &Workload) -> Result<simulator::Outcome, SimError> {
    simulator::run(&skylake(), workload, &Config::plain(Scheduler::Custom(custom), 2 * SECOND))
}

#[test]
fn slices_and_ticks_share_a_cpu() {
    let mut workload = empty(machine(1, 1));
    add(&mut workload, Role::Foreground, 4, &saturating(Class::Scalar, None));
    for slice_ns in [Some(3 * MS), None] {
        let outcome = under(fifo(Mistake::None, slice_ns), &workload).unwrap();
        for task in &outcome.tasks {
            assert!(task.cpu_time_ns.abs_diff(SECOND / 2) <= 5 * MS, "{}", task.cpu_time_ns);
        }
        let per_s = outcome.switches / 2;
        assert!(per_s >= 240, "{slice_ns:?}: {per_s}");
    }
}

#[test]
fn without_preemption_it_is_the_model_fifo() {
    let mut workload = empty(machine(2, 2));
    let steps = [Step::Compute(work(Class::Scalar, MS)), Step::Sleep(steady(MS))];
    let program = [&steps[..], &[Step::Loop { to: 0, times: Some(200) }]].concat();
    add(&mut workload, Role::Foreground, 9, &program);
    let mine = Custom::new("mine", |_| Fifo {
        waiting: VecDeque::new(),
        mistake: Mistake::None,
        slice_ns: Some(u64::MAX / 4),
    });
    let mine = under(mine, &workload).unwrap();
    let model = run(&workload, &Config::plain(Scheduler::Fifo, 2 * SECOND));
    assert_eq!(mine.tasks, model.tasks);
}

fn steady(ns: u64) -> scenarios::Draw {
    scenarios::Draw { mean: ns, spread: scenarios::Spread::Fixed }
}

#[test]
fn sensors_are_read_on_request_and_refunds_are_counted() {
    let config = |custom| Config {
        sensors: SensorSet::D7,
        ..Config::plain(Scheduler::Custom(custom), 2 * SECOND)
    };
    let run = |custom| simulator::run(&skylake(), &three(), &config(custom)).unwrap();
    let blind = run(fifo(Mistake::None, Some(MS)));
    let seeing = run(fifo(Mistake::None, Some(MS)).with_sensors());
    let refunds = |outcome: &simulator::Outcome| -> u64 {
        outcome.tasks[..2].iter().map(|task| task.refunded_ns).sum()
    };
    assert_eq!(refunds(&blind), 0);
    let lost_ns: u64 = seeing.tasks[..2].iter().map(|task| task.lost_ns).sum();
    let share = refunds(&seeing) as f64 / lost_ns as f64;
    assert!((0.9..=1.1).contains(&share), "{share}");
}

#[test]
fn a_broken_rule_ends_the_run_with_its_task() {
    for (mistake, what) in [
        (Mistake::LosesTask1, "mine let task 1 (app1/0) wait for 1"),
        (Mistake::PicksTwice, "which does not wait for a CPU"),
        (Mistake::PicksWhatIsNotThere, "mine picked task 3, and there are 3, which does not wait"),
        (Mistake::IgnoresAffinity, "picked task 2 (app2/0) for CPU 0, which it may not use"),
        (Mistake::WakesNoCpu, "mine asked CPU 2 to choose, which is not there"),
    ] {
        let error = under(fifo(mistake, Some(MS)), &three()).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

//! Which wake-ups are those of interrupts, and which are the running task's?

use trace::Event;

use super::traps::{IDLE, import, switch};

/// An event of interrupts on CPU 0 while task 5 runs.
fn interrupt(time: &str, event: &str) -> String {
    format!("a 5/5 [000] {time}: {event}: vector=236\n")
}

/// The waker of task 40 in the history, and whether interrupts are known.
fn wakers(lines: &[String]) -> (Vec<u32>, bool) {
    let (history, report) = import(switch("1.0", IDLE, "R", ("a", 5)) + &lines.concat());
    assert_eq!(history.header.interrupts_known(), report.interrupts_known);
    let by = |record: &trace::Record| match record.event {
        Event::Wake { task: 40, by, .. } => Some(by),
        _ => None,
    };
    (history.records.iter().filter_map(by).collect(), report.interrupts_known)
}

fn waking(time: &str) -> String {
    format!("a 5/5 [000] {time}: sched:sched_waking: comm=z pid=40 prio=120 target_cpu=000\n")
}

#[test]
fn a_wake_within_a_recorded_interrupt_is_not_by_the_running_task() {
    let text = [
        interrupt("1.10", "irq_vectors:local_timer_entry"),
        waking("1.11"),
        interrupt("1.12", "irq:softirq_entry"),
        waking("1.13"),
        interrupt("1.14", "irq:softirq_exit"),
        waking("1.15"),
        interrupt("1.16", "irq_vectors:local_timer_exit"),
        waking("1.17"),
    ];
    assert_eq!(wakers(&text), (vec![0, 0, 0, 5], true));
}

/// Task 5 sends to its own machine and raises softirq 3; the timer raises softirq 1.
#[test]
fn a_softirq_that_the_running_task_raised_is_that_tasks() {
    let softirq = |time: &str, event: &str, vector: u32| {
        format!("a 5/5 [000] {time}: irq:softirq_{event}: vec={vector} [action=NAME]\n")
    };
    let text = [
        softirq("1.10", "raise", 3),
        interrupt("1.11", "irq_vectors:local_timer_entry"),
        softirq("1.12", "raise", 1),
        waking("1.13"),
        interrupt("1.14", "irq_vectors:local_timer_exit"),
        softirq("1.15", "entry", 1),
        waking("1.16"),
        softirq("1.17", "exit", 1),
        softirq("1.18", "entry", 3),
        waking("1.19"),
        // A softirq that raises itself again is still the task's.
        softirq("1.20", "raise", 3),
        softirq("1.21", "exit", 3),
        softirq("1.22", "entry", 3),
        waking("1.23"),
        softirq("1.24", "exit", 3),
        softirq("1.25", "entry", 3),
        waking("1.26"),
    ];
    assert_eq!(wakers(&text), (vec![0, 0, 5, 5, 0], true));
}

#[test]
fn an_interrupt_whose_end_was_lost_ends_with_the_next_switch() {
    let text = [
        interrupt("1.10", "irq:softirq_entry"),
        interrupt("1.11", "irq_vectors:local_timer_entry"),
        switch("1.2", ("a", 5), "S", ("a", 5)),
        waking("1.3"),
    ];
    assert_eq!(wakers(&text), (vec![5], true));
}

#[test]
fn interrupts_of_one_kind_alone_tell_too_little() {
    let device = [interrupt("1.1", "irq:irq_handler_entry"), waking("1.2")];
    assert_eq!(wakers(&device), (vec![0], false));
    let timer = [interrupt("1.1", "irq_vectors:local_timer_entry"), waking("1.2")];
    assert_eq!(wakers(&timer), (vec![0], false));
    assert_eq!(wakers(&[waking("1.2")]), (vec![5], false));
}

#[test]
fn flags_of_ftrace_distinguish_wakers() {
    let line = |flags: &str, at: u32| {
        format!("a-5 [000] {flags} 1.{at}: sched_waking: comm=z pid=40 prio=120 target_cpu=000\n")
    };
    assert_eq!(wakers(&[line("d.h2.", 1), line("d..2.", 2)]), (vec![0, 5], true));
    assert_eq!(wakers(&[line("d.s3.", 1)]), (vec![0], false));
}

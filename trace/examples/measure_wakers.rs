//! How often the rules of [`trace::Wakers`] are right: a recording with interrupts is read as it
//! is, and without the lines of its interrupts.
//!
//! `cargo run --release -p trace --example measure_wakers -- FILE`, the text of `perf script`.

use std::collections::BTreeMap;

use trace::{Event, History, Waker, Wakers, import};

fn main() {
    let path = std::env::args().nth(1).expect("the text of a recording with interrupts");
    let text = std::fs::read_to_string(path).expect("the recording is read");
    let blind: String = text
        .lines()
        .filter(|line| !is_interrupt(line))
        .fold(String::with_capacity(text.len()), |text, line| text + line + "\n");
    let history = |text: &str| import::stream_history(text.as_bytes()).expect("a recording").0;
    let (known, blind) = (history(&text), history(&blind));
    assert!(known.header.interrupts_known(), "the recording has no interrupts");
    assert!(!blind.header.interrupts_known(), "every interrupt is left out");
    let truth: BTreeMap<(u64, u32), u32> =
        wakes(&known).map(|(time_ns, task, by)| ((time_ns, task), by)).collect();
    let wakers = Wakers::of(&blind);
    println!("{:32} {:>8} {:>10}", "by the rules", "by tasks", "interrupts");
    for (waker, name) in
        [(Waker::Task, "a task"), (Waker::Device, "a device"), (Waker::Unclear, "unclear")]
    {
        let judged = wakes(&blind).filter(|&(_, task, by)| wakers.of_wake(task, by) == waker);
        let by: Vec<u32> =
            judged.filter_map(|(ns, task, _)| truth.get(&(ns, task)).copied()).collect();
        let interrupts = by.iter().filter(|&&by| by == 0).count();
        println!("{name:32} {:>8} {interrupts:>10}", by.len() - interrupts);
    }
}

fn is_interrupt(line: &str) -> bool {
    [" irq:", " irq_vectors:"].iter().any(|system| line.contains(system))
}

/// Time, woken task and waker.
fn wakes(history: &History) -> impl Iterator<Item = (u64, u32, u32)> {
    history.records.iter().filter_map(|record| match record.event {
        Event::Wake { task, by, .. } => Some((record.time_ns, task, by)),
        _ => None,
    })
}

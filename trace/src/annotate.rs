//! Adds the instruction classes of tasks, which no kernel records, to a recording.

use std::collections::HashMap;

use crate::classes::{Rules, Use};
use crate::marks::{Mark, Marks};
use crate::{Event, History, Record};

/// Result of an annotation: tasks named, and marks that fit none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    /// Tasks that a rule or mark names.
    pub tasks: usize,
    /// Tasks among them that run wide instructions at some time.
    pub wide_tasks: usize,
    /// Rules that fit the name of no task, counted from 1.
    pub unused_rules: Vec<usize>,
    /// Marks of tasks that the history does not have.
    pub unknown_marks: usize,
    /// Marks that lie outside of the history's time.
    pub outside_marks: usize,
}

/// Inserts `Phase` records: the class of a task's rule from the start on, overridden by the task's
/// marks. Tasks without rule and mark keep their phases; those of all others are replaced.
pub fn annotate(history: &mut History, rules: &Rules, marks: &Marks) -> Annotation {
    let by_task: HashMap<u32, &[Mark]> =
        marks.by_task().map(|marks| (marks[0].tid, marks)).collect();
    let tasks = &history.header.tasks;
    let fits_no_task =
        |&rule: &usize| !tasks.iter().any(|task| rules.fits(rule, &task.comm, &task.app));
    let unused_rules = (1..=rules.len()).filter(fits_no_task).collect();
    let mut done = Annotation { unused_rules, ..Annotation::default() };
    let mut phases: Vec<Record> = Vec::new();
    let mut named = std::collections::HashSet::new();
    let span_ns = (history.header.start_ns, history.header.end_ns);
    for task in tasks {
        let rule = rules.find(&task.comm, &task.app);
        let marks = by_task.get(&task.tid).copied();
        if rule.is_none() && marks.is_none() {
            continue;
        }
        let base = rule.unwrap_or(Use::SCALAR);
        let changes = changes(base, marks.unwrap_or_default(), span_ns, &mut done);
        done.tasks += 1;
        let wide = |&(_, used): &(u64, Use)| used.class != cpu_model::Class::Scalar;
        done.wide_tasks += usize::from(changes.iter().any(wide));
        named.insert(task.tid);
        phases.extend(changes.into_iter().map(|(time_ns, used)| phase(time_ns, task.tid, used)));
    }
    let known: usize = named.iter().filter_map(|tid| by_task.get(tid)).map(|it| it.len()).sum();
    done.unknown_marks = marks.by_task().map(<[Mark]>::len).sum::<usize>() - known;
    phases.sort_by_key(|record| record.time_ns);
    let is_old = |event: &Event| matches!(event, Event::Phase { task, .. } if named.contains(task));
    history.records.retain(|record| !is_old(&record.event));
    merge(&mut history.records, phases);
    done
}

fn phase(time_ns: u64, task: u32, used: Use) -> Record {
    let Use { class, rate_permille } = used;
    Record { time_ns, event: Event::Phase { task, class, rate_permille, stall_permille: 0 } }
}

/// The classes of a task with the times from which they hold, without repetition.
fn changes(
    base: Use,
    marks: &[Mark],
    (start_ns, end_ns): (u64, u64),
    done: &mut Annotation,
) -> Vec<(u64, Use)> {
    let mut changes = vec![(start_ns, base)];
    for mark in marks {
        let ended = mark.end_ns.is_some_and(|last_ns| last_ns <= start_ns);
        if ended || mark.begin_ns > end_ns {
            done.outside_marks += 1;
            continue;
        }
        changes.push((mark.begin_ns.max(start_ns), mark.class));
        if let Some(last_ns) = mark.end_ns.filter(|&last_ns| last_ns <= end_ns) {
            changes.push((last_ns, base));
        }
    }
    let mut kept: Vec<(u64, Use)> = Vec::with_capacity(changes.len());
    for change in changes {
        if kept.last().is_some_and(|last| last.0 == change.0) {
            kept.pop();
        }
        if kept.last().is_none_or(|last| last.1 != change.1) {
            kept.push(change);
        }
    }
    kept
}

/// Merges two sequences in order of time; at equal times phases come first.
fn merge(records: &mut Vec<Record>, phases: Vec<Record>) {
    let total = records.len() + phases.len();
    let old = std::mem::replace(records, Vec::with_capacity(total));
    let mut phases = phases.into_iter().peekable();
    for record in old {
        while let Some(phase) = phases.next_if(|phase| phase.time_ns <= record.time_ns) {
            records.push(phase);
        }
        records.push(record);
    }
    records.extend(phases);
}

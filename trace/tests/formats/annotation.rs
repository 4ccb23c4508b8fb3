//! Rules and marks on a history, and the fields that scrubbing keeps.

use cpu_model::Class;
use trace::classes::Rules;
use trace::marks::Marks;
use trace::{Annotation, Event, Glob, History, annotate, import, scrub, validate};

const RECORDING: &str = "\
    swapper 0/0 [000] 0.000000010: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 \
    prev_prio=120 prev_state=R ==> next_comm=x265 next_pid=7 next_prio=120\n\
    x265 7/7 [000] 0.000000100: sched:sched_switch: prev_comm=x265 prev_pid=7 prev_prio=120 \
    prev_state=R ==> next_comm=my xz next_pid=8 next_prio=130\n\
    my xz 8/8 [000] 0.000000900: sched:sched_switch: prev_comm=my xz prev_pid=8 prev_prio=130 \
    prev_state=R ==> next_comm=x265 next_pid=7 next_prio=120\n";

fn recording() -> History {
    import::stream_history(RECORDING.as_bytes()).unwrap().0
}

fn rules(rule: &str) -> Rules {
    Rules::parse(&[rule.to_owned()]).unwrap()
}

/// Phases as `(time, task, class)`.
fn phases(history: &History) -> Vec<(u64, u32, Class)> {
    let phase = |record: &trace::Record| match record.event {
        Event::Phase { task, class, .. } => Some((record.time_ns, task, class)),
        _ => None,
    };
    history.records.iter().filter_map(phase).collect()
}

#[test]
fn a_rule_holds_from_the_start() {
    let mut history = recording();
    let done = annotate(&mut history, &rules("x265*=avx512-heavy@0.5"), &Marks::default());
    assert_eq!(done, Annotation { tasks: 1, wide_tasks: 1, ..Annotation::default() });
    assert_eq!(phases(&history), [(10, 7, Class::Avx512Heavy)]);
    assert!(matches!(history.records[0].event, Event::Phase { rate_permille: 500, .. }));
    assert_eq!(validate(&history), []);
}

#[test]
fn marks_override_rules() {
    let mut history = recording();
    let marks = Marks::parse("50,60,7,amx\n60,70,7,amx\n200,2000,7,avx2-light\n").unwrap();
    annotate(&mut history, &rules("x*=avx2-heavy"), &marks);
    assert_eq!(
        phases(&history),
        [
            (10, 7, Class::Avx2Heavy),
            (50, 7, Class::Amx),
            (70, 7, Class::Avx2Heavy),
            (200, 7, Class::Avx2Light)
        ]
    );
    assert_eq!(validate(&history), []);
}

#[test]
fn marks_of_unknown_tasks_and_times_are_counted() {
    let mut history = recording();
    let marks = Marks::parse("1,5,7,amx\n5000,6000,7,amx\n20,30,9,amx\n40,8,2\n").unwrap();
    let done = annotate(&mut history, &Rules::default(), &marks);
    assert_eq!((done.outside_marks, done.unknown_marks, done.wide_tasks), (2, 1, 1));
    let expected = [(10, 7, Class::Scalar), (10, 8, Class::Scalar), (40, 8, Class::Avx512Heavy)];
    assert_eq!(phases(&history), expected);
}

#[test]
fn annotating_again_replaces_the_phases() {
    let mut history = recording();
    annotate(&mut history, &rules("*=amx"), &Marks::default());
    annotate(&mut history, &rules("x*=scalar"), &Marks::default());
    assert_eq!(phases(&history), [(10, 7, Class::Scalar), (10, 8, Class::Amx)]);
}

#[test]
fn scrubbing_renames_other_tasks_and_drops_facts() {
    let mut history = recording();
    history.header.facts.insert("command".to_owned(), "x265 secret.y4m".to_owned());
    let mut again = history.clone();
    scrub(&mut history, &[Glob::new("x265*")]);
    scrub(&mut again, &[Glob::new("x265*")]);
    assert_eq!(history, again);
    let names: Vec<(&str, &str)> =
        history.header.tasks.iter().map(|task| (&task.comm[..], &task.app[..])).collect();
    assert_eq!(names, [("x265", "x265"), ("task-1", "task-1")]);
    let file = history.write(Vec::new()).unwrap();
    let text = zstd::decode_all(&file[..]).unwrap();
    assert!(!String::from_utf8(text).unwrap().contains("secret"));
}

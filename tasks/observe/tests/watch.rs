//! A recording has the tasks that ran.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evenkeel_observe::WatchExt;
use evenkeel_runtime::{Config, Data, Placement, Resume, Runtime, Watch, WideCpus, scope};

const TREES: usize = 100;
const LEAVES: usize = 50;

fn trees(runtime: &Runtime) {
    runtime.scope(|s| {
        for _ in 0..TREES {
            s.spawn(|s| (0..LEAVES).for_each(|_| s.spawn(|_| ())));
        }
    });
}

fn summary(watch: &Watch) -> String {
    let mut text = Vec::new();
    watch.summary(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn page(watch: &Watch) -> String {
    let mut text = Vec::new();
    watch.page(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn every_task_is_counted_under_every_scheduler_with_or_without_cutoff() {
    let schedulers =
        ["tree", "tree-fifo-static20-give", "central-lifo-polling", "central-priority"];
    for text in schedulers {
        for cutoff in [true, false] {
            for workers in [1, 3] {
                let rules = Config { cutoff, ..text.parse().unwrap() };
                let watch = Watch::new();
                let runtime = Runtime::builder().workers(workers).config(rules).watch(&watch);
                trees(&runtime.build().unwrap());
                let text = summary(&watch);
                assert!(text.starts_with("5,100 tasks in "), "{text}");
                let ran =
                    if cutoff { "at once" } else { "5,100 tasks ran from a queue, 0 at once" };
                assert!(text.contains(ran), "{text}");
            }
        }
    }
}

#[test]
fn functions_are_told_apart_by_where_their_tasks_are_created() {
    let watch = Watch::new();
    let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
    trees(&runtime);
    let text = summary(&watch);
    let runs_of = |what: &str| {
        let lines =
            text.lines().filter(|line| line.contains(" of watch.rs") && line.contains(what));
        lines.filter_map(|line| line.split_whitespace().next()).collect::<Vec<_>>()
    };
    let all = runs_of("trees");
    for runs in ["5,000", "100", "1"] {
        assert!(all.contains(&runs), "{runs}: {text}");
    }
    assert_eq!(runs_of("around tasks"), ["1"]);
}

#[test]
fn tasks_that_take_turns_are_counted_once_and_as_what_they_run() {
    let watch = Watch::new();
    let runtime = Runtime::builder().workers(3).watch(&watch).build().unwrap();
    let sum = Data::new(0_u64);
    runtime.scope(|s| {
        for number in 0..2000 {
            s.task().commutative(&sum).spawn(move |sum| {
                // Other workers meanwhile reach a task that has no turn yet.
                std::thread::yield_now();
                *sum += number;
            });
        }
    });
    assert_eq!(sum.into_inner(), 1999 * 1000);
    let text = summary(&watch);
    assert!(text.starts_with("2,000 tasks"), "{text}");
    let functions = text.lines().filter(|line| line.contains(" of watch.rs"));
    let ran = functions.filter(|line| !line.contains("around tasks")).collect::<Vec<_>>();
    assert!(ran.len() == 1 && ran[0].trim_start().starts_with("2,000"), "{text}");
    assert!(!text.contains("run_in_turn"), "{text}");
}

#[test]
fn two_runtimes_are_watched_by_one_and_later_tasks_are_added() {
    let watch = Watch::new();
    for _ in 0..2 {
        let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
        trees(&runtime);
    }
    assert!(summary(&watch).starts_with("10,200 tasks"));
}

#[test]
fn a_full_trace_says_so_and_counts_on() {
    let watch = Watch::with_trace(1);
    let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
    trees(&runtime);
    let text = summary(&watch);
    assert!(text.starts_with("5,100 tasks") && text.contains("are in no trace"), "{text}");
    let mut trace = Vec::new();
    watch.trace(&mut trace).unwrap();
}

#[test]
fn the_page_is_well_formed_and_fetches_nothing() {
    let watch = Watch::with_trace(1 << 20);
    let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
    trees(&runtime);
    let html = page(&watch);
    let mut reader = quick_xml::Reader::from_str(&html);
    reader.config_mut().check_end_names = true;
    let mut depth = 0_i32;
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(_) => depth += 1,
            quick_xml::events::Event::End(_) => depth -= 1,
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    assert!(html.contains("5,000") && html.contains("{{closure}}"));
    assert!(!html.contains("<script") && !html.contains("://"));
}

#[test]
fn the_threshold_is_drawn_where_there_was_one() {
    for (rules, is_drawn) in [("tree-fifo-static20", true), ("central-fifo", false)] {
        let watch = Watch::new();
        let runtime = Runtime::builder().workers(2).config(rules.parse().unwrap()).watch(&watch);
        let work = || std::thread::sleep(Duration::from_millis(1));
        runtime.build().unwrap().scope(|s| (0..20).for_each(|_| s.spawn(move |_| work())));
        let (html, text) = (page(&watch), summary(&watch));
        assert_eq!(html.contains("Threshold and ready tasks"), is_drawn, "{rules}");
        assert_eq!(html.contains("0 all the time"), !is_drawn, "{rules}");
        assert_eq!(text.contains("threshold over time"), is_drawn, "{text}");
        assert_eq!(text.contains("0 all the time"), !is_drawn, "{text}");
    }
}

#[test]
fn a_snapshot_while_tasks_run_has_no_more_runs_than_tasks_begun() {
    let watch = Watch::new();
    let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
    let seen = runtime.scope(|s| {
        (0..1000).for_each(|_| s.spawn(|_| ()));
        s.wait();
        let seen = summary(&watch);
        (0..1000).for_each(|_| s.spawn(|_| ()));
        seen
    });
    assert!(seen.starts_with("1,000 tasks"), "{seen}");
    assert!(summary(&watch).starts_with("2,000 tasks"));
}

#[test]
fn what_runs_while_a_task_waits_inside_another_runtimes_scope_is_not_inside() {
    let watch = Watch::new();
    let one = Runtime::builder().workers(1).build().unwrap();
    let other = Runtime::builder().workers(1).watch(&watch).build().unwrap();
    let later = |resume: Resume| drop(std::thread::spawn(move || resume.resume()));
    let other = &other;
    let left = AtomicBool::new(false);
    one.scope(|s| {
        // This task was created last, and so begins first.
        s.task().spawn_with(|s| {
            scope(|inner| {
                (0..10).for_each(|_| inner.spawn(|_| ()));
                while !left.load(Ordering::Relaxed) {
                    s.pause(later);
                }
                (0..10).for_each(|_| inner.spawn(|_| ()));
            });
        });
        s.task().spawn_with(|s| {
            other.scope(|_| s.pause(later));
            left.store(true, Ordering::Relaxed);
        });
    });
    assert!(summary(&watch).starts_with("No tasks in "));
}

#[test]
fn wide_tasks_are_counted_by_where_they_ran_however_they_came_to_run() {
    for (cutoff, workers) in [(true, 1), (true, 3), (false, 1), (false, 3)] {
        let watch = Watch::new();
        let rules = Config { cutoff, ..Config::default() };
        let runtime = Runtime::builder().workers(workers).config(rules).watch(&watch);
        // All of them are.
        let chosen = Placement::on(WideCpus::Workers((0..workers).collect()));
        let runtime = runtime.placement(chosen).build().unwrap();
        runtime.scope(|s| {
            (0..500).for_each(|_| s.task().wide().spawn(|| ()));
            (0..500).for_each(|_| s.task().spawn(|| ()));
        });
        drop(runtime);
        let text = summary(&watch);
        assert!(text.starts_with("1,000 tasks"), "{text}");
        assert!(text.contains("\n500 wide tasks were to run on worker"), "{text}");
        assert!(text.contains(": 500 (100.0 %) did, 0 ran elsewhere."), "{text}");
        let lines: Vec<&str> = text.lines().filter(|line| line.ends_with(", declared")).collect();
        assert!(matches!(lines[..], [line] if line.trim_start().starts_with("500 ")), "{text}");
        assert!(page(&watch).contains("<h2 id=\"part-3\">Wide tasks</h2>"));
    }
}

#[test]
fn the_summary_says_which_wide_tasks_ran_off_their_workers() {
    let watch = Watch::new();
    // No worker has the chosen number, and so all workers take wide tasks.
    let chosen = Placement::on(WideCpus::Workers(vec![9]));
    let runtime = Runtime::builder().workers(2).watch(&watch).placement(chosen).build().unwrap();
    assert!(summary(&watch).contains("No task was wide; such were to run on worker 9."));
    runtime.scope(|s| (0..100).for_each(|_| s.task().wide().spawn(|| ())));
    assert!(summary(&watch).contains(": 0 (0.0 %) did, 100 ran elsewhere."));
}

#[test]
fn workers_that_nobody_uses_are_not_inside() {
    let watch = Watch::new();
    let runtime = Runtime::builder().workers(3).watch(&watch).build().unwrap();
    trees(&runtime);
    std::thread::sleep(Duration::from_millis(500));
    let text = summary(&watch);
    let inside = text.split(" %) were inside").next().and_then(|before| before.rsplit('(').next());
    let percent: f64 = inside.unwrap().parse().unwrap();
    assert!(percent < 50.0, "{text}");
}

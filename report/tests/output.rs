//! Every output: complete, well-formed, harmless whatever the names, and the same each time.

// Each test file uses another part of these modules.
#[allow(dead_code)]
#[path = "synthetic/markup.rs"]
mod markup;
#[allow(dead_code)]
mod synthetic;

use report::{Comparison, Gantt, Replicates, Sample, Setup};

const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[31m\"'&,\n\u{202e}";

fn comparison() -> Comparison {
    report::compare(synthetic::setup(), synthetic::samples(3)).unwrap()
}

/// The same runs with names that attack a terminal, a page or a table.
fn hostile() -> Comparison {
    let mut samples = synthetic::samples(2);
    for sample in &mut samples {
        sample.scheduler = format!("{HOSTILE}{}", sample.scheduler);
        sample.background = format!("{HOSTILE}{}", sample.background);
        sample.program = sample.program.take().map(|name| format!("{HOSTILE}{name}"));
        for application in &mut sample.applications {
            application.name = format!("{HOSTILE}{}", application.name);
        }
    }
    let text = || HOSTILE.to_owned();
    let setup = Setup {
        scenario: text(),
        description: text(),
        command: text(),
        notes: vec![text()],
        parameters: vec![(text(), text())],
        cpu: text(),
        sensors: text(),
        level_names: vec![text(); 3],
        calibrated_on: vec![text()],
        ..synthetic::setup()
    };
    report::compare(setup, samples).unwrap()
}

fn page_of(comparison: &Comparison, name: &str) -> String {
    let history = synthetic::history(name, name);
    let gantt = Gantt {
        scheduler: name,
        background: name,
        program: Some(name),
        history: &history,
        span_ns: [0, u64::MAX],
        perfetto: Some(name),
    };
    report::page(comparison, &[gantt])
}

#[test]
fn json_has_the_agreed_keys() {
    let value: serde_json::Value = serde_json::from_str(&comparison().to_json().unwrap()).unwrap();
    let run = &value["runs"][2];
    let has = |value: &serde_json::Value, keys: &[&str]| {
        for key in keys {
            assert!(value.get(key).is_some(), "{key}");
        }
    };
    has(
        &value,
        &["schema", "evenkeel", "cpu", "scenario", "seed", "sensors", "calibrated_on", "runs"],
    );
    has(
        run,
        &[
            "scheduler",
            "background",
            "tasks",
            "losses",
            "isolation_slowdown_pct",
            "signed_slowdown_pct",
            "slowdown_only_pct",
            "remote_avx_overhead_pct",
            "cpu_time_vs_sse_pct",
            "unfairness",
            "jain",
            "published",
            "switches",
            "migrations",
            "simulated_s",
            "events",
        ],
    );
    has(
        &run["tasks"][0],
        &[
            "name",
            "class",
            "cpu_time_s",
            "completion_s",
            "progress",
            "slowdown",
            "remote_avx_overhead_pct",
            "slices",
        ],
    );
    has(&run["losses"][0], &["victim", "culprit", "lost_s", "repaid_s"]);
    assert_eq!((value["schema"].as_u64(), run["background"].as_str()), (Some(1), Some("avx512")));
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let (first, second) = (comparison(), comparison());
    assert_eq!(first.to_json().unwrap(), second.to_json().unwrap());
    assert_eq!(page_of(&first, "a"), page_of(&second, "a"));
    assert_eq!(report::bars_svg(&first), report::bars_svg(&second));
}

#[test]
fn hostile_names_stay_text_on_the_page_and_in_the_picture() {
    let comparison = hostile();
    for text in [page_of(&comparison, HOSTILE), report::bars_svg(&comparison)] {
        assert!(!markup::elements(&text).iter().any(|element| element.name == "script"));
        assert!(
            !text.contains("<script") && !text.contains('\u{1b}') && !text.contains('\u{202e}')
        );
    }
}

#[test]
fn hostile_names_send_nothing_to_the_terminal() {
    let comparison = hostile();
    let plain = report::table(&comparison, 200, false);
    assert!(!plain.chars().any(|c| c.is_control() && c != '\n'));
    assert!(plain.contains("\\u{1b}[31m"));
    assert!(!plain.contains('\u{202e}'));
    let colored = report::table(&comparison, 200, true);
    assert!(!colored.contains("\u{1b}[31m\""));
}

#[test]
fn without_waiting_tasks_the_verdict_says_that_no_scheduler_helps() {
    let waiting = |share: u64| {
        let mut samples = synthetic::samples(2);
        samples.retain(|sample| ["fair", "fair-isolation"].contains(&sample.scheduler.as_str()));
        for sample in &mut samples {
            // So that the one that compensates is the worse one.
            sample.scheduler = match sample.scheduler.as_str() {
                "fair" => "fair-isolation".to_owned(),
                _ => "fair".to_owned(),
            };
            for task in &mut sample.outcome.tasks {
                task.waited_ns = task.cpu_time_ns / 100 * share;
            }
        }
        let comparison = report::compare(synthetic::setup(), samples).unwrap();
        report::table(&comparison, 1000, false)
    };
    assert!(waiting(0).contains("fair-isolation leaves no less: no task waits for a CPU"));
    assert!(waiting(2).contains("fair-isolation leaves no less."));
}

#[test]
fn csv_survives_quotes_commas_and_line_breaks() {
    let text = report::csv(&hostile()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    assert!(heads.iter().any(|head| head == "cpu_time_s"));
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 6 * 3 * 10 * 2);
    let application = heads.iter().position(|head| head == "application").unwrap();
    assert_eq!(&rows[0][application], &format!("{HOSTILE}blackscholes"));
    assert!(text.ends_with("\r\n"));
}

#[test]
fn the_verdict_names_culprit_slowdown_and_remedy() {
    let table = report::table(&comparison(), 100, false);
    let verdict = table.split("\n\n").next().unwrap().replace('\n', " ");
    for part in ["x265 as AVX-512 instead of SSE4", "23.", "under fair", "fair-isolation leaves 8."]
    {
        assert!(verdict.contains(part), "{part}: {verdict}");
    }
}

#[test]
fn a_miss_is_called_a_miss_everywhere() {
    let comparison = comparison();
    assert!(report::table(&comparison, 120, false).contains("predicted: MISS, +1."));
    assert!(report::page(&comparison, &[]).contains("class=\"miss\""));
    assert!(report::bars_svg(&comparison).contains("MISS"));
}

#[test]
fn narrow_tables_keep_names_and_slowdowns() {
    let table = report::table(&comparison(), 60, false);
    let long = table.lines().find(|line| line.chars().count() > 60);
    assert_eq!(long, None);
    assert!(table.contains("slowdown") && table.contains("fair-isolation"));
}

#[test]
fn sensor_sets_have_a_bar_each() {
    let mut samples = synthetic::samples(2);
    let others: Vec<Sample> = samples
        .iter()
        .cloned()
        .map(|sample| Sample { sensors: "truth".to_owned(), ..sample })
        .collect();
    samples.extend(others);
    let comparison = report::compare(synthetic::setup(), samples).unwrap();
    let picture = report::bars_svg(&comparison);
    assert!(picture.contains("fair-isolation, d7") && picture.contains("fair-isolation, truth"));
    assert!(report::table(&comparison, 120, false).contains("truth"));
}

#[test]
fn parameter_sets_are_shown_as_a_range() {
    let setup = Setup { replicates: Replicates::ParameterSets, ..synthetic::setup() };
    let comparison = report::compare(setup, synthetic::samples(3)).unwrap();
    let table = report::table(&comparison, 120, false);
    assert!(table.contains(" to ") && table.contains("fitted parameter sets"));
}

#[test]
fn the_summary_of_a_run_has_a_row_for_each_application() {
    let sample = synthetic::samples(1).into_iter().find(|sample| !sample.control).unwrap();
    let levels = ["L0", "L1", "L2"].map(str::to_owned);
    let of = |threads: &[u32]| {
        report::history_summary(&sample.applications, threads, &levels, &sample.outcome)
    };
    let text = of(&sample.thread_application).unwrap();
    for part in ["blackscholes", "x265 (background)", "avx2-heavy", "mean slice", "L2", "switches"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(of(&[0]).is_err());
}

#[test]
fn large_results_are_cut_to_the_most_important_rows() {
    let crowd = |background: &str| {
        let mut sample = synthetic::samples(1)
            .into_iter()
            .find(|sample| sample.background == background)
            .unwrap();
        sample.program = None;
        let (victim, task) = (sample.applications[0].clone(), sample.outcome.tasks[0].clone());
        for number in 0..60 {
            let owner = sample.applications.len() as u32;
            let name = format!("program-{number}");
            sample.applications.push(scenarios::Application { name, ..victim.clone() });
            sample.thread_application.push(owner);
            sample.outcome.tasks.push(task.clone());
            for culprit in (2..owner).step_by(3) {
                let (lost_ns, repaid_ns) = (1000 + u64::from(culprit), 0);
                sample.outcome.losses.push(simulator::Loss {
                    victim: owner,
                    culprit,
                    lost_ns,
                    repaid_ns,
                    idle_compensation_ns: 0,
                });
            }
        }
        sample
    };
    let samples = vec![crowd("sse4"), crowd("avx512")];
    let comparison = report::compare(synthetic::setup(), samples).unwrap();
    assert!(report::table(&comparison, 120, false).contains("and 22 more"));
    let page = report::page(&comparison, &[]);
    let shown = page.matches("class=\"shade\"").count();
    assert_eq!(shown, 24 * 8);
}

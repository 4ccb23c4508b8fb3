//! The two recordings of `fixtures/`, beside the output of `perf sched timehist`.
//!
//! timehist counts a slice from the last switch seen on the CPU, whichever task came then, so it
//! charges a task with what ran before it unseen; it books the last slice of a thread that
//! ended under `:-1`; and a CPU's first slice has no length. Its rule is applied here to the
//! same lines, so that every difference has one of these three reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

use trace::{History, import, info, validate};

const NAMES: [&str; 2] = ["x265_avx512_xz", "x265_sse4_xz"];

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)).unwrap()
}

fn recording(name: &str) -> String {
    let mut text = String::new();
    let packed = fixture(&format!("{name}.perf-script.zst"));
    zstd::Decoder::new(&packed[..]).unwrap().read_to_string(&mut text).unwrap();
    text
}

fn import(name: &str) -> (History, import::ImportReport) {
    import::stream_history(recording(name).as_bytes()).unwrap()
}

/// Slices and run time in ns.
type Sum = (u64, u64);

/// Rows of timehist's summary by id.
fn timehist(name: &str) -> BTreeMap<i64, Sum> {
    let text = String::from_utf8(fixture(&format!("{name}.timehist.txt"))).unwrap();
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        let Some((head, rest)) = line.rsplit_once(']') else { continue };
        let Some((_, ids)) = head.rsplit_once('[') else { continue };
        let tid = ids.split('/').next().unwrap().parse().unwrap();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let run_us: u64 = fields[2].replace('.', "").parse().unwrap();
        rows.insert(tid, (fields[1].parse().unwrap(), run_us * 1000));
    }
    rows
}

/// timehist's rule, by the number in the header and by that in the payload, and the tasks
/// at whose slices the running task changed unseen, or with which a CPU begins.
struct Model {
    by_header: BTreeMap<i64, Sum>,
    by_payload: BTreeMap<i64, Sum>,
    unsure: BTreeSet<i64>,
}

fn model(text: &str) -> Model {
    let mut model =
        Model { by_header: BTreeMap::new(), by_payload: BTreeMap::new(), unsure: BTreeSet::new() };
    let mut last: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains(" sched:sched_switch: ")) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let at = fields.iter().position(|field| field.starts_with('[')).unwrap();
        let tid = fields[at - 1].split('/').nth(1).unwrap().parse().unwrap();
        let time_ns: u64 = fields[at + 1].replace(['.', ':'], "").parse().unwrap();
        let number = |key: &str| -> i64 {
            line.split_once(key).unwrap().1.split(' ').next().unwrap().parse().unwrap()
        };
        let (prev, next) = (number(" prev_pid="), number(" next_pid="));
        let before = last.insert(fields[at], (time_ns, next));
        if before.is_none_or(|(_, running)| running != prev) {
            model.unsure.extend([prev, before.map_or(prev, |(_, running)| running)]);
        }
        let run_ns = before.map_or(0, |(since_ns, _)| time_ns - since_ns);
        for (sums, tid) in [(&mut model.by_header, tid), (&mut model.by_payload, prev)] {
            let sum = sums.entry(tid).or_default();
            *sum = (sum.0 + 1, sum.1 + run_ns);
        }
    }
    // Tasks that run at the end have no switch-out: their last slice is open.
    model.unsure.extend(last.values().map(|&(_, running)| running));
    model
}

#[test]
fn every_line_is_readable_and_consistent() {
    for name in NAMES {
        let (history, report) = import(name);
        assert_eq!(validate(&history), []);
        assert_eq!((report.unreadable, report.unmatched_marks, report.without_cpu), (0, 0, 0));
        assert_eq!((report.lost_events, report.reordered_lines), (0, 0));
        assert!(!report.namespaced && !report.truncated && !report.coarse_time);
    }
}

#[test]
fn run_times_equal_those_of_timehist_but_for_three_known_differences() {
    for name in NAMES {
        let model = model(&recording(name));
        for (tid, (slices, run_ns)) in timehist(name) {
            let (model_slices, model_ns) = model.by_header[&tid];
            assert_eq!(model_slices, slices, "{name} {tid}");
            assert!(model_ns.abs_diff(run_ns) <= 1000, "{name} {tid}: {model_ns} {run_ns}");
        }
        let (history, _) = import(name);
        for task in &info(&history).tasks {
            let tid = i64::from(task.tid);
            if !model.unsure.contains(&tid) {
                assert_eq!((task.slices, task.run_ns), model.by_payload[&tid], "{name} {tid}");
            }
        }
    }
}

#[test]
fn the_work_itself_agrees_with_timehist_within_one_percent() {
    for name in NAMES {
        let rows = timehist(name);
        let (history, _) = import(name);
        let info = info(&history);
        let work = info.tasks.iter().filter(|task| matches!(&task.app[..], "x265" | "xz"));
        let long: Vec<_> = work.filter(|task| task.run_ns > 50_000_000).collect();
        assert!(long.len() >= 5);
        for task in long {
            let (slices, run_ns) = rows[&i64::from(task.tid)];
            assert!(task.run_ns.abs_diff(run_ns) * 100 <= run_ns, "{name} {}", task.tid);
            assert!(task.slices - slices <= 1, "{name} {}", task.tid);
        }
    }
}

#[test]
fn stolen_time_and_users_of_wide_registers_are_found() {
    let stolen = NAMES.map(|name| import(name).1.runtime_per_wall_permille.unwrap());
    assert!((900..=1000).contains(&stolen[0]) && (900..=1010).contains(&stolen[1]), "{stolen:?}");
    for (name, wide) in NAMES.into_iter().zip([true, false]) {
        let (history, _) = import(name);
        let info = info(&history);
        let zmm = |task: &&trace::TaskSummary| task.registers_permille[2] > 0;
        let users: BTreeSet<&str> =
            info.tasks.iter().filter(zmm).map(|task| &task.app[..]).collect();
        assert_eq!(users, if wide { BTreeSet::from(["x265"]) } else { BTreeSet::new() });
        let x265 = info.tasks.iter().filter(|task| task.app == "x265" && task.nice == 10).count();
        assert_eq!(x265, 2);
    }
}

//! The two recordings of `fixtures/`, beside what `perf sched timehist` says of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::Path;

use trace::{History, Info, import, info, validate};

fn import(name: &str) -> (History, import::ImportReport) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let file = fs::File::open(path.join(format!("{name}.perf-script.zst"))).unwrap();
    let text = zstd::Decoder::new(file).unwrap();
    import::perf_script_history(BufReader::new(text)).unwrap()
}

/// Rows of the summary: id to (sched-in count, run time in us).
fn timehist(name: &str) -> BTreeMap<i64, (u64, f64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let text = fs::read_to_string(path.join(format!("{name}.timehist.txt"))).unwrap();
    let mut rows = BTreeMap::new();
    for line in text.lines() {
        let Some((head, rest)) = line.rsplit_once(']') else { continue };
        let Some((_, ids)) = head.rsplit_once('[') else { continue };
        let tid = ids.split('/').next().unwrap().parse().unwrap();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        rows.insert(tid, (fields[1].parse().unwrap(), fields[2].parse::<f64>().unwrap() * 1000.0));
    }
    rows
}

#[test]
fn show() {
    for name in ["x265_avx512_xz", "x265_sse4_xz"] {
        let (history, report) = import(name);
        println!("{:?}", validate(&history));
        let info: Info = info(&history);
        println!("{report:#?}");
        let rows = timehist(name);
        for task in &info.tasks {
            let row = rows.get(&i64::from(task.tid));
            println!(
                "{:>20} {:>6} kernel={} nice={} app={} pid={:?} slices {} run {} | {:?}",
                task.comm,
                task.tid,
                task.kernel,
                task.nice,
                task.app,
                0,
                task.slices,
                task.run_ns as f64 / 1000.,
                row
            );
        }
    }
}

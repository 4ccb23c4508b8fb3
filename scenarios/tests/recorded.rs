//! A real recording becomes work.

use std::io::BufReader;

use scenarios::{ReplayOptions, Role, from_recording};

/// x265 beside xz on two CPUs (trace/fixtures).
const RECORDING: &[u8] = include_bytes!("../../trace/fixtures/x265_avx512_xz.perf-script.zst");

#[test]
fn x265_is_the_background_of_a_recording_with_xz() {
    let text = zstd::stream::read::Decoder::new(RECORDING).unwrap();
    let (mut history, _) = trace::import::stream_history(BufReader::new(text)).unwrap();
    let rules = trace::classes::Rules::parse(&["x265*=avx512-heavy".to_owned()]).unwrap();
    trace::annotate(&mut history, &rules, &trace::marks::Marks::default());
    let options = ReplayOptions {
        recorded_khz: 2_800_000,
        cpus: None,
        threads_per_core: 2,
        turbo_cores: None,
        kernel_threads: true,
    };
    let (workload, report) = from_recording(&history, &options).unwrap();
    let role =
        |name: &str| workload.applications.iter().find(|one| one.name == name).map(|one| one.role);
    assert_eq!(role("x265"), Some(Role::Background));
    assert_eq!(role("xz"), Some(Role::Foreground));
    assert!(report.ran_ns > report.recorded_ns / 2 && report.ran_ns <= 2 * report.recorded_ns);
    assert!(report.dependencies > 0 && report.sleeps > 0);
}

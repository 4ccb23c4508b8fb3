//! Counters that the recorder's program reads at each switch of this machine. Clocks of perf, which
//! every machine has, stand for the PMU's counters. Needs root and a kernel with BTF, and reports a
//! skip without.
#![cfg(feature = "bpf")]

use std::time::{Duration, Instant};

use sensors::pmu::{Code, Group, Question, Refusal};
use sensors::recorder::{COUNTED, Counters, Kind, Raw, Recorder, Wanted};

/// `PERF_TYPE_SOFTWARE` and `PERF_COUNT_SW_CPU_CLOCK`, include/uapi/linux/perf_event.h.
const CLOCK: Code = Code { device: 1, config: 0 };
/// Counts nothing: `PERF_COUNT_SW_ALIGNMENT_FAULTS`, which x86 has none of.
const NOTHING: Code = Code { device: 1, config: 7 };
/// An event that no kernel has.
const NONE: Code = Code { device: 1, config: 999 };

const LONG: Duration = Duration::from_secs(60);

fn online() -> Vec<u32> {
    (0..std::thread::available_parallelism().unwrap().get() as u32).collect()
}

fn records(counters: &Counters) -> Option<Vec<Raw>> {
    let wanted = Wanted { counters: Some(counters), ..Wanted::default() };
    let mut recorder = match Recorder::start(&online(), &wanted) {
        Ok(recorder) => recorder,
        Err(error) => {
            eprintln!("skipped: {error}");
            return None;
        }
    };
    let begin = Instant::now();
    let mut records = Vec::new();
    let is_counted = |it: &Raw| it.kind == Kind::Counters;
    while records.iter().filter(|it| is_counted(it)).count() < 200 && begin.elapsed() < LONG {
        // Each sleep is a switch or two.
        std::thread::sleep(Duration::from_millis(1));
        records.extend(recorder.read().unwrap());
    }
    recorder.stop().unwrap();
    records.extend(recorder.read().unwrap());
    Some(records)
}

#[test]
fn each_slice_has_what_was_counted_in_it() {
    let codes = [
        (Question::License1, CLOCK),
        (Question::License2, NOTHING),
        (Question::Cycles, CLOCK),
        // One that does not open is left out, as levels and cycles suffice.
        (Question::Fp512, NONE),
    ];
    let counters = match Counters::of(&codes, &online()) {
        Ok(counters) => counters,
        Err(refusal) => return eprintln!("skipped: {refusal:?}"),
    };
    assert_eq!(counters.questions(), [Question::License1, Question::License2, Question::Cycles]);
    let Some(records) = records(&counters) else { return };
    let (mut last_ns, mut slices) = (vec![None; online().len()], 0);
    for pair in records.windows(2) {
        let cpu = pair[0].cpu as usize;
        if pair[0].kind == Kind::Switch {
            last_ns[cpu] = Some(pair[0].time_ns);
        }
        let Some(counts) = pair[0].counts else { continue };
        assert_eq!((counts[1], counts[3..].iter().sum::<u64>()), (0, 0), "{counts:?}");
        let Some(since_ns) = last_ns[cpu] else { continue };
        // Of the record's time, not of a reading's.
        let slice_ns = pair[0].time_ns - since_ns;
        for counted_ns in [counts[0], counts[2]] {
            let is_near = counted_ns.abs_diff(slice_ns) <= 1_000_000 + slice_ns / 20;
            assert!(is_near, "{counted_ns} counted in a slice of {slice_ns} ns");
        }
        slices += 1;
    }
    assert!(slices >= 100, "{slices} slices in {} records", records.len());
}

#[test]
fn what_is_needed_and_does_not_open_is_the_refusal() {
    let none = Group::open(&[NONE], 0).map(|_| ()).map_err(|(_, refusal)| refusal);
    let Err(expected) = none else { panic!("an event that no kernel has opens") };
    let codes = [(Question::License1, NONE)];
    assert_eq!(Counters::of(&codes, &online()).map(|_| ()), Err(expected));
    assert_eq!(Counters::open(None, true, &online()).map(|_| ()), Err(Refusal::UnknownCpu));
    assert!(COUNTED.contains(&Question::License2));
}

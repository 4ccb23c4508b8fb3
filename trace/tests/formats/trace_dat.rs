//! Files of trace-cmd, version 6: our own exports, and refused files.

use std::io::{Cursor, Read};
use std::path::Path;

use proptest::prelude::*;
use trace::import::recording_history;
use trace::{Event, History, export, validate};

use crate::without_schema_4;

/// A recording by ftrace, through the text of trace-cmd.
fn recorded() -> History {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/forms/report-t-l.zst");
    let packed = std::fs::read(file).unwrap();
    let mut text = Vec::new();
    zstd::Decoder::new(&packed[..]).unwrap().read_to_end(&mut text).unwrap();
    without_schema_4(recording_history(Cursor::new(text)).unwrap().0)
}

fn exported(history: &History) -> Vec<u8> {
    let mut file = Vec::new();
    export::trace_dat(history, &mut file).unwrap();
    file
}

#[test]
fn our_own_file_keeps_every_record_to_the_nanosecond() {
    let before = recorded();
    let (after, report) = recording_history(Cursor::new(exported(&before))).unwrap();
    assert_eq!(validate(&after), []);
    assert_eq!((report.unreadable, report.repaired_switches), (0, 0));
    assert_eq!(after.header.start_ns, before.header.start_ns);
    assert_eq!(after.header.end_ns, before.header.end_ns);
    // Events of two CPUs at the same ns come in the order of the CPUs.
    let sorted = |history: &History| {
        let mut records = history.records.clone();
        records.sort_by_key(|it| (it.time_ns, format!("{:?}", it.event)));
        records
    };
    assert_eq!(sorted(&after), sorted(&before));
    assert!(before.records.iter().any(|it| matches!(it.event, Event::Registers { .. })));
    let names = |history: &History| {
        let tasks = history.header.tasks.iter();
        tasks.map(|task| (task.tid, task.comm.clone(), task.nice)).collect::<Vec<_>>()
    };
    assert_eq!(names(&after), names(&before));
}

#[test]
fn a_file_that_was_cut_is_refused() {
    let file = exported(&recorded());
    for length in [10, 60, 2_000, file.len() / 2, file.len() - 1] {
        let error = recording_history(Cursor::new(&file[..length])).unwrap_err();
        assert!(error.to_string().contains("the file was cut"), "{length}: {error}");
    }
}

#[test]
fn another_version_is_refused_with_the_supported_one() {
    let mut file = exported(&recorded());
    file[10] = b'7';
    let error = recording_history(Cursor::new(file)).unwrap_err().to_string();
    assert!(error.contains("trace-cmd convert --file-version 6"), "{error}");
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_or_refused(
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        words in prop::collection::vec((0..9_000_usize, any::<u64>()), 0..2),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut history = recorded();
        history.records.truncate(100);
        let mut file = exported(&history);
        for (at, byte) in bytes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        for (at, word) in words {
            let at = at.min(file.len() - 8);
            file[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        file.truncate(cut.map_or(file.len(), |cut| cut.index(file.len())));
        match recording_history(Cursor::new(file)) {
            Ok((history, _)) => prop_assert_eq!(validate(&history), []),
            Err(error) => {
                let said = error.to_string();
                prop_assert!(!said.chars().any(char::is_control), "{said}");
            }
        }
    }
}

//! A recording that was damaged in any way is read or refused in one plain sentence.

use std::io::Cursor;

use proptest::prelude::*;
use trace::import::{recording_history, stream_history};
use trace::marks::Marks;
use trace::{History, validate};

use super::perf_file;

/// Lines of the recording that are damaged.
const LINES: usize = 300;

/// The beginning of a recording of two programs, in the style of `perf script --ns`.
fn recording() -> Vec<Vec<u8>> {
    let packed = include_bytes!("../../fixtures/x265_avx512_xz.perf-script.zst");
    let text = zstd::decode_all(&packed[..]).expect("the fixture unpacks");
    text.split(|&byte| byte == b'\n').take(LINES).map(<[u8]>::to_vec).collect()
}

/// Recordings in the other styles of text, of the same length.
fn other_style(style: usize) -> Vec<Vec<u8>> {
    let packed: [&[u8]; 4] = [
        include_bytes!("../../fixtures/forms/report-t-l.zst"),
        include_bytes!("../../fixtures/forms/report-t-R.zst"),
        include_bytes!("../../fixtures/forms/ftrace.zst"),
        include_bytes!("../../fixtures/forms/ftrace-latency.zst"),
    ];
    let text = zstd::decode_all(packed[style % packed.len()]).expect("the fixture unpacks");
    text.split(|&byte| byte == b'\n').take(LINES).map(<[u8]>::to_vec).collect()
}

/// A whole file of perf, and one whose records are packed.
fn file_of_perf(pack: bool) -> Vec<u8> {
    let records = perf_file::turns();
    let records = if pack { perf_file::packed(&records) } else { records };
    perf_file::file(&perf_file::FORMATS, &records)
}

/// One damage; positions are taken modulo the length.
#[derive(Clone, Debug)]
enum Damage {
    Overwrite(usize, usize, u8),
    Insert(usize, usize, Vec<u8>),
    CutLine(usize, usize),
    Swap(usize, usize),
    Repeat(usize),
    Drop(usize),
    Truncate(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = 0..LINES;
    let column = 0..200_usize;
    // Bytes that mean something to a reader of text are drawn more often than others.
    let byte = prop_oneof![any::<u8>(), prop::sample::select(&b" :=>[]/-+.0919\x1b\t\r\0,<"[..])];
    let words = prop::sample::select(
        &["prev_state=", "==>", "comm=", "18446744073709551616", "-1", "R+", "<script>", " [000] "]
            [..],
    );
    prop_oneof![
        (place.clone(), column.clone(), byte).prop_map(|(l, c, b)| Damage::Overwrite(l, c, b)),
        (place.clone(), column.clone(), words).prop_map(|(l, c, w)| Damage::Insert(
            l,
            c,
            w.as_bytes().to_vec()
        )),
        (place.clone(), column).prop_map(|(l, c)| Damage::CutLine(l, c)),
        (place.clone(), place.clone()).prop_map(|(a, b)| Damage::Swap(a, b)),
        place.clone().prop_map(Damage::Repeat),
        place.clone().prop_map(Damage::Drop),
        place.prop_map(Damage::Truncate),
    ]
}

fn apply(lines: &mut Vec<Vec<u8>>, damage: Damage) {
    let Some(count) = Some(lines.len()).filter(|&count| count > 0) else { return };
    match damage {
        Damage::Overwrite(at, column, byte) => {
            let line = &mut lines[at % count];
            if let Some(length) = Some(line.len()).filter(|&length| length > 0) {
                line[column % length] = byte;
            }
        }
        Damage::Insert(at, column, bytes) => {
            let line = &mut lines[at % count];
            let column = column % (line.len() + 1);
            line.splice(column..column, bytes);
        }
        Damage::CutLine(at, column) => {
            let line = &mut lines[at % count];
            line.truncate(column % (line.len() + 1));
        }
        Damage::Swap(one, other) => lines.swap(one % count, other % count),
        Damage::Repeat(at) => lines.insert(at % count, lines[at % count].clone()),
        Damage::Drop(at) => drop(lines.remove(at % count)),
        Damage::Truncate(at) => lines.truncate(at % count),
    }
}

fn is_one_plain_sentence(said: &str) -> bool {
    !said.is_empty() && !said.chars().any(char::is_control)
}

proptest! {
    #[test]
    fn a_damaged_recording_is_repaired_or_refused(
        damages in prop::collection::vec(damage(), 1..12),
    ) {
        let mut lines = recording();
        for damage in damages {
            apply(&mut lines, damage);
        }
        match stream_history(&lines.join(&b'\n')[..]) {
            Ok((history, _)) => {
                prop_assert_eq!(validate(&history), []);
                let mut names = history.header.tasks.iter().map(|task| &task.comm);
                prop_assert!(names.all(|name| !name.chars().any(char::is_control)));
            }
            Err(error) => prop_assert!(is_one_plain_sentence(&error.to_string()), "{error}"),
        }
    }

    #[test]
    fn damaged_text_of_ftrace_is_repaired_or_refused(
        style in 0..4_usize,
        damages in prop::collection::vec(damage(), 1..12),
    ) {
        let mut lines = other_style(style);
        for damage in damages {
            apply(&mut lines, damage);
        }
        match stream_history(&lines.join(&b'\n')[..]) {
            Ok((history, _)) => prop_assert_eq!(validate(&history), []),
            Err(error) => prop_assert!(is_one_plain_sentence(&error.to_string()), "{error}"),
        }
    }

    #[test]
    fn a_damaged_file_of_perf_is_read_or_refused(
        pack: bool,
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        words in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 0..2),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = file_of_perf(pack);
        for (at, byte) in bytes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        for (at, word) in words {
            let at = at.index(file.len() - 8);
            file[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        file.truncate(cut.map_or(file.len(), |cut| cut.index(file.len())));
        match recording_history(Cursor::new(file)) {
            Ok((history, _)) => prop_assert_eq!(validate(&history), []),
            Err(error) => prop_assert!(is_one_plain_sentence(&error.to_string()), "{error}"),
        }
    }

    #[test]
    fn a_damaged_history_is_read_or_refused(
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let (history, _) = stream_history(&recording().join(&b'\n')[..]).unwrap();
        let mut packed = Vec::new();
        history.write(&mut packed).unwrap();
        let text = zstd::decode_all(&packed[..]).unwrap();
        let mut lines: Vec<Vec<u8>> =
            text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        for damage in damages {
            apply(&mut lines, damage);
        }
        let packed = zstd::encode_all(&lines.join(&b'\n')[..], 1).unwrap();
        if let Err(error) = History::read(&packed[..]) {
            prop_assert!(is_one_plain_sentence(&error.to_string()), "{error}");
        }
    }

    #[test]
    fn damaged_marks_are_read_or_refused(text in "[0-9a-z =.,:#\t\n\u{1b}-]{0,200}") {
        if let Err(error) = Marks::parse(&text) {
            prop_assert!(is_one_plain_sentence(&error.to_string()), "{error}");
        }
    }
}

//! The profile for `pprof`, decoded by a reader of its own.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use flate2::read::GzDecoder;
use report::profile::{Stack, pprof};

use crate::sample;

/// A field of a message: its number, and its number or its bytes.
enum Field {
    Number(u64, u64),
    Bytes(u64, Vec<u8>),
}

/// The fields of a message.
fn fields(mut bytes: &[u8]) -> Vec<Field> {
    let varint = |bytes: &mut &[u8]| {
        let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
        let (number, rest) = bytes.split_at(end + 1);
        *bytes = rest;
        number.iter().rev().fold(0_u64, |sum, byte| sum << 7 | u64::from(byte & 0x7f))
    };
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        all.push(match tag & 7 {
            0 => Field::Number(tag >> 3, value),
            2 => {
                let (value, rest) = bytes.split_at(value as usize);
                bytes = rest;
                Field::Bytes(tag >> 3, value.to_vec())
            }
            other => panic!("wire type {other}"),
        });
    }
    all
}

fn numbers(message: &[u8], wanted: u64) -> Vec<u64> {
    let of = |field| match field {
        Field::Number(number, value) if number == wanted => Some(value),
        _ => None,
    };
    fields(message).into_iter().filter_map(of).collect()
}

fn messages(message: &[u8], wanted: u64) -> Vec<Vec<u8>> {
    let of = |field| match field {
        Field::Bytes(number, value) if number == wanted => Some(value),
        _ => None,
    };
    fields(message).into_iter().filter_map(of).collect()
}

/// A sample: its functions from the innermost, its values, and its labels.
#[derive(Debug, PartialEq)]
struct Sample {
    functions: Vec<String>,
    values: Vec<u64>,
    labels: Vec<(String, String)>,
}

struct Decoded {
    types: Vec<(String, String)>,
    samples: Vec<Sample>,
    duration_ns: u64,
    shown: String,
}

fn decoded(bytes: &[u8]) -> Decoded {
    let mut profile = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut profile).unwrap();
    let strings: Vec<String> =
        messages(&profile, 6).into_iter().map(|text| String::from_utf8(text).unwrap()).collect();
    assert_eq!(strings[0], "");
    let text = |place: u64| strings[place as usize].clone();
    let one = |message: &[u8], field| numbers(message, field)[0];
    let by_id = |field| -> BTreeMap<u64, Vec<u8>> {
        messages(&profile, field).into_iter().map(|it| (one(&it, 1), it)).collect()
    };
    let (locations, functions) = (by_id(4), by_id(5));
    let function = |id: u64| {
        let line = &messages(&locations[&id], 4)[0];
        text(one(&functions[&one(line, 1)], 2))
    };
    let sample = |message: &Vec<u8>| Sample {
        functions: numbers(message, 1).into_iter().map(function).collect(),
        values: numbers(message, 2),
        labels: messages(message, 3)
            .iter()
            .map(|it| (text(one(it, 1)), text(one(it, 2))))
            .collect(),
    };
    Decoded {
        types: messages(&profile, 1)
            .iter()
            .map(|it| (text(one(it, 1)), text(one(it, 2))))
            .collect(),
        samples: messages(&profile, 2).iter().map(sample).collect(),
        duration_ns: one(&profile, 10),
        shown: text(one(&profile, 14)),
    }
}

#[test]
fn samples_have_the_time_lost_the_count_and_the_stack() {
    let stacks = sample::view().stacks;
    let found = decoded(&pprof(&stacks, 10.5));
    let types = [("lost", "nanoseconds"), ("seen", "count")];
    assert_eq!(found.types, types.map(|(name, unit)| (name.to_owned(), unit.to_owned())));
    assert_eq!((found.duration_ns, found.shown.as_str()), (10_500_000_000, "lost"));
    assert_eq!(found.samples.len(), stacks.len());
    for (stack, sample) in stacks.iter().zip(&found.samples) {
        let frames: Vec<&String> = stack.frames.iter().rev().collect();
        assert_eq!(sample.functions.iter().collect::<Vec<_>>(), frames);
        assert_eq!(sample.values, [(stack.lost_s * 1e9).round() as u64, stack.count]);
        let labels = [("program", "x265"), ("thread", &stack.thread), ("kind", "wide code")];
        assert_eq!(sample.labels, labels.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}

#[test]
fn without_time_lost_the_count_is_shown() {
    let stacks = [Stack { lost_s: f64::NAN, count: u64::MAX, ..Stack::default() }];
    let found = decoded(&pprof(&stacks, f64::INFINITY));
    assert_eq!((found.shown.as_str(), found.duration_ns), ("seen", i64::MAX as u64));
    assert_eq!(found.samples[0].values, [0, i64::MAX as u64]);
    assert_eq!(found.samples[0].labels[0].1, "[unknown]");
}

#[test]
fn the_same_stacks_give_the_same_bytes() {
    let stacks = sample::crowd().stacks;
    assert!(pprof(&stacks, 1.0) == pprof(&stacks, 1.0));
    assert!(decoded(&pprof(&stacks, 1.0)).samples.len() == stacks.len());
}

/// What `go tool pprof` prints of the stacks.
fn printed_by_pprof(stacks: &[Stack], name: &str, options: &[&str]) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, pprof(stacks, 10.0)).unwrap();
    let mut command = Command::new("go");
    let output = command.args(["tool", "pprof"]).args(options).arg(&file).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
#[ignore = "needs Go: `cargo xtask ci --only pprof` runs it"]
fn pprof_itself_reads_the_profile() {
    let stacks = sample::view().stacks;
    let top = printed_by_pprof(&stacks, "sample.pb.gz", &["-top"]);
    assert!(top.contains("Type: lost\nDuration: 10s, Total samples = 500ms"), "{top}");
    let row = |row: &str| top.lines().any(|line| line.split_whitespace().eq(row.split(' ')));
    assert!(row("210ms 42.00% 42.00% 210ms 42.00% x265_pixel_sad_x4_32x32_avx512"), "{top}");
    assert!(row("0 0% 100% 330ms 66.00% x265::Search::predInterSearch"), "{top}");
    let options = ["-top", "-sample_index=seen", "-tagfocus=thread=lookahead"];
    let seen = printed_by_pprof(&stacks, "sample.pb.gz", &options);
    assert!(seen.contains("accounting for 95, 4.95% of 1918 total"), "{seen}");
    let tags = printed_by_pprof(&stacks, "sample.pb.gz", &["-tags"]);
    assert!(tags.contains("470ms (94.00%): pool 0"), "{tags}");
    let raw = printed_by_pprof(&sample::crowd().stacks, "crowd.pb.gz", &["-raw"]);
    assert!(raw.contains("Samples:\nlost/nanoseconds[dflt] seen/count\n"), "{raw:.300}");
}

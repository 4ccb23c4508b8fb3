//! How many lines a second the importer reads, how many records a second a file takes.

use std::fs;
use std::path::Path;

use divan::Bencher;
use divan::counter::ItemsCount;
use trace::{Counter, History, HistoryWriter, Sink, import};

fn main() {
    divan::main();
}

/// Lines of a recording: all of them, or few where the benchmark only has to run at all.
fn recording() -> Vec<u8> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/x265_avx512_xz.perf-script.zst");
    let text = zstd::decode_all(&fs::read(path).expect("the fixture is there")[..])
        .expect("the fixture is whole");
    let lines = if cfg!(debug_assertions) { 500 } else { usize::MAX };
    text.split_inclusive(|&byte| byte == b'\n').take(lines).flatten().copied().collect()
}

fn lines(text: &[u8]) -> ItemsCount {
    ItemsCount::new(text.split_inclusive(|&byte| byte == b'\n').count())
}

#[divan::bench]
fn import_and_count(bencher: Bencher) {
    let text = recording();
    bencher.counter(lines(&text)).bench(|| {
        let mut counter = Counter::default();
        import::stream(&text[..], &mut counter).expect("the recording is read");
        counter.records
    });
}

#[divan::bench]
fn import_and_write(bencher: Bencher) {
    let text = recording();
    bencher.counter(lines(&text)).bench(|| {
        let mut writer = HistoryWriter::new(Vec::new()).expect("memory takes every byte");
        import::stream(&text[..], &mut writer).expect("the recording is read");
        writer.into_inner().expect("memory takes every byte").len()
    });
}

#[divan::bench]
fn write_records(bencher: Bencher) {
    let (history, _) = import::stream_history(&recording()[..]).expect("the recording is read");
    bencher.counter(ItemsCount::new(history.records.len())).bench(|| {
        let mut writer = HistoryWriter::new(std::io::sink()).expect("a sink takes every byte");
        for record in &history.records {
            writer.record(record).expect("a sink takes every byte");
        }
    });
}

#[divan::bench]
fn read_file(bencher: Bencher) {
    let (history, _) = import::stream_history(&recording()[..]).expect("the recording is read");
    let file = history.write(Vec::new()).expect("memory takes every byte");
    bencher
        .counter(ItemsCount::new(history.records.len()))
        .bench(|| History::read(&file[..]).expect("our own file is read"));
}

//! Lines a second of CPU time and peak memory of an import of any length: repeats the lines of
//! standard input, each time later by their length, and prints one line of JSON.
//!
//! `zstdcat RECORDING | measure_import MILLIONS_OF_LINES count|write`

use std::io::{BufReader, Read};

use trace::{Counter, HistoryWriter, import};

/// The same recording again and again, with times that go on.
struct Repeated {
    /// Lines as the part before the time, the time, and the part after.
    lines: Vec<(Vec<u8>, u64, Vec<u8>)>,
    period_ns: u64,
    left: u64,
    round: u64,
    at: usize,
    buffer: Vec<u8>,
    used: usize,
}

impl Repeated {
    fn new(text: &str, lines: u64) -> Self {
        let parsed: Vec<_> = text.lines().filter_map(split).collect();
        let first_ns = parsed.first().expect("a line with a time").1;
        let last_ns = parsed.last().expect("a line with a time").1;
        let period_ns = last_ns - first_ns + 1_000_000;
        let buffer = Vec::new();
        Self { lines: parsed, period_ns, left: lines, round: 0, at: 0, buffer, used: 0 }
    }

    fn fill(&mut self) {
        self.buffer.clear();
        self.used = 0;
        while self.left > 0 && self.buffer.len() < 1 << 20 {
            let (before, time_ns, after) = &self.lines[self.at];
            let time_ns = time_ns + self.round * self.period_ns;
            let time = format!("{}.{:09}", time_ns / 1_000_000_000, time_ns % 1_000_000_000);
            self.buffer.extend_from_slice(before);
            self.buffer.extend_from_slice(time.as_bytes());
            self.buffer.extend_from_slice(after);
            self.left -= 1;
            self.at += 1;
            if self.at == self.lines.len() {
                self.at = 0;
                self.round += 1;
            }
        }
    }
}

fn split(line: &str) -> Option<(Vec<u8>, u64, Vec<u8>)> {
    let at = line.find("]  ")? + 3;
    let length = line[at..].find(':')?;
    let time = line[at..at + length].replace('.', "").parse().ok()?;
    let after = format!("{}\n", &line[at + length..]);
    Some((line[..at].into(), time, after.into()))
}

impl Read for Repeated {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.used == self.buffer.len() {
            self.fill();
        }
        let length = buffer.len().min(self.buffer.len() - self.used);
        buffer[..length].copy_from_slice(&self.buffer[self.used..self.used + length]);
        self.used += length;
        Ok(length)
    }
}

/// `VmHWM` of the process, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

/// Time this process was on a CPU, in s (`/proc/self/schedstat`): other load does not count.
fn cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a kernel with schedstats");
    let ns = text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).expect("a time in ns");
    ns as f64 / 1e9
}

/// Imports a file of any form and prints the time that the import took.
fn file(path: &str, how: &str) {
    let open = || std::fs::File::open(path).expect("a recording");
    let start_s = cpu_s();
    let report = match how {
        "count" => import::recording(open(), &mut Counter::default()).expect("it is read"),
        _ => {
            let mut writer = HistoryWriter::new(std::io::sink()).expect("a sink");
            let report = import::recording(open(), &mut writer).expect("it is read");
            writer.into_inner().expect("a sink");
            report
        }
    };
    let all_s = cpu_s() - start_s;
    let (events, records) = (report.lines, report.records);
    println!(
        "{{\"events\":{events},\"records\":{records},\"cpu_s\":{all_s:.3},\
         \"events_per_cpu_s\":{:.0},\"peak_kib\":{}}}",
        events as f64 / all_s,
        peak_kib()
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, first, how] = &arguments[..] else { panic!("MILLIONS_OF_LINES|FILE count|write") };
    match first.parse::<u64>() {
        Ok(millions) => repeated(millions * 1_000_000, how),
        Err(_) => file(first, how),
    }
}

/// Imports a text from standard input, repeated until it has so many lines.
fn repeated(lines: u64, how: &str) {
    let text = std::io::read_to_string(std::io::stdin()).expect("a recording");
    let mut source = Repeated::new(&text, lines);
    let start_s = cpu_s();
    while source.left > 0 {
        source.fill();
    }
    let making_s = cpu_s() - start_s;
    let input = BufReader::with_capacity(1 << 20, Repeated::new(&text, lines));
    let start_s = cpu_s();
    let report = match how {
        "count" => import::stream(input, &mut Counter::default()).expect("it is read"),
        _ => {
            let mut writer = HistoryWriter::new(std::io::sink()).expect("a sink");
            let report = import::stream(input, &mut writer).expect("it is read");
            writer.into_inner().expect("a sink");
            report
        }
    };
    let all_s = cpu_s() - start_s;
    println!(
        "{{\"lines\":{},\"records\":{},\"tasks\":{},\"making_cpu_s\":{making_s:.3},\
         \"all_cpu_s\":{all_s:.3},\"lines_per_cpu_s\":{:.0},\"peak_kib\":{}}}",
        report.lines,
        report.records,
        report.tasks.len(),
        lines as f64 / (all_s - making_s),
        peak_kib()
    );
}

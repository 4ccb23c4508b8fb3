//! Perfetto's protobuf, read by a decoder that shares nothing with the writer.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;

use cpu_model::Class;
use proptest::prelude::*;
use trace::{Event, History, Record, export, import, info, validate};

use super::{random, without_schema_4};

/// A field: its number, and its number or bytes.
enum Value<'t> {
    Number(u64),
    Bytes(&'t [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a number ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number has ten bytes at most");
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(value)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn number(bytes: &[u8], field: u64) -> Option<u64> {
    fields(bytes).into_iter().find_map(|(number, value)| match value {
        Value::Number(value) if number == field => Some(value),
        _ => None,
    })
}

fn all(bytes: &[u8], field: u64) -> Vec<&[u8]> {
    let wanted = |(number, value)| match value {
        Value::Bytes(bytes) if number == field => Some(bytes),
        _ => None,
    };
    fields(bytes).into_iter().filter_map(wanted).collect()
}

fn text(bytes: &[u8], field: u64) -> String {
    String::from_utf8(all(bytes, field)[0].to_vec()).expect("names are UTF-8")
}

fn exported(history: &History) -> Vec<u8> {
    let mut bytes = Vec::new();
    export::perfetto(history, &mut bytes).unwrap();
    bytes
}

/// Switches as `(time, cpu, prev, next)`, in order of time and CPU.
fn switches(trace: &[u8]) -> Vec<(u64, u64, u64, u64)> {
    let mut switches = Vec::new();
    for packet in all(trace, 1) {
        for bundle in all(packet, 1) {
            let cpu = number(bundle, 1).expect("a bundle has a CPU");
            for event in all(bundle, 2) {
                let time_ns = number(event, 1).unwrap();
                for switch in all(event, 4) {
                    assert_eq!(number(event, 2), number(switch, 2));
                    let (prev, next) = (number(switch, 2).unwrap(), number(switch, 6).unwrap());
                    switches.push((time_ns, cpu, prev, next));
                }
            }
        }
    }
    switches.sort_by_key(|&(time_ns, cpu, ..)| (time_ns, cpu));
    switches
}

/// An event of a track.
#[derive(Clone, Debug, PartialEq)]
struct Tracked {
    time_ns: u64,
    /// Name of the track, or the thread and its process.
    track: String,
    kind: u64,
    name: String,
    value: Option<u64>,
    notes: Vec<(String, String)>,
}

fn tracked_as(track: &str, kind: u64, name: &str) -> Tracked {
    let (track, name) = (track.to_owned(), name.to_owned());
    Tracked { time_ns: 900, track, kind, name, value: None, notes: Vec::new() }
}

/// Events of tracks in order, without what is said once; every track is described before, under a
/// parent that is.
fn tracked(trace: &[u8]) -> Vec<Tracked> {
    let mut tracks = BTreeMap::new();
    let mut events = Vec::new();
    for packet in all(trace, 1) {
        for track in all(packet, 60) {
            let parent = number(track, 5);
            assert!(parent.is_none_or(|parent| tracks.contains_key(&parent)));
            let name = match all(track, 4).first() {
                Some(thread) => {
                    format!("{} of {}", number(thread, 2).unwrap(), number(thread, 1).unwrap())
                }
                None => text(track, 2),
            };
            assert!(tracks.insert(number(track, 1).unwrap(), name).is_none());
        }
        for event in all(packet, 11) {
            let name = if all(event, 23).is_empty() { String::new() } else { text(event, 23) };
            if name == "history" {
                continue;
            }
            let note = |note: &&[u8]| {
                let value = number(note, 3).map(|value| value.to_string());
                (text(note, 10), value.unwrap_or_else(|| text(note, 6)))
            };
            events.push(Tracked {
                time_ns: number(packet, 8).unwrap(),
                track: tracks[&number(event, 11).unwrap()].clone(),
                kind: number(event, 9).unwrap(),
                name,
                value: number(event, 30),
                notes: all(event, 4).iter().map(note).collect(),
            });
        }
    }
    events
}

proptest! {
    #[test]
    fn run_times_are_in_it_to_the_nanosecond(
        steps in random::steps(),
        names in random::names(),
    ) {
        let history = random::history(&steps, &names, 77);
        let mut run_ns: BTreeMap<u64, u64> = BTreeMap::new();
        let mut running: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let switches = switches(&exported(&history));
        for (time_ns, cpu, _, next) in switches {
            if let Some((since_ns, task)) = running.insert(cpu, (time_ns, next)) {
                *run_ns.entry(task).or_default() += time_ns - since_ns;
            }
        }
        for (since_ns, task) in running.into_values() {
            *run_ns.entry(task).or_default() += history.header.end_ns - since_ns;
        }
        for task in info(&history).tasks.iter().filter(|task| task.slices > 0) {
            prop_assert_eq!(run_ns.get(&u64::from(task.tid)), Some(&task.run_ns));
        }
    }
}

#[test]
fn the_trace_has_names_wakes_and_counters() {
    let names: Vec<String> = (1..=6).map(|task| format!("t{task}")).collect();
    let steps = [(1, 0, 1, 5), (5, 0, 2, 7), (6, 1, 3, 1)];
    let mut history = random::history(&steps, &names, 0);
    let at = |event| Record { time_ns: 900, event };
    history.records.push(at(Event::License { core: 2, level: 1, rate_permille: 250 }));
    history.records.push(at(Event::License { core: 2, level: 2, rate_permille: 0 }));
    history.records.push(at(Event::Frequency { core: 1, khz: 1_900_000 }));
    let trace = exported(&history);
    let packets = all(&trace, 1);
    assert!(packets.iter().all(|packet| number(packet, 10) == Some(1)));

    let tree = all(packets[0], 2)[0];
    assert_eq!(all(tree, 2).len(), 6);
    assert_eq!((number(all(tree, 2)[1], 1), text(all(tree, 2)[1], 2)), (Some(2), "t2".to_owned()));

    let event = |field| {
        let bundles = packets.iter().flat_map(|packet| all(packet, 1));
        bundles.flat_map(|bundle| all(bundle, 2)).flat_map(|event| all(event, field)).next()
    };
    let waking = event(20).expect("the wake is there");
    assert_eq!((text(waking, 1), number(waking, 2)), ("t2".to_owned(), Some(2)));
    let migrate = event(491).expect("the migration is there");
    assert_eq!((number(migrate, 4), number(migrate, 5)), (Some(1), Some(2)));
    assert_eq!(number(event(11).expect("the frequency is there"), 1), Some(1_900_000));

    let shown: Vec<_> = tracked(&trace);
    let counter = |track: &str, value| Tracked { value: Some(value), ..tracked_as(track, 4, "") };
    let throttle = |kind, name| tracked_as("core 2 throttle", kind, name);
    assert_eq!(
        shown,
        [
            counter("core 2 license level", 1),
            throttle(1, "throttle to 250 permille"),
            counter("core 2 license level", 2),
            throttle(2, ""),
            throttle(1, "halt"),
            counter("core 1 frequency (kHz)", 1_900_000),
            Tracked { time_ns: history.header.end_ns, ..throttle(2, "") },
        ]
    );
}

#[test]
fn the_trace_has_decisions_classes_and_registers() {
    let names: Vec<String> = (1..=6).map(|task| format!("t{task}")).collect();
    let mut history = random::history(&[(1, 0, 1, 5)], &names, 0);
    let at = |time_ns, event| Record { time_ns, event };
    let phase = |class| Event::Phase { task: 2, class, rate_permille: 500, stall_permille: 0 };
    history.records.extend([
        at(100, phase(Class::Amx)),
        at(200, phase(Class::Scalar)),
        at(300, Event::Registers { task: 2, xfeatures: 0x44 }),
        at(
            900,
            Event::Decision {
                cpu: 1,
                victim: 1,
                culprit: 2,
                slice_ns: 600,
                refund_ns: 50,
                bill_ns: 40,
            },
        ),
    ]);
    let on_thread = |time_ns, kind, name| Tracked { time_ns, ..tracked_as("2 of 2", kind, name) };
    let decision = |time_ns, kind, name| Tracked {
        time_ns,
        ..tracked_as("CPU 1 time given back", kind, name)
    };
    let note = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        tracked(&exported(&history)),
        [
            on_thread(100, 1, "amx 500 permille"),
            on_thread(200, 2, ""),
            Tracked {
                notes: vec![note("xfeatures", "68")],
                ..on_thread(300, 3, "registers: avx zmm-hi256")
            },
            Tracked {
                notes: vec![
                    note("victim", "t1 (1)"),
                    note("culprit", "t2 (2)"),
                    note("refund_ns", "50"),
                    note("bill_ns", "40"),
                ],
                ..decision(300, 1, "refund t1 (1)")
            },
            decision(900, 2, ""),
        ]
    );
}

#[test]
fn absurd_headers_take_no_time_and_overflow_nothing() {
    let names = vec!["a".to_owned(); 6];
    let mut history = random::history(&[(1, 0, 1, 5), (1, 1, 2, 5), (7, 0, 1, 1)], &names, 0);
    history.header.threads_per_core = Some(u32::MAX);
    history.header.end_ns = u64::MAX;
    assert_eq!(trace::validate(&history), []);
    assert!(!exported(&history).is_empty());
    let runtime = |task| Record { time_ns: 20, event: Event::Runtime { task, ns: u64::MAX } };
    history.records.extend([runtime(1), runtime(2)]);
    assert_eq!((info(&history).slices_ns, info(&history).runtime_ns), (u64::MAX, u64::MAX));
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)).unwrap()
}

/// Histories that were recorded: by perf, ftrace and our own recorder.
fn recorded() -> Vec<History> {
    let imported = |name: &str| {
        let recording = zstd::decode_all(&fixture(name)[..]).unwrap();
        without_schema_4(import::recording_history(Cursor::new(recording)).unwrap().0)
    };
    let mut old = History::read(&fixture("openssl_xz_x265.ektrace")[..]).unwrap();
    // Before schema 3 a history did not say whose interrupt it was; exports take the target's.
    for record in &mut old.records {
        if let Event::Wake { by: 0, cpu, on: on @ None, .. } = &mut record.event {
            *on = Some(*cpu);
        }
    }
    vec![
        old,
        imported("x265_avx512_xz.perf-script.zst"),
        imported("forms/perf.data.zst"),
        imported("forms/ftrace.zst"),
    ]
}

#[test]
fn a_recorded_history_is_imported_with_its_whole_header() {
    for history in recorded() {
        let trace = exported(&history);
        let (read, report) = import::stream_history(&trace[..]).unwrap();
        assert_eq!((report.unreadable, report.repaired_switches), (0, 0));
        assert_eq!(read.header, history.header);
        let differ = read.records.iter().zip(&history.records).find(|(read, of)| read != of);
        assert_eq!((differ, read.records.len()), (None, history.records.len()));
    }
}

#[test]
fn a_trace_that_was_cut_is_read_up_to_the_cut() {
    let history = recorded().remove(3);
    let trace = exported(&history);
    let whole = import::stream_history(&trace[..]).unwrap().0;
    let (read, report) = import::stream_history(&trace[..trace.len() * 2 / 3]).unwrap();
    assert!(report.truncated && validate(&read).is_empty());
    assert_eq!(read.records[..], whole.records[..read.records.len()]);
    assert_eq!(read.header.end_ns, read.records.last().unwrap().time_ns);
}

/// A field with bytes or a message, the number of which is below 16.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        field.push(length as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend_from_slice(bytes);
    field
}

/// Why a trace is refused.
fn refused(trace: &[u8]) -> String {
    let said = import::stream_history(trace).expect_err("it is refused").to_string();
    assert!(!said.chars().any(char::is_control), "{said}");
    said
}

#[test]
fn damage_is_named_with_its_packet() {
    let trace = exported(&recorded().remove(3));
    let said = refused(&[&trace[..], b"\x12\x00"].concat());
    assert!(said.contains("no packet begins here; expected a trace of Perfetto"), "{said}");
    let long = [&trace[..], &[0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f]].concat();
    assert!(refused(&long).contains("a packet of 34359738367 bytes; expected at most"));
    let endless = [&trace[..], &[0x0a], &[0xff; 11]].concat();
    assert!(refused(&endless).contains("a length has more than ten bytes"));
    assert!(
        refused(b"\n\x04\x08\x01\x10\x01").contains("no sched_switch of a known CPU in 0 events")
    );
    let packed = [b"\n\x07\x08\x01".to_vec(), vec![0x92, 3, 2, b'x', b'y']].concat();
    let said = refused(&packed);
    assert!(said.starts_with("record 1: its packets are compressed"), "{said}");
    assert!(said.contains("traceconv decompress_packets"), "{said}");
}

#[test]
fn an_invalid_header_of_a_history_is_refused() {
    let said_once = |name: &str, json: &str| {
        let annotation = [&[0x52, name.len() as u8], name.as_bytes(), &field(6, json.as_bytes())];
        let event = [&field(4, &annotation.concat())[..], b"\xba\x01\x07history"].concat();
        field(1, &field(11, &event))
    };
    let header = |cpus: u32| {
        let json = format!(
            "{{\"schema\":2,\"source\":\"simulated\",\"cpus\":{cpus},\"start_ns\":5,\"end_ns\":9,\
             \"tasks\":[]}}"
        );
        said_once("header", &json)
    };
    let (read, _) = import::stream_history(&header(3)[..]).unwrap();
    assert_eq!((read.header.cpus, read.header.start_ns, read.records.len()), (3, 5, 0));
    assert!(refused(&header(0)).contains("contradicts itself: header: 0 CPUs, expected 1 to 8192"));
    assert!(
        refused(&said_once("header", "{\"\u{1b}\":1}")).contains("the header of the history: ")
    );
    let task = [header(1), said_once("task 0", "{\"tid\":0,\"comm\":\"\",\"app\":\"\"}")].concat();
    assert!(refused(&task).contains("contradicts itself: tasks: id 0 is 0"));
    assert!(refused(&[header(1), header(1)].concat()).contains("expected one, before all events"));
    let late = [exported(&recorded().remove(3)), header(1)].concat();
    assert!(refused(&late).contains("expected one, before all events"));
}

#[test]
fn events_beyond_the_header_extend_the_history() {
    let history = random::history(&[(1, 0, 1, 5)], &vec!["a".to_owned(); 6], 100);
    let names = vec!["b".to_owned(); 6];
    let late = random::history(&[(1, 2, 3, 5), (4, 2, 3, 7)], &names, 50_000);
    // The second trace without its preamble: processes, the header, tasks.
    let bundles = |trace: &[u8]| {
        let packets = all(trace, 1).into_iter().filter(|packet| !all(packet, 1).is_empty());
        packets.flat_map(|packet| field(1, packet)).collect::<Vec<u8>>()
    };
    let both = [exported(&history), bundles(&exported(&late))].concat();
    let (read, report) = import::stream_history(&both[..]).unwrap();
    assert_eq!((validate(&read), report.unreadable), (Vec::new(), 0));
    assert_eq!(read.header.end_ns, 50_012);
    assert_eq!(read.header.tasks, history.header.tasks);
    assert_eq!(read.records.len(), 3);
}

proptest! {
    #[test]
    fn a_damaged_trace_is_read_or_refused(
        which in 0..4_usize,
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        static TRACES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
            let ours = recorded().into_iter().skip(2).map(|mut history| {
                history.records.truncate(100);
                exported(&history)
            });
            let others = ["forms/pftrace.zst", "forms/pftrace-compact.zst"];
            let others = others.map(|name| zstd::decode_all(&fixture(name)[..]).unwrap());
            ours.chain(others).collect()
        });
        let mut trace = TRACES[which].clone();
        for (at, byte) in bytes {
            let at = at.index(trace.len());
            trace[at] = byte;
        }
        trace.truncate(cut.map_or(trace.len(), |cut| cut.index(trace.len())));
        match import::recording_history(Cursor::new(trace)) {
            Ok((history, _)) => prop_assert_eq!(validate(&history), []),
            Err(error) => {
                let said = error.to_string();
                prop_assert!(!said.chars().any(char::is_control), "{said}");
            }
        }
    }
}

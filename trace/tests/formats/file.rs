//! Invalid files: the error names the line.

use std::io::Write;

use trace::{History, ReadError, TASKS_MAX};

const MAGIC: &str = "{\"ektrace\":{\"schema\":1}}";
const TASK: &str = "{\"task\":{\"tid\":7,\"comm\":\"a\",\"app\":\"a\"}}";
const COMES: &str =
    "{\"t\":1,\"e\":\"switch\",\"cpu\":0,\"prev\":0,\"state\":\"runnable\",\"next\":7}";

fn end(records: u32) -> String {
    format!(
        "{{\"end\":{{\"schema\":1,\"source\":\"recorded\",\"cpus\":1,\"start_ns\":0,\"end_ns\":9,\
         \"tasks\":[]}},\"records\":{records}}}"
    )
}

fn read(lines: &[&str]) -> Result<History, ReadError> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    History::read(&zstd::encode_all(text.as_bytes(), 1).unwrap()[..])
}

fn said(lines: &[&str]) -> String {
    read(lines).unwrap_err().to_string()
}

#[test]
fn a_whole_file_is_read() {
    let history = read(&[MAGIC, COMES, TASK, &end(1)]).unwrap();
    assert_eq!((history.records.len(), history.header.tasks.len()), (1, 1));
}

#[test]
fn a_file_of_schema_1_is_written_again_as_the_newest() {
    let history = read(&[MAGIC, COMES, TASK, &end(1)]).unwrap();
    assert_eq!(history.header.schema, trace::SCHEMA);
    let file = history.write(Vec::new()).unwrap();
    assert_eq!(History::read(&file[..]).unwrap(), history);
}

/// What schema 4 and 5 added, and the wake-up without it, as it was before.
#[test]
fn promises_programs_messages_and_counts_are_written_and_read_again() {
    let lines = [
        r#"{"t":2,"e":"wake","task":7,"by":0,"cpu":0}"#,
        r#"{"t":2,"e":"wake","task":7,"by":0,"cpu":0,"sync":true}"#,
        r#"{"t":3,"e":"exec","task":7}"#,
        r#"{"t":4,"e":"send","task":7,"channel":1,"bytes":100}"#,
        r#"{"t":5,"e":"unsent","task":7,"channel":1,"bytes":40}"#,
        r#"{"t":6,"e":"receive","task":7,"channel":1,"bytes":60}"#,
        concat!(
            r#"{"t":7,"e":"counters","cpu":0,"cycles":9,"ref_cycles":8,"license_1":3,"#,
            r#""license_2":2,"throttled":1,"stalled":4,"fp_256":0,"fp_512":5}"#
        ),
    ];
    let whole: Vec<&str> = [MAGIC, COMES].into_iter().chain(lines).collect();
    let (end, mut whole) = (end(8), whole);
    whole.extend([TASK, &end]);
    let history = read(&whole).unwrap();
    let packed = history.write(Vec::new()).unwrap();
    let text = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    assert_eq!(text.lines().skip(2).take(7).collect::<Vec<_>>(), lines);
}

#[test]
fn stacks_and_control_groups_are_kept_and_cleaned() {
    let stack = "{\"t\":1,\"e\":\"stack\",\"task\":7,\"stack\":0}";
    let listed = format!("{{\"stack\":[\"main\",\"a\\nb\",\"{}\"]}}", "x".repeat(500));
    let task = "{\"task\":{\"tid\":7,\"comm\":\"w\",\"app\":\"w\",\
                \"control_group\":{\"path\":\"/system.slice/a\\u001bb.service\",\"name\":\"a\"}}}";
    let once = read(&[MAGIC, COMES, stack, task, &listed, &end(2)]).unwrap();
    assert_eq!(once.header.stacks, [["main", "a\u{fffd}b", &"x".repeat(trace::FUNCTION_MAX)]]);
    let group = once.header.tasks[0].control_group.as_ref().unwrap();
    assert_eq!(
        (group.path.as_str(), group.name.as_str()),
        ("/system.slice/a\u{fffd}b.service", "a")
    );
    let again = History::read(&once.write(Vec::new()).unwrap()[..]).unwrap();
    assert_eq!(once, again);
}

#[test]
fn a_newer_schema_is_named() {
    assert_eq!(
        said(&["{\"ektrace\":{\"schema\":6,\"more\":true}}"]),
        "line 1, field schema: 6 is newer than 5, the newest that can be read"
    );
    assert!(said(&["{\"ektrace\":{\"schema\":0}}"]).contains("0 is no version"));
}

#[test]
fn other_files_are_named() {
    assert!(matches!(
        History::read(&b"not zstd"[..]),
        Err(ReadError::NotAHistory | ReadError::Damaged { line: 1, .. })
    ));
    assert!(matches!(read(&["{}"]), Err(ReadError::NotAHistory)));
    assert!(matches!(read(&[]), Err(ReadError::NotAHistory)));
    assert!(matches!(
        History::read(&b""[..]),
        Err(ReadError::NotAHistory | ReadError::Truncated { .. })
    ));
}

#[test]
fn a_cut_off_file_is_named_with_its_last_line() {
    assert_eq!(
        said(&[MAGIC, COMES]),
        "the file is cut off: its end, which has the names of all tasks, is missing after 2 \
         unpacked lines. Copy the whole file"
    );
    let whole = read(&[MAGIC, COMES, TASK, &end(1)]).unwrap().write(Vec::new()).unwrap();
    for length in 1..whole.len() {
        assert!(History::read(&whole[..length]).is_err(), "{length}");
    }
}

#[test]
fn mistakes_are_named_with_their_line() {
    let unknown = "{\"t\":1,\"e\":\"teleport\",\"cpu\":0}";
    assert!(said(&[MAGIC, unknown]).starts_with("line 2: expected a record: unknown variant"));
    assert_eq!(
        said(&[MAGIC, "{\"x\":1}"]),
        "line 2: expected a record, a task, a stack or the end"
    );
    assert_eq!(
        said(&[MAGIC, TASK, COMES]),
        "line 3: expected a record, a task, a stack or the end"
    );
    assert_eq!(said(&[MAGIC, COMES, TASK, &end(2)]), "line 4: 2 records announced, 1 found");
    assert_eq!(said(&[MAGIC, COMES, TASK, &end(1), "x"]), "line 5: expected nothing after the end");
    let long = "x".repeat(70_000);
    assert_eq!(said(&[MAGIC, &long]), "line 2: longer than 65536 bytes");
}

#[test]
fn contradictions_are_named() {
    let leaves = "{\"t\":0,\"e\":\"switch\",\"cpu\":1,\"prev\":9,\"state\":\"blocked\",\"next\":0}";
    assert_eq!(
        said(&[MAGIC, COMES, leaves, TASK, &end(2)]),
        "the history contradicts itself: record 1: its time is before the last record's or out \
         of the header's bounds; record 1: task 9 is not listed; record 1: CPU or core 1 does not \
         exist"
    );
    assert!(said(&[MAGIC, COMES, COMES, TASK, &end(2)]).contains("where task 7 runs"));
    let stack = "{\"t\":1,\"e\":\"stack\",\"task\":7,\"stack\":1}";
    let listed = "{\"stack\":[\"main\"]}";
    assert!(said(&[MAGIC, COMES, stack, TASK, listed, &end(2)]).contains("stack 1 is not listed"));
    assert!(said(&[MAGIC, TASK, TASK, &end(0)]).contains("not in ascending order"));
}

/// A history's file whose middle is the same line again and again.
fn repetitive(line: &str, times: u64) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    writeln!(encoder, "{MAGIC}").unwrap();
    let lines = format!("{line}\n").repeat(1000);
    for _ in 0..times / 1000 {
        encoder.write_all(lines.as_bytes()).unwrap();
    }
    encoder.finish().unwrap()
}

/// Most memory that this process had so far, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_small_file_that_unpacks_to_a_lot_is_refused_early() {
    let bomb = repetitive(COMES, 3_000_000);
    assert!(bomb.len() < 64 << 10, "{} bytes for 200 MB", bomb.len());
    let before_kib = peak_kib();
    let error = History::read(&bomb[..]).unwrap_err();
    let grown_kib = peak_kib() - before_kib;
    let ReadError::Bomb { line } = error else { panic!("{error}") };
    assert!(line < 200_000, "refused after line {line} of 3,000,000");
    assert!(grown_kib < 64 << 10, "reading took {grown_kib} KiB");
    assert_eq!(
        error.to_string(),
        format!(
            "line {line}: the file unpacks to more than 256 times its size, which no history does"
        )
    );
}

#[test]
fn a_window_that_would_fill_the_memory_is_refused() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(27).unwrap();
    writeln!(encoder, "{MAGIC}").unwrap();
    let error = History::read(&encoder.finish().unwrap()[..]).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { line: 1, .. }), "{error}");
}

#[test]
fn more_tasks_than_a_history_holds_are_refused() {
    let mut text = format!("{MAGIC}\n");
    for tid in 1..=TASKS_MAX + 1 {
        text += &format!("{{\"task\":{{\"tid\":{tid},\"comm\":\"\",\"app\":\"\"}}}}\n");
    }
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    assert_eq!(
        History::read(&packed[..]).unwrap_err().to_string(),
        "line 262146: more than 262144 tasks, the most that a history holds"
    );
}

//! Small files of perf, built byte by byte.

/// Descriptions of events of Linux 6.18, without the parts that the import skips.
pub const FORMATS: [&str; 6] = [
    "name: sched_switch\nID: 372\nformat:\n\
     \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
     \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
     \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
     \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
     \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
     \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\
     \tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n\
     print fmt: \"%s\", { 0x01, \"S\" }, { 0x02, \"D\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }\n",
    "name: sched_waking\nID: 375\nformat:\n\
     \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
     \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
     \tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\
     \tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
    "name: sched_stat_runtime\nID: 363\nformat:\n\
     \tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n\
     \tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n\
     \tfield:u64 runtime;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n",
    "name: x86_fpu_regs_deactivated\nID: 180\nformat:\n\
     \tfield:struct fpu * fpu;\toffset:8;\tsize:8;\tsigned:0;\n\
     \tfield:bool load_fpu;\toffset:16;\tsize:1;\tsigned:0;\n\
     \tfield:u64 xfeatures;\toffset:24;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n",
    "name: sched_process_fork\nID: 366\nformat:\n\
     \tfield:__rel_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n\
     \tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;\n\
     \tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;\n\
     \tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n",
    "name: softirq_entry\nID: 223\nformat:\n\
     \tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n",
];

/// Identifier, thread, time, CPU, raw bytes.
pub const SAMPLE_TYPE: u64 = 1 << 16 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EVENT_ID: u64 = 77;

/// Task, CPU and time.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub tid: u32,
    pub cpu: u32,
    pub time_ns: u64,
}

fn name(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

/// The bytes of an event after its number: `parts`, from offset 8 on.
pub fn event(number: u16, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    bytes[..2].copy_from_slice(&number.to_le_bytes());
    for part in parts {
        bytes.extend_from_slice(part);
    }
    bytes
}

/// `sched_switch` in the layout of [`FORMATS`]; tasks are `(name, pid)`.
pub fn switch(prev: (&str, u32), state: u64, next: (&str, u32)) -> Vec<u8> {
    let prio = 120_u32.to_le_bytes();
    let numbers = [prev.1.to_le_bytes(), next.1.to_le_bytes()];
    let parts: [&[u8]; 7] = [
        &name(prev.0),
        &numbers[0],
        &prio,
        &state.to_le_bytes(),
        &name(next.0),
        &numbers[1],
        &prio,
    ];
    event(372, &parts)
}

/// A record of this kind.
pub fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len() + 8).expect("a record is short");
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// A sample of an event with these bytes.
pub fn sample(at: At, raw: &[u8]) -> Vec<u8> {
    let mut body = EVENT_ID.to_le_bytes().to_vec();
    body.extend_from_slice(&place(at));
    body.extend_from_slice(&u32::try_from(raw.len()).expect("short").to_le_bytes());
    body.extend_from_slice(raw);
    record(9, &body)
}

/// A record other than a sample, which ends with task, CPU and time.
pub fn other(kind: u32, at: At, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.extend_from_slice(&place(at));
    body.extend_from_slice(&EVENT_ID.to_le_bytes());
    record(kind, &body)
}

/// The end of a round.
pub fn round() -> Vec<u8> {
    record(68, &[])
}

/// Records in one packed record.
pub fn packed(records: &[u8]) -> Vec<u8> {
    record(81, &zstd::encode_all(records, 1).expect("memory takes every byte"))
}

fn place(at: At) -> Vec<u8> {
    let mut bytes = at.tid.to_le_bytes().to_vec();
    bytes.extend_from_slice(&at.tid.to_le_bytes());
    bytes.extend_from_slice(&at.time_ns.to_le_bytes());
    bytes.extend_from_slice(&u64::from(at.cpu).to_le_bytes());
    bytes
}

fn tracing_data(formats: &[&str]) -> Vec<u8> {
    let sized = |bytes: &[u8]| [&(bytes.len() as u64).to_le_bytes(), bytes].concat();
    let mut data = b"\x17\x08Dtracing0.6\0\0\x08\0\x10\0\0".to_vec();
    for part in [&b"header_page\0"[..], b"header_event\0"] {
        data.extend_from_slice(part);
        data.extend_from_slice(&sized(b""));
    }
    data.extend_from_slice(&0_u32.to_le_bytes());
    data.extend_from_slice(&1_u32.to_le_bytes());
    data.extend_from_slice(b"sched\0");
    data.extend_from_slice(&u32::try_from(formats.len()).expect("few").to_le_bytes());
    for format in formats {
        data.extend_from_slice(&sized(format.as_bytes()));
    }
    data
}

/// A whole file with these descriptions of events and these records.
pub fn file(formats: &[&str], records: &[u8]) -> Vec<u8> {
    let tracing = tracing_data(formats);
    let (ids, attrs, data) = (104_u64, 112_u64, 112 + 144_u64);
    let features = data + records.len() as u64;
    let mut file = b"PERFILE2".to_vec();
    let words = [104, 144, attrs, 144, data, records.len() as u64, 0, 0, 1 << 1, 0, 0, 0, EVENT_ID];
    let mut attr = [0_u64; 18];
    attr[0] = 2 | 128 << 32;
    attr[1] = 372;
    attr[3] = SAMPLE_TYPE;
    attr[5] = SAMPLE_ID_ALL;
    attr[16] = ids;
    attr[17] = 8;
    for word in words.into_iter().chain(attr) {
        file.extend_from_slice(&word.to_le_bytes());
    }
    file.extend_from_slice(records);
    file.extend_from_slice(&(features + 16).to_le_bytes());
    file.extend_from_slice(&(tracing.len() as u64).to_le_bytes());
    file.extend_from_slice(&tracing);
    file
}

/// Two tasks that take turns on CPU 0, with everything that is read beside.
pub fn turns() -> Vec<u8> {
    let at = |tid, time_ns| At { tid, cpu: 0, time_ns };
    let word = |number: u32| number.to_le_bytes();
    let task = [&word(7)[..], &word(7), b"a\0\0\0\0\0\0\0"].concat();
    let forked = [word(8), word(7), word(8), word(7), word(0), word(0)].concat();
    let waking: [&[u8]; 4] = [&name("b"), &word(8), &word(120), &word(0)];
    let runtime: [&[u8]; 4] = [&word(2 << 16 | 24), &word(7), &500_u64.to_le_bytes(), b"a\0"];
    let mark: [&[u8]; 3] = [&[0; 8], &1_u64.to_le_bytes(), &0x2e7_u64.to_le_bytes()];
    let fork: [&[u8]; 5] =
        [&word(2 << 16 | 12), &word(7), &word(2 << 16 | 26), &word(8), b"a\0b\0"];
    [
        other(3, at(7, 900), &task),
        sample(at(0, 1_000), &switch(("swapper/0", 0), 0, ("a", 7))),
        sample(at(7, 1_100), &event(366, &fork)),
        other(7, at(7, 1_150), &forked),
        sample(at(7, 1_200), &event(375, &waking)),
        sample(at(7, 1_500), &event(363, &runtime)),
        round(),
        other(2, at(7, 1_600), &[&EVENT_ID.to_le_bytes()[..], &5_u64.to_le_bytes()].concat()),
        sample(at(7, 2_000), &switch(("a", 7), 1, ("b", 8))),
        sample(at(7, 2_100), &event(180, &mark)),
        round(),
        sample(at(8, 3_000), &switch(("b", 8), 0x10, ("swapper/0", 0))),
        other(4, at(8, 3_100), &forked),
    ]
    .concat()
}

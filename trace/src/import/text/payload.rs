//! The fields of an event, in the kernel's own style and in that of libtraceevent's plug-ins.
//!
//! Names are not quoted and may hold what looks like fields. Each pattern is
//! therefore matched over a stretch longer than the 15 bytes of a name.

use super::cursor::{Cursor, places};
use super::head::Line;
use super::own::own;
use crate::import::entry::{self, Named, Payload, Span};
use crate::import::tracepoint::States;

/// Reads the payload; `None` if its fields do not match the event.
pub fn payload(text: &[u8], line: &Line) -> Option<Payload> {
    let at = line.payload;
    match line.event.of(text) {
        b"sched_switch" => switch(without_latency(text), at, line.head.tid),
        b"sched_waking" => woken(text, at).map(|(task, cpu)| Payload::Waking { task, cpu }),
        b"sched_wakeup" => woken(text, at).map(|(task, cpu)| Payload::Wakeup { task, cpu }),
        b"sched_wakeup_new" => woken(text, at).map(|(task, cpu)| Payload::WakeupNew { task, cpu }),
        b"sched_migrate_task" => migrate(text, at),
        b"sched_process_fork" => fork(text, at),
        b"sched_process_exec" => exec(text, at),
        b"sched_process_exit" => exit(text, at),
        b"sched_stat_runtime" => runtime(text, at),
        b"x86_fpu_regs_deactivated" => mark(text, at),
        b"cpu_frequency" => frequency(text, at),
        b"PERF_RECORD_LOST" | b"PERF_RECORD_LOST_SAMPLES" => lost(text, at),
        event => Payload::interrupt(event, vector(text, at))
            .or_else(|| own(event, text, at).map(Payload::Own))
            .or(Some(Payload::Other)),
    }
}

/// The number of a softirq: `vec=3 [action=NET_RX]`.
fn vector(text: &[u8], at: usize) -> Option<u64> {
    let mut cursor = Cursor::new(text, at);
    cursor.eat(b"vec=")?;
    cursor.number()
}

/// `comm=NAME pid=N` followed by `tail`, which must fit to the end of the line.
fn named<'t, T>(
    text: &'t [u8],
    at: usize,
    tail: impl Fn(&mut Cursor<'t>) -> Option<(Option<i32>, T)>,
) -> Option<(Named, T)> {
    let mut cursor = Cursor::new(text, at);
    cursor.eat(b"comm=")?;
    let start = cursor.at;
    places(text, b" pid=", start).find_map(|end| {
        let mut cursor = Cursor::new(text, end + 5);
        let pid = cursor.pid()?;
        let (prio, value) = tail(&mut cursor)?;
        cursor.done()?;
        Some((Named { name: Span::new(start, end), pid, prio }, value))
    })
}

fn prio(cursor: &mut Cursor) -> Option<i32> {
    cursor.eat(b" prio=")?;
    cursor.signed()
}

/// The line without the suffix of `trace-cmd report -w`: ` Latency: 61.191 usecs`.
fn without_latency(text: &[u8]) -> &[u8] {
    let Some(line) = text.strip_suffix(b" usecs") else { return text };
    let number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let digits = line.iter().rev().take_while(|byte| number(byte)).count();
    line[..line.len() - digits].strip_suffix(b" Latency: ").unwrap_or(text)
}

fn switch(text: &[u8], at: usize, tid: Option<u32>) -> Option<Payload> {
    let mut cursor = Cursor::new(text, at);
    if cursor.eat(b"prev_comm=").is_none() {
        return plugin_switch(text, at, tid);
    }
    let start = cursor.at;
    let (prev, state, next_at) = places(text, b" prev_pid=", start).find_map(|end| {
        let mut cursor = Cursor::new(text, end + 10);
        let pid = cursor.pid()?;
        cursor.eat(b" prev_prio=")?;
        let prio = Some(cursor.signed()?);
        cursor.eat(b" prev_state=")?;
        let state = cursor.word()?;
        cursor.eat(b" ==>");
        cursor.eat(b" next_comm=")?;
        Some((Named { name: Span::new(start, end), pid, prio }, state, cursor.at))
    })?;
    let next = places(text, b" next_pid=", next_at).rev().find_map(|end| {
        let mut cursor = Cursor::new(text, end + 10);
        let pid = cursor.pid()?;
        cursor.eat(b" next_prio=")?;
        let prio = Some(cursor.signed()?);
        cursor.done()?;
        Some(Named { name: Span::new(next_at, end), pid, prio })
    })?;
    switched(prev, state, next)
}

/// The form of libtraceevent's `plugin_sched_switch.c`: `prev:7 [120] R ==> next:8 [120]`.
/// Where a name makes several readings possible, the running task decides.
fn plugin_switch(text: &[u8], at: usize, tid: Option<u32>) -> Option<Payload> {
    let (next, _) = plugin_named(text, at, trimmed(text))?;
    let mut readings = places(text, b" ==> ", at).filter_map(|arrow| {
        let state_at = at + memchr::memrchr(b' ', &text[at..arrow])? + 1;
        let (prev, _) = plugin_named(text, at, state_at - 1)?;
        let name = next.name.from(arrow + 5)?;
        Some((prev, &text[state_at..arrow], Named { name, ..next }))
    });
    let first = readings.next()?;
    let sure = |(prev, _, _): &(Named, &[u8], Named)| tid == Some(prev.pid);
    let (prev, state, next) =
        if sure(&first) { first } else { readings.find(sure).unwrap_or(first) };
    switched(prev, state, next)
}

/// The task `NAME:PID [PRIO]` that begins at `at` and ends at `end`.
fn plugin_named(text: &[u8], at: usize, end: usize) -> Option<(Named, usize)> {
    let open = memchr::memrchr(b'[', text.get(at..end)?)? + at;
    let colon = memchr::memrchr(b':', &text[at..open])? + at;
    let mut cursor = Cursor::new(text, colon + 1);
    let pid = cursor.pid()?;
    cursor.eat(b" [")?;
    let prio = Some(cursor.signed()?);
    cursor.eat(b"]")?;
    (cursor.at == end).then_some((Named { name: Span::new(at, colon), pid, prio }, end))
}

fn trimmed(text: &[u8]) -> usize {
    let spaces = text.iter().rev().take_while(|&&byte| matches!(byte, b' ' | b'\r')).count();
    text.len() - spaces
}

/// The state is a letter, to which perf and ftrace add `+` if the task was preempted, or in raw
/// lines the kernel's number.
fn switched(prev: Named, state: &[u8], next: Named) -> Option<Payload> {
    let letter = match *state.first()? {
        b'0'..=b'9' => States::default().letter(Cursor::new(state, 0).number()?),
        letter => letter,
    };
    Payload::switch(prev, letter, next)
}

fn woken(text: &[u8], at: usize) -> Option<(Named, u32)> {
    if text[at..].starts_with(b"comm=")
        && let Some(found) = named(text, at, |cursor| {
            let prio = prio(cursor)?;
            if cursor.eat(b" success=").is_some() {
                cursor.number()?;
            }
            cursor.eat(b" target_cpu=")?;
            Some((Some(prio), cpu(cursor)?))
        })
    {
        return Some(found);
    }
    let end = memchr::memmem::rfind(&text[at..], b" CPU:")? + at;
    let mut cursor = Cursor::new(text, end + 5);
    let cpu = cpu(&mut cursor)?;
    cursor.done()?;
    let success = memchr::memmem::rfind(&text[at..end], b" success=").map(|found| found + at);
    let (task, _) = success
        .and_then(|success| plugin_named(text, at, success))
        .or_else(|| plugin_named(text, at, end))?;
    Some((task, cpu))
}

fn cpu(cursor: &mut Cursor) -> Option<u32> {
    cursor.small().and_then(entry::cpu)
}

fn migrate(text: &[u8], at: usize) -> Option<Payload> {
    let (task, (from, to)) = named(text, at, |cursor| {
        let prio = prio(cursor)?;
        cursor.eat(b" orig_cpu=")?;
        let from = cpu(cursor)?;
        cursor.eat(b" dest_cpu=")?;
        Some((Some(prio), (from, cpu(cursor)?)))
    })?;
    Some(Payload::Migrate { task, from, to })
}

fn fork(text: &[u8], at: usize) -> Option<Payload> {
    let mut cursor = Cursor::new(text, at);
    let raw = cursor.eat(b"parent_").is_some();
    cursor.eat(b"comm=")?;
    let start = cursor.at;
    let before: &[u8] = if raw { b" parent_pid=" } else { b" pid=" };
    places(text, before, start).find_map(|end| {
        let mut cursor = Cursor::new(text, end + before.len());
        let pid = cursor.pid()?;
        cursor.eat(b" child_comm=")?;
        let child_at = cursor.at;
        let parent = Named { name: Span::new(start, end), pid, prio: None };
        places(text, b" child_pid=", child_at).rev().find_map(|end| {
            let mut cursor = Cursor::new(text, end + 11);
            let pid = cursor.pid()?;
            cursor.done()?;
            let child = Named { name: Span::new(child_at, end), pid, prio: None };
            Some(Payload::Fork { parent, child })
        })
    })
}

fn exec(text: &[u8], at: usize) -> Option<Payload> {
    Cursor::new(text, at).eat(b"filename=")?;
    places(text, b" pid=", at).rev().find_map(|end| {
        let mut cursor = Cursor::new(text, end + 5);
        cursor.pid()?;
        cursor.eat(b" old_pid=")?;
        cursor.pid()?;
        cursor.done()?;
        Some(Payload::Exec)
    })
}

fn exit(text: &[u8], at: usize) -> Option<Payload> {
    let (task, ()) = named(text, at, |cursor| {
        let prio = prio(cursor)?;
        if cursor.eat(b" group_dead=").is_some() {
            cursor.word()?;
        }
        Some((Some(prio), ()))
    })?;
    Some(Payload::Exit { task })
}

fn runtime(text: &[u8], at: usize) -> Option<Payload> {
    let (task, ns) = named(text, at, |cursor| {
        cursor.eat(b" runtime=")?;
        let ns = cursor.number()?;
        cursor.eat(b" [ns]");
        if cursor.eat(b" vruntime=").is_some() {
            cursor.number()?;
            cursor.eat(b" [ns]");
        }
        Some((None, ns))
    })?;
    Some(Payload::Runtime { task, ns })
}

/// `x86/fpu: 0xADDRESS load: 1 xfeatures: 2a2 …`, or raw `fpu=0xADDRESS load_fpu=1 …`; the
/// address is not kept. Before 5.2 the flag is `initialized`, before 4.15 `fpregs_active`.
fn mark(text: &[u8], at: usize) -> Option<Payload> {
    let mut cursor = Cursor::new(text, at);
    let raw = cursor.eat(b"fpu=").is_some();
    if !raw {
        cursor.eat(b"x86/fpu: ")?;
    }
    cursor.word()?;
    cursor.spaces()?;
    let sign: &[u8] = if raw { b"=" } else { b": " };
    let flag = memchr::memmem::find(cursor.rest(), sign)?;
    let name = &cursor.rest()[..flag];
    matches!(name, b"load" | b"load_fpu" | b"initialized" | b"fpregs_active").then_some(())?;
    cursor.at += flag + sign.len();
    let loaded = cursor.number()? == 1;
    cursor.eat(b" xfeatures")?;
    cursor.eat(sign)?;
    let xfeatures = cursor.hex()?;
    cursor.eat(b" xcomp_bv")?;
    cursor.eat(sign)?;
    cursor.hex()?;
    cursor.done()?;
    Some(Payload::Mark { loaded, xfeatures })
}

fn frequency(text: &[u8], at: usize) -> Option<Payload> {
    let mut cursor = Cursor::new(text, at);
    cursor.eat(b"state=")?;
    let khz = cursor.small()?;
    cursor.eat(b" cpu_id=")?;
    let cpu = cpu(&mut cursor)?;
    cursor.done()?;
    Some(Payload::Frequency { khz, cpu })
}

fn lost(text: &[u8], at: usize) -> Option<Payload> {
    let mut cursor = Cursor::new(text, at);
    cursor.spaces();
    cursor.eat(b"lost ")?;
    let events = cursor.number()?;
    Some(Payload::Lost { events })
}

/// A line of ftrace about events it dropped: `CPU:1 [LOST 5 EVENTS]`, and
/// `CPU:1 [5 EVENTS DROPPED]` of trace-cmd.
pub fn dropped(text: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(text, 0);
    cursor.spaces();
    cursor.eat(b"CPU:")?;
    cursor.number()?;
    cursor.eat(b" [")?;
    let lost = cursor.eat(b"LOST ").is_some();
    let events = cursor.number()?;
    cursor.eat(if lost { b" EVENTS]" } else { b" EVENTS DROPPED]" })?;
    cursor.done()?;
    Some(events)
}

//! The part of a line before the event's own fields: task, CPU, time and event name.
//!
//! A command name may contain nearly anything, so the line is anchored on
//! ` pid/tid [cpu] time: sys:event:`, which is longer than any name.

use super::cursor::Cursor;
use crate::import::entry::{self, Head, Span};

/// The head of a line, and the position of its payload.
#[derive(Clone, Debug)]
pub struct Line {
    pub head: Head,
    /// Whether the time has the nine digits of nanoseconds.
    pub nanoseconds: bool,
    /// Name of the event, without its subsystem.
    pub event: Span,
    /// Where the payload begins.
    pub payload: usize,
}

/// Flags that kernels print: four before 5.17, then five; some recorders add the depth of locks.
const FLAGS_MIN: usize = 4;
const FLAGS_MAX: usize = 7;

/// Reads the head of a line; `None` for a line without one.
pub fn head(text: &[u8]) -> Option<Line> {
    memchr::memchr_iter(b'[', text)
        .find_map(|bracket| with_cpu(text, bracket))
        .or_else(|| memchr::memchr_iter(b'.', text).find_map(|dot| without_bracket(text, dot)))
        .or_else(|| memchr::memmem::find_iter(text, b"us").find_map(|us| since_start(text, us)))
}

/// `name pid/tid [000] 1.000000000: sys:event: payload`, the bracket being at `bracket`.
fn with_cpu(text: &[u8], bracket: usize) -> Option<Line> {
    let mut cursor = Cursor::new(text, bracket + 1);
    let cpu = cursor.small().and_then(entry::cpu)?;
    cursor.eat(b"]")?;
    cursor.spaces()?;
    let mut interrupt = None;
    if !cursor.rest().first()?.is_ascii_digit() {
        interrupt = Some(in_interrupt(cursor.word()?));
        cursor.spaces()?;
    }
    let who = who(text, bracket)?;
    let when = when(&mut cursor)?;
    assemble(Who { cpu: Some(cpu), interrupt, ..who }, when, cursor)
}

/// The same without a CPU, or with CPU and flags before the time as `trace-cmd report -l`
/// prints them: `name-7 0d..2. 1.000000000: event: payload`; the dot of the time is at `dot`.
fn without_bracket(text: &[u8], dot: usize) -> Option<Line> {
    let start = dot - digits_before(text, dot);
    let who = who(text, start).or_else(|| flagged(text, start))?;
    let mut cursor = Cursor::new(text, start);
    let when = when(&mut cursor)?;
    assemble(who, when, cursor)
}

/// `name-7 0d..2. 1234us+: event: payload`, ftrace's latency format: the time counts from the
/// start of the buffer, and a sign says how far the next event is.
fn since_start(text: &[u8], us: usize) -> Option<Line> {
    let start = us - digits_before(text, us);
    let time_ns = Cursor::new(text, start).number()?.checked_mul(1000)?;
    let mut cursor = Cursor::new(text, us + 2);
    if matches!(cursor.rest().first()?, b' ' | b'+' | b'!' | b'#' | b'*' | b'@' | b'$') {
        cursor.at += 1;
    }
    cursor.eat(b":")?;
    assemble(flagged(text, start)?, (time_ns, false), cursor)
}

/// Whether flags of ftrace say that an interrupt did it: the third is the context
/// (`trace_print_lat_fmt`, kernel/trace/trace_output.c, 6.18).
fn in_interrupt(flags: &[u8]) -> bool {
    matches!(flags.get(2), Some(b'h' | b'H' | b's' | b'z' | b'Z'))
}

/// `name-7 0d..2.` before `end`.
fn flagged(text: &[u8], end: usize) -> Option<Who> {
    let end = trim(text, end);
    let start = memchr::memrchr(b' ', &text[..end])? + 1;
    let mut cursor = Cursor::new(&text[..end], start);
    let cpu = cursor.small().and_then(entry::cpu)?;
    let flags = cursor.rest();
    let known = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.';
    if !(FLAGS_MIN..=FLAGS_MAX).contains(&flags.len()) || !flags.iter().all(known) {
        return None;
    }
    let interrupt = Some(in_interrupt(flags));
    Some(Who { cpu: Some(cpu), interrupt, ..who(text, start)? })
}

#[derive(Default)]
struct Who {
    name: Span,
    process: Option<u32>,
    tid: Option<u32>,
    cpu: Option<u32>,
    interrupt: Option<bool>,
}

fn assemble(who: Who, when: (u64, bool), mut cursor: Cursor) -> Option<Line> {
    cursor.spaces()?;
    if cursor.eat(b"(+").is_some() {
        // `trace-cmd report --ts-diff` prints the time since the line before.
        cursor.number()?;
        cursor.eat(b")")?;
        cursor.spaces()?;
    }
    let start = cursor.at;
    let word = cursor.word()?;
    let event = match word.strip_suffix(b":") {
        Some(event) => event,
        None => word.starts_with(b"PERF_RECORD_").then_some(word)?,
    };
    let subsystem = memchr::memrchr(b':', event).map_or(0, |colon| colon + 1);
    let Who { name, process, tid, cpu, interrupt } = who;
    cursor.spaces();
    Some(Line {
        head: Head { name, process, tid, cpu, time_ns: when.0, interrupt },
        nanoseconds: when.1,
        event: Span::new(start + subsystem, start + event.len()),
        payload: cursor.at,
    })
}

/// Seconds, up to nine digits of fraction, colon: time in ns, and whether it had all nine digits.
fn when(cursor: &mut Cursor) -> Option<(u64, bool)> {
    let seconds = cursor.number()?;
    cursor.eat(b".")?;
    let start = cursor.at;
    let fraction = cursor.number()?;
    let digits = cursor.at - start;
    cursor.eat(b":")?;
    let scale = 10u64.checked_pow(9u32.checked_sub(digits as u32)?)?;
    let time_ns = seconds.checked_mul(1_000_000_000)?.checked_add(fraction * scale)?;
    Some((time_ns, digits == 9))
}

/// The text before `end`: `name pid/tid `, `name pid ` or ftrace's `name-pid (group) `.
fn who(text: &[u8], end: usize) -> Option<Who> {
    let mut end = trim(text, end);
    let mut group = None;
    if end > 0 && text[end - 1] == b')' {
        let open = memchr::memrchr(b'(', &text[..end])?;
        let mut cursor = Cursor::new(&text[..end - 1], open + 1);
        cursor.spaces();
        group = cursor.pid();
        end = trim(text, open);
    }
    let tid_at = end - digits_before(text, end);
    let tid = Cursor::new(&text[..end], tid_at).pid()?;
    let unknown = tid == 1 && text[..tid_at].ends_with(b"-");
    let perf = if unknown {
        process(text, tid_at - 1).map(|(end, process)| (end, process, None))
    } else {
        process(text, tid_at).map(|(end, process)| (end, process, Some(tid)))
    };
    let (name_end, process, tid) = match perf {
        Some(found) => found,
        None if text[..tid_at].ends_with(b"-") => (tid_at - 1, group, Some(tid)),
        None => return None,
    };
    let name_end = trim(text, name_end);
    let name_start = text[..name_end].iter().take_while(|&&byte| byte == b' ').count();
    let name = Span::new(name_start, name_end);
    Some(Who { name, process, tid, ..Who::default() })
}

/// Perf's ` pid/` or space before a thread's number at `end`: where the name ends, and the
/// process where it is known.
fn process(text: &[u8], end: usize) -> Option<(usize, Option<u32>)> {
    let before = match text[..end].last()? {
        b' ' => return Some((end, None)),
        b'/' => end - 1,
        _ => return None,
    };
    let at = before - digits_before(text, before);
    let pid = Cursor::new(&text[..before], at).pid()?;
    match text[..at] {
        [.., b' '] => Some((at, Some(pid))),
        [.., b' ', b'-'] => Some((at - 1, None)),
        _ => None,
    }
}

fn trim(text: &[u8], end: usize) -> usize {
    end - text[..end].iter().rev().take_while(|&&byte| byte == b' ').count()
}

fn digits_before(text: &[u8], end: usize) -> usize {
    text[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts<'t> = (&'t [u8], Option<u32>, Option<u32>, Option<u32>, u64, &'t [u8], &'t [u8]);

    fn of(line: &[u8]) -> Parts<'_> {
        let Line { head, event, payload, .. } = head(line).expect("the line has a head");
        let Head { process, tid, cpu, time_ns, .. } = head;
        (head.name.of(line), process, tid, cpu, time_ns, event.of(line), &line[payload..])
    }

    #[test]
    fn process_and_thread_are_read() {
        assert_eq!(
            of(b"   x265  1875/1877  [001]  3360.467253055:  sched:sched_switch: prev_comm=x"),
            (
                &b"x265"[..],
                Some(1875),
                Some(1877),
                Some(1),
                3_360_467_253_055,
                &b"sched_switch"[..],
                &b"prev_comm=x"[..]
            )
        );
    }

    #[test]
    fn other_headers_are_read() {
        let plain = of(b"xz  7 [000] 1.5: sched:sched_waking: p");
        assert_eq!(
            (plain.0, plain.1, plain.2, plain.4),
            (&b"xz"[..], None, Some(7), 1_500_000_000)
        );
        let no_cpu = of(b"xz  7/8  1.5: sched:sched_waking: p");
        assert_eq!((no_cpu.1, no_cpu.2, no_cpu.3), (Some(7), Some(8), None));
        let gone = of(b":-1  1892/-1 [001] 1.5: sched:sched_switch: p");
        assert_eq!((gone.0, gone.1, gone.2), (&b":-1"[..], Some(1892), None));
        let both = of(b":-1  -1/-1 [001] 1.5: sched:sched_switch: p");
        assert_eq!((both.1, both.2), (None, None));
        let ftrace = of(b"my-task-17 (  17) [002] d.h2. 1.000000001: sched_waking: comm=x");
        assert_eq!((ftrace.0, ftrace.1, ftrace.2), (&b"my-task"[..], Some(17), Some(17)));
        assert_eq!(ftrace.3, Some(2));
        let idle = of(b"          <idle>-0     [002] d..2.     1.000000001: sched_switch: p");
        assert_eq!((idle.0, idle.2, idle.5), (&b"<idle>"[..], Some(0), &b"sched_switch"[..]));
    }

    #[test]
    fn names_that_look_like_heads_are_names() {
        for name in ["123/45 [000]", ")] 1.5: s:e:", "a b: ==> c", "1/1 [0] 1.5:", "[[[ [0] 1.1: x"]
        {
            let line = format!("{name} 77/78 [003] 2.000000009: sched:sched_waking: comm={name}");
            let head = of(line.as_bytes());
            assert_eq!((head.0, head.1, head.2), (name.as_bytes(), Some(77), Some(78)));
            assert_eq!((head.3, head.4), (Some(3), 2_000_000_009));
        }
    }

    #[test]
    fn lines_without_a_head_have_none() {
        for line in [
            "",
            "[",
            "x 1/2 [000]",
            "x 1/2 [000] 1.5:",
            "x 1/2 [99999] 1.5: s:e: ",
            "x 1/2 [000] 1.0000000001: s:e: ",
            "x 1/2 [000] 99999999999999999.5: s:e: ",
            "/2 [000] 1.5: s:e: ",
            "x /2 [000] 1.5: s:e: ",
            "'trace' not valid for sched:sched_switch. Ignoring.",
        ] {
            assert!(head(line.as_bytes()).is_none(), "{line:?}");
        }
    }
}

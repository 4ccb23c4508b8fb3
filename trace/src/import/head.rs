//! The part of a line before the event's own fields: who, where, when, what.
//!
//! A command name may contain nearly anything, so the line is anchored on
//! ` pid/tid [cpu] time: sys:event:`, which is longer than any name.

use super::cursor::{Cursor, Span};

/// What a line says before its payload.
#[derive(Clone, Debug)]
pub struct Head {
    /// Name of the running task, as the recorder knew it.
    pub name: Span,
    /// Its process, where the line has it and it is known.
    pub process: Option<u32>,
    /// The running task; `None` where the recorder no longer knew it (`-1`).
    pub tid: Option<u32>,
    /// Where it happened, if the line says.
    pub cpu: Option<u32>,
    /// When it happened.
    pub time_ns: u64,
    /// Whether an interrupt did it, where the line says (only ftrace's do).
    pub interrupt: Option<bool>,
    /// Whether the time has the nine digits of nanoseconds.
    pub nanoseconds: bool,
    /// Name of the event, without its subsystem.
    pub event: Span,
    /// Where the payload begins.
    pub payload: usize,
}

/// Reads the head of a line; `None` if it has none.
pub fn head(text: &[u8]) -> Option<Head> {
    memchr::memchr_iter(b'[', text)
        .find_map(|bracket| with_cpu(text, bracket))
        .or_else(|| memchr::memchr_iter(b'.', text).find_map(|dot| without_cpu(text, dot)))
}

/// `name pid/tid [000] 1.000000000: sys:event: payload`, the bracket being at `bracket`.
fn with_cpu(text: &[u8], bracket: usize) -> Option<Head> {
    let mut cursor = Cursor::new(text, bracket + 1);
    let cpu = cursor.small().filter(|&cpu| cpu < crate::CPUS_MAX)?;
    cursor.eat(b"]")?;
    cursor.spaces()?;
    let mut interrupt = None;
    if !cursor.rest().first()?.is_ascii_digit() {
        let context = cursor.word()?.get(2);
        interrupt = Some(matches!(context, Some(b'h' | b'H' | b's' | b'z' | b'Z')));
        cursor.spaces()?;
    }
    let who = who(text, bracket)?;
    let when = when(&mut cursor)?;
    Some(Head { cpu: Some(cpu), interrupt, ..assemble(who, when, cursor)? })
}

/// `name pid/tid 1.000000000: sys:event: payload`, the dot of the time being at `dot`.
fn without_cpu(text: &[u8], dot: usize) -> Option<Head> {
    let digits = text[..dot].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let start = dot - digits;
    let who = who(text, start)?;
    let mut cursor = Cursor::new(text, start);
    let when = when(&mut cursor)?;
    assemble(who, when, cursor)
}

struct Who {
    name: Span,
    process: Option<u32>,
    tid: Option<u32>,
}

fn assemble(who: Who, when: (u64, bool), mut cursor: Cursor) -> Option<Head> {
    cursor.spaces()?;
    let start = cursor.at;
    let word = cursor.word()?;
    let event = match word.strip_suffix(b":") {
        Some(event) => event,
        None => word.starts_with(b"PERF_RECORD_").then_some(word)?,
    };
    let subsystem = memchr::memrchr(b':', event).map_or(0, |colon| colon + 1);
    Some(Head {
        name: who.name,
        process: who.process,
        tid: who.tid,
        cpu: None,
        time_ns: when.0,
        interrupt: None,
        nanoseconds: when.1,
        event: Span::new(start + subsystem, start + event.len()),
        payload: (cursor.at + 1).min(cursor.text.len()),
    })
}

/// Seconds, up to nine digits of fraction, colon: time in ns, and whether all nine are there.
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

/// What stands before `end`: `name pid/tid `, `name pid ` or ftrace's `name-pid (group) `.
fn who(text: &[u8], end: usize) -> Option<Who> {
    let mut end = trim(text, end);
    if end > 0 && text[end - 1] == b')' {
        end = trim(text, memchr::memrchr(b'(', &text[..end])?);
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
        None if text[..tid_at].ends_with(b"-") => (tid_at - 1, None, Some(tid)),
        None => return None,
    };
    let name_end = trim(text, name_end);
    let name_start = text[..name_end].iter().take_while(|&&byte| byte == b' ').count();
    Some(Who { name: Span::new(name_start, name_end), process, tid })
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
        let head = head(line).expect("the line has a head");
        let Head { process, tid, cpu, time_ns, payload, .. } = head;
        (head.name.of(line), process, tid, cpu, time_ns, head.event.of(line), &line[payload..])
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
        assert_eq!((ftrace.0, ftrace.2, ftrace.3), (&b"my-task"[..], Some(17), Some(2)));
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

//! Events that our own exports have and no kernel: licenses, decisions, phases, overheads.

use cpu_model::Class;

use super::cursor::Cursor;
use crate::Event;
use crate::import::entry;

/// Reads an event of ours; `None` if it is somebody else's. The machine puts the CPU in.
pub fn own(name: &[u8], text: &[u8], at: usize) -> Option<Event> {
    let mut cursor = Cursor::new(text, at);
    let event = match name {
        b"license" => Event::License {
            core: entry::cpu(number(&mut cursor, b"core=")?)?,
            level: number(&mut cursor, b" level=")?,
            rate_permille: number(&mut cursor, b" rate_permille=")?,
        },
        b"decision" => Event::Decision {
            cpu: 0,
            victim: number(&mut cursor, b"victim=")?,
            culprit: number(&mut cursor, b" culprit=")?,
            slice_ns: number(&mut cursor, b" slice_ns=")?,
            refund_ns: number(&mut cursor, b" refund_ns=")?,
            bill_ns: number(&mut cursor, b" bill_ns=")?,
        },
        b"phase" => Event::Phase {
            task: number(&mut cursor, b"task=")?,
            class: class(&mut cursor)?,
            rate_permille: number(&mut cursor, b" rate_permille=")?,
            stall_permille: number(&mut cursor, b" stall_permille=")?,
        },
        b"overhead" => Event::Overhead { cpu: 0, ns: number(&mut cursor, b"ns=")? },
        _ => return None,
    };
    cursor.done()?;
    Some(event)
}

fn number<T: TryFrom<u64>>(cursor: &mut Cursor, name: &[u8]) -> Option<T> {
    cursor.eat(name)?;
    T::try_from(cursor.number()?).ok()
}

fn class(cursor: &mut Cursor) -> Option<Class> {
    cursor.eat(b" class=")?;
    Class::from_name(std::str::from_utf8(cursor.word()?).ok()?)
}

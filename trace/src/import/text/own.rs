//! Events that our own exports have and no kernel, as text: `core=0 level=1 rate_permille=1000`.

use super::cursor::Cursor;
use crate::Event;
use crate::import::own::own as event_of;

/// Reads an event that our export writes; `None` for all other events.
pub fn own(name: &[u8], text: &[u8], at: usize) -> Option<Event> {
    let value = |wanted: &str| {
        let mut fields = text[at..].trim_ascii_end().split(|&byte| byte == b' ');
        fields.find_map(|field| field.strip_prefix(wanted.as_bytes())?.strip_prefix(b"="))
    };
    let number = |name: &str| {
        let digits = value(name)?;
        let mut cursor = Cursor::new(digits, 0);
        cursor.number().filter(|_| cursor.at == digits.len())
    };
    event_of(name, number, value)
}

//! Names of tasks as they may be shown: no control characters, bounded.

/// Longest name in bytes. Kernel names have 15 (`TASK_COMM_LEN`), simulated ones may have more.
pub const COMM_MAX: usize = 63;
/// Stands for every character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// A name that is safe to print: control characters, characters that reorder or
/// hide text and bytes that are not UTF-8 become U+FFFD, what is too long is cut.
#[must_use]
pub fn clean(raw: &[u8]) -> String {
    clean_up_to(raw, COMM_MAX)
}

/// [`clean`] for text of at most that many bytes.
#[must_use]
pub fn clean_up_to(raw: &[u8], most: usize) -> String {
    let mut name = String::with_capacity(raw.len().min(most));
    for character in String::from_utf8_lossy(raw).chars() {
        let shown = if is_hidden(character) { REPLACEMENT } else { character };
        if name.len() + shown.len_utf8() > most {
            break;
        }
        name.push(shown);
    }
    name
}

/// Controls, and the format characters of Unicode that reorder or hide text.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_invalid_bytes_are_replaced() {
        assert_eq!(clean(b"a\x1b[31mb\tc\xffd\n"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d\u{fffd}");
        assert_eq!(clean("x\u{202e}y".as_bytes()), "x\u{fffd}y");
        assert_eq!(clean(b"<b>ok</b>"), "<b>ok</b>");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let name = clean("\u{e4}".repeat(40).as_bytes());
        assert_eq!(name.len(), 62);
    }
}

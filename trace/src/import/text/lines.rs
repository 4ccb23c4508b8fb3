//! Lines of a stream, none longer than a bound.

use std::io::{self, BufRead};

/// Longest line that is kept; the rest of a longer one is dropped. No event needs
/// more than the path of an executable (`PATH_MAX` 4096) and a few hundred bytes.
pub const LINE_MAX: usize = 16 * 1024;

/// The result of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A whole line.
    Newline,
    /// The line was longer than [`LINE_MAX`] and was cut.
    Cut,
    /// The last line, which has no end.
    Eof,
}

/// Reads the next line without its end into `line`; `None` when nothing is left.
pub fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<End>> {
    line.clear();
    let mut any = false;
    let mut cut = false;
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            let end = if cut { End::Cut } else { End::Eof };
            return Ok(any.then_some(end));
        }
        any = true;
        let newline = memchr::memchr(b'\n', chunk);
        let part = &chunk[..newline.unwrap_or(chunk.len())];
        let room = LINE_MAX - line.len();
        cut |= part.len() > room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let used = part.len() + usize::from(newline.is_some());
        input.consume(used);
        if newline.is_some() {
            return Ok(Some(if cut { End::Cut } else { End::Newline }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_the_next_one_is_whole() {
        let mut text = vec![b'x'; LINE_MAX + 10];
        text.extend_from_slice(b"\nshort\nlast");
        let mut input = &text[..];
        let mut line = Vec::new();
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(End::Cut));
        assert_eq!(line.len(), LINE_MAX);
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(End::Newline));
        assert_eq!(line, b"short");
        assert_eq!(next_line(&mut input, &mut line).unwrap(), Some(End::Eof));
        assert_eq!(next_line(&mut input, &mut line).unwrap(), None);
    }
}

//! Pages of the kernel's ring buffer, which hold the events of one CPU.
//!
//! The layout is that of `events/header_page` and `events/header_event` of tracefs (Linux 6.18):
//! a page has the time of its first event and the number of bytes in it; an event begins with a
//! word of 5 bits type or length and 27 bits of time since the event before it.

use std::io::{self, Write};

/// Size of a page.
pub const PAGE: usize = 4096;
/// Bytes of a page before its events.
const PAGE_HEADER: usize = 16;
/// Longest event whose length fits into the type.
const EVENT_MAX: usize = 28 * 4;
/// Type of an event that only lets time pass.
const TIME_EXTEND: u32 = 30;
/// Bits of time in the word of an event.
const DELTA_BITS: u32 = 27;
/// Bits of time in an event that only lets time pass.
const EXTEND_BITS: u32 = 59;

/// Packs events into pages.
pub struct Pages<W> {
    output: W,
    /// The page being filled; empty before its first event.
    page: Vec<u8>,
    last_ns: u64,
    /// Pages written.
    pub count: u64,
}

impl<W: Write> Pages<W> {
    pub fn new(output: W) -> Self {
        Self { output, page: Vec::with_capacity(PAGE), last_ns: 0, count: 0 }
    }

    /// Adds an event, whose fields fill whole words.
    ///
    /// # Errors
    /// Errors of `output`.
    pub fn event(&mut self, time_ns: u64, fields: &[u8]) -> io::Result<()> {
        assert!(fields.len().is_multiple_of(4) && fields.len() <= EVENT_MAX);
        let delta = time_ns.saturating_sub(self.last_ns);
        let extends = delta >> DELTA_BITS != 0;
        let size = 4 + fields.len() + if extends { 8 } else { 0 };
        let fits = self.page.len() + size <= PAGE && delta >> EXTEND_BITS == 0;
        if self.page.is_empty() || !fits {
            self.flush()?;
            self.page.extend_from_slice(&time_ns.to_le_bytes());
            self.page.extend_from_slice(&[0; PAGE_HEADER - 8]);
            self.word(fields.len() as u32 / 4, 0);
        } else if extends {
            self.word(TIME_EXTEND, delta as u32 & ((1 << DELTA_BITS) - 1));
            self.page.extend_from_slice(&((delta >> DELTA_BITS) as u32).to_le_bytes());
            self.word(fields.len() as u32 / 4, 0);
        } else {
            self.word(fields.len() as u32 / 4, delta as u32);
        }
        self.page.extend_from_slice(fields);
        self.last_ns = time_ns;
        Ok(())
    }

    fn word(&mut self, kind: u32, delta: u32) {
        self.page.extend_from_slice(&(kind | delta << 5).to_le_bytes());
    }

    /// Writes the page that is being filled.
    ///
    /// # Errors
    /// Errors of `output`.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.page.is_empty() {
            return Ok(());
        }
        let used = (self.page.len() - PAGE_HEADER) as u64;
        self.page[8..PAGE_HEADER].copy_from_slice(&used.to_le_bytes());
        self.page.resize(PAGE, 0);
        self.output.write_all(&self.page)?;
        self.page.clear();
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of the events of all pages, read by the layout above.
    fn times(bytes: &[u8]) -> Vec<u64> {
        let mut times = Vec::new();
        for page in bytes.chunks(PAGE) {
            let mut now_ns = u64::from_le_bytes(page[..8].try_into().unwrap());
            let used = u64::from_le_bytes(page[8..16].try_into().unwrap()) as usize;
            let mut events = &page[16..16 + used];
            while let Some((word, rest)) = events.split_first_chunk::<4>() {
                let word = u32::from_le_bytes(*word);
                now_ns += u64::from(word >> 5);
                events = if word & 31 == TIME_EXTEND {
                    let (high, rest) = rest.split_first_chunk::<4>().unwrap();
                    now_ns += u64::from(u32::from_le_bytes(*high)) << DELTA_BITS;
                    rest
                } else {
                    times.push(now_ns);
                    &rest[(word & 31) as usize * 4..]
                };
            }
        }
        times
    }

    #[test]
    fn every_time_is_read_back_across_pages_and_long_gaps() {
        let gaps = [0, 1, (1 << 27) - 1, 1 << 27, (1 << 27) + 1, 1 << 40, (1 << 59) + 5, 3];
        let expected: Vec<u64> = (0..500)
            .scan(7, |now_ns, index: usize| {
                *now_ns += if index < 8 { gaps[index] } else { index as u64 * 1_000_003 };
                Some(*now_ns)
            })
            .collect();
        let mut pages = Pages::new(Vec::new());
        for (index, &time_ns) in expected.iter().enumerate() {
            pages.event(time_ns, &vec![0xff; 8 + index % 27 * 4]).unwrap();
        }
        pages.flush().unwrap();
        assert!(pages.count > 5 && pages.output.len() == pages.count as usize * PAGE);
        assert_eq!(times(&pages.output), expected);
    }
}

//! The pages of a CPU's ring buffer (include/linux/ring_buffer.h and kernel/trace/ring_buffer.c,
//! 6.18).

use std::io::{Read, Seek, SeekFrom};

use super::head::PagesAt;
use crate::import::{ImportError, Place};

/// Bytes before the events of a page: u64 time, u64 length.
const HEADER: usize = 16;
/// The length of the events is below the bits of `commit` that are flags.
const LENGTH: u64 = (1 << 20) - 1;
/// Events before this page were lost, and how many is noted after its own.
const MISSED: u64 = 1 << 31;
const MISSED_STORED: u64 = 1 << 30;
/// Kinds of entries that are no events.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
const DELTA_BITS: u32 = 27;

/// The events of a CPU, one after the other.
pub struct Cpu {
    rest: PagesAt,
    page: Vec<u8>,
    page_size: usize,
    /// Where the next entry of the page begins, and where the entries end.
    at: usize,
    end: usize,
    /// The event that has its turn.
    event: (usize, usize),
    /// Its time.
    pub time_ns: u64,
    /// Events that the kernel noted as lost.
    pub lost: u64,
}

impl Cpu {
    pub fn new(rest: PagesAt, page_size: usize) -> Self {
        let page = Vec::new();
        Self { rest, page, page_size, at: 0, end: 0, event: (0, 0), time_ns: 0, lost: 0 }
    }

    /// The bytes of the event that has its turn.
    pub fn event(&self) -> &[u8] {
        &self.page[self.event.0..self.event.1]
    }

    /// Goes to the next event; false at the end of the pages.
    pub fn advance(
        &mut self,
        input: &mut (impl Read + Seek),
        place: Place,
    ) -> Result<bool, ImportError> {
        loop {
            if self.entry() {
                return Ok(true);
            }
            if self.rest.size < self.page_size as u64 {
                return Ok(false);
            }
            self.page.resize(self.page_size, 0);
            let unread = |source| ImportError::Read { place, source };
            input.seek(SeekFrom::Start(self.rest.offset)).map_err(unread)?;
            input.read_exact(&mut self.page).map_err(unread)?;
            self.rest.offset += self.page_size as u64;
            self.rest.size -= self.page_size as u64;
            self.open();
        }
    }

    /// Begins the page that was read.
    fn open(&mut self) {
        let commit = self.u64(8);
        self.time_ns = self.u64(0);
        self.at = HEADER;
        self.end = (HEADER + (commit & LENGTH) as usize).min(self.page_size);
        if commit & MISSED != 0 {
            let stored = commit & MISSED_STORED != 0 && self.end + 8 <= self.page_size;
            let lost = if stored { self.u64(self.end) } else { 1 };
            self.lost = self.lost.saturating_add(lost);
        }
    }

    /// Steps to the next event of the page; false at its end.
    fn entry(&mut self) -> bool {
        while self.at + 4 <= self.end {
            let word = self.u32(self.at);
            let (kind, delta_ns) = (word & 31, u64::from(word >> 5));
            // The first word after is a length or the high part of a time.
            let after = if self.at + 8 <= self.end { self.u32(self.at + 4) } else { 0 };
            let high_ns = (u64::from(after) << DELTA_BITS) + delta_ns;
            let (start, length) = match kind {
                0 => (self.at + 8, (after as usize).saturating_sub(4)),
                PADDING if delta_ns == 0 => return false,
                PADDING => (self.at + 4, after as usize),
                TIME_EXTEND | TIME_STAMP => (self.at + 8, 0),
                words => (self.at + 4, words as usize * 4),
            };
            let end = start.saturating_add(length.next_multiple_of(4));
            if end > self.end {
                return false;
            }
            self.at = end;
            match kind {
                TIME_EXTEND => self.time_ns = self.time_ns.saturating_add(high_ns),
                // The five highest bits are those of the page.
                TIME_STAMP => self.time_ns = self.time_ns & (31 << 59) | high_ns,
                _ => self.time_ns = self.time_ns.saturating_add(delta_ns),
            }
            if kind < PADDING {
                self.event = (start, start + length);
                return true;
            }
        }
        false
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.page[at..at + 4].try_into().expect("four bytes"))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.page[at..at + 8].try_into().expect("eight bytes"))
    }
}

//! Packets of a stream, one after the other.

use std::io::{BufRead, Read};

use crate::import::{ImportError, Place};
use crate::perfetto::PACKET;

/// Longest packet; our choice. Bundles of events have some KiB, lists of processes a MiB.
const PACKET_MAX: u64 = 1 << 26;
/// Tag of a packet: its field, and that its length follows.
const TAG: u64 = PACKET << 3 | 2;

/// Reads packets.
pub struct Packets<R> {
    input: R,
    packet: Vec<u8>,
    /// Packets begun.
    pub number: u64,
    /// Whether the last packet is cut off.
    pub truncated: bool,
}

impl<R: BufRead> Packets<R> {
    pub fn new(input: R) -> Self {
        Self { input, packet: Vec::new(), number: 0, truncated: false }
    }

    /// The next whole packet and its number, counted from 1.
    pub fn next(&mut self) -> Result<Option<(&[u8], u64)>, ImportError> {
        let Some(tag) = self.varint()? else { return Ok(None) };
        self.number += 1;
        if tag != TAG {
            return Err(self.malformed(
                "no packet begins here; expected a trace of Perfetto, neither damaged nor packed",
            ));
        }
        let Some(length) = self.varint()? else {
            self.truncated = true;
            return Ok(None);
        };
        if length > PACKET_MAX {
            let what = format!("a packet of {length} bytes; expected at most {PACKET_MAX}");
            return Err(self.malformed(&what));
        }
        self.packet.clear();
        let place = Place::Record(self.number);
        // Memory grows with the bytes read, not with the claimed length.
        let read = self.input.by_ref().take(length).read_to_end(&mut self.packet);
        let read = read.map_err(|source| ImportError::Read { place, source })?;
        self.truncated = (read as u64) < length;
        Ok((!self.truncated).then_some((&self.packet, self.number)))
    }

    /// A number; `None` at the end, and where the file is cut within the number.
    fn varint(&mut self) -> Result<Option<u64>, ImportError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.input.by_ref().bytes().next().transpose();
            let place = Place::Record(self.number);
            let byte = byte.map_err(|source| ImportError::Read { place, source })?;
            let Some(byte) = byte else {
                self.truncated |= shift > 0;
                return Ok(None);
            };
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(Some(value));
            }
        }
        Err(self.malformed("a length has more than ten bytes"))
    }

    fn malformed(&self, what: &str) -> ImportError {
        ImportError::Malformed { place: Place::Record(self.number), what: what.to_owned() }
    }
}

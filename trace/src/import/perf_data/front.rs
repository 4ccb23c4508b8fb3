//! The header of the file: its sections, its events and their fields.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};

use super::EXPECTED;
use super::sample::{Layout, Layouts};
use crate::import::tracepoint::{Decoder, Reader, formats};
use crate::import::{ImportError, Place};

/// `struct perf_file_header` (tools/perf/util/header.h, 6.18).
const HEADER: usize = 104;
/// Number of the feature that describes tracepoints (`HEADER_TRACING_DATA`).
const TRACING_DATA: usize = 1;
/// Features that the header has bits for.
const FEATURES: usize = 256;
/// Bytes of `struct perf_event_attr` in its first version, and more than any has.
const ATTR_SIZE: std::ops::RangeInclusive<u64> = 64..=4096;
/// Events in a file at most; our choice.
const EVENTS_MAX: u64 = 4096;
/// Bytes of descriptions at most; a whole kernel's have 10 MiB.
const TRACING_DATA_MAX: u64 = 1 << 26;
/// Bit of `perf_event_attr`'s flags that says that all records end with who, where and when.
const SAMPLE_ID_ALL: u64 = 1 << 18;

/// A part of the file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    pub offset: u64,
    pub size: u64,
}

/// The part of a file before its records.
pub struct Front {
    pub data: Section,
    pub layouts: Layouts,
    pub decoders: Decoders,
}

/// How the bytes of events are read, by the number that they begin with.
pub struct Decoders(HashMap<u64, Decoder>);

impl Decoders {
    /// The decoder of an event with these bytes.
    pub fn of(&self, raw: &[u8]) -> Option<&Decoder> {
        let number = u16::from_le_bytes(*raw.first_chunk()?);
        self.0.get(&u64::from(number))
    }
}

impl Front {
    /// Reads everything but the records.
    pub fn read(input: &mut (impl Read + Seek)) -> Result<Self, ImportError> {
        let length = input.seek(SeekFrom::End(0)).map_err(unread)?;
        let mut source = Source { input, length };
        let header =
            source.bytes(Section { offset: 0, size: HEADER as u64 }, "its header is not whole")?;
        if !header.starts_with(b"PERFILE2") {
            return Err(malformed("it is of a machine with another order of bytes; expected x86"));
        }
        let (attr_size, attrs) = (u64_at(&header, 16), section_at(&header, 24));
        let data = section_at(&header, 40);
        if data.size == 0 {
            return Err(ImportError::Cut { what: "perf has not noted the length of its data" });
        }
        source.check(data, "its data is not whole")?;
        let layouts = source.layouts(attrs, attr_size)?;
        let tracing = source.feature(&header, data, TRACING_DATA)?;
        let tracing = tracing.ok_or_else(|| {
            malformed(&format!("it describes no tracepoint; expected {EXPECTED}"))
        })?;
        let decoders = decoders(&tracing)?;
        Ok(Self { data, layouts, decoders })
    }
}

struct Source<'i, R> {
    input: &'i mut R,
    length: u64,
}

impl<R: Read + Seek> Source<'_, R> {
    /// Refuses a section that is not within the file.
    fn check(&self, section: Section, what: &'static str) -> Result<(), ImportError> {
        let end = section.offset.checked_add(section.size);
        match end {
            Some(end) if end <= self.length => Ok(()),
            _ => Err(ImportError::Cut { what }),
        }
    }

    /// Bytes of a section that is within the file.
    fn bytes(&mut self, section: Section, what: &'static str) -> Result<Vec<u8>, ImportError> {
        self.check(section, what)?;
        let mut bytes = vec![0; section.size as usize];
        self.input.seek(SeekFrom::Start(section.offset)).map_err(unread)?;
        self.input.read_exact(&mut bytes).map_err(unread)?;
        Ok(bytes)
    }

    /// The events and the numbers that stand for them.
    fn layouts(&mut self, attrs: Section, attr_size: u64) -> Result<Layouts, ImportError> {
        let size = attr_size.checked_sub(16).filter(|size| ATTR_SIZE.contains(size));
        let size = size.ok_or_else(|| malformed("the length of its events is unknown"))?;
        let count = attrs.size / attr_size;
        if count > EVENTS_MAX {
            return Err(malformed(&format!(
                "it has {count} events; expected at most {EVENTS_MAX}"
            )));
        }
        let bytes = self.bytes(attrs, "the list of its events is not whole")?;
        let mut layouts = Vec::new();
        let mut events = HashMap::new();
        let mut left = self.length;
        for attr in bytes.chunks_exact(attr_size as usize) {
            layouts.push(Layout {
                sample_type: u64_at(attr, 24),
                read_format: u64_at(attr, 32),
                id_all: u64_at(attr, 40) & SAMPLE_ID_ALL != 0,
            });
            let ids = section_at(attr, size as usize);
            let overlap = || malformed("the numbers of its events overlap");
            left = left.checked_sub(ids.size).ok_or_else(overlap)?;
            let ids = self.bytes(ids, "the numbers of its events are not whole")?;
            for id in ids.chunks_exact(8) {
                events.insert(u64_at(id, 0), layouts.len() - 1);
            }
        }
        let layouts = Layouts::new(layouts, events);
        let layouts = layouts.ok_or_else(|| malformed("its events cannot be told apart"))?;
        if !layouts.have_times() {
            return Err(malformed("its events have no times; expected `perf record -T`"));
        }
        Ok(layouts)
    }

    /// A feature, whose place stands after the data; `None` if the header lacks its bit.
    fn feature(
        &mut self,
        header: &[u8],
        data: Section,
        feature: usize,
    ) -> Result<Option<Vec<u8>>, ImportError> {
        let bits = &header[72..];
        let has = |feature: usize| bits[feature / 8] >> (feature % 8) & 1 != 0;
        if !has(feature) {
            return Ok(None);
        }
        let before = (0..feature.min(FEATURES)).filter(|&other| has(other)).count();
        let offset = data.offset + data.size + 16 * before as u64;
        let place =
            self.bytes(Section { offset, size: 16 }, "its list of features is not there")?;
        let section = section_at(&place, 0);
        if section.size > TRACING_DATA_MAX {
            return Err(malformed("the descriptions of its events are too long"));
        }
        self.bytes(section, "the descriptions of its events are not whole").map(Some)
    }
}

fn decoders(tracing: &[u8]) -> Result<Decoders, ImportError> {
    let found = formats(&mut Reader::new(tracing));
    let found = found.ok_or_else(|| malformed("the descriptions of its events are damaged"))?;
    let mut decoders = HashMap::new();
    for format in &found.formats {
        decoders.insert(format.id, Decoder::of(format)?);
    }
    Ok(Decoders(decoders))
}

fn unread(source: std::io::Error) -> ImportError {
    ImportError::Read { place: Place::Start, source }
}

fn malformed(what: &str) -> ImportError {
    ImportError::Malformed { place: Place::Start, what: what.to_owned() }
}

fn section_at(bytes: &[u8], at: usize) -> Section {
    Section { offset: u64_at(bytes, at), size: u64_at(bytes, at + 8) }
}

/// The number at `at`, which the caller knows to be within.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes are eight bytes"))
}

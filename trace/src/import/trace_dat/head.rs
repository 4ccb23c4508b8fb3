//! The part before the pages: descriptions of events, names of tasks, places of the pages.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};

use crate::import::tracepoint::{Decoder, Reader, formats};
use crate::import::{Form, ImportError, Place};

/// Bytes before the pages at most; a whole kernel's descriptions and symbols have 20 MiB.
const HEAD_MAX: u64 = 1 << 26;
/// Bytes of a page.
const PAGE_SIZES: std::ops::RangeInclusive<u32> = 4096..=65536;

/// Where the pages of a CPU are.
#[derive(Clone, Copy, Debug)]
pub struct PagesAt {
    pub offset: u64,
    pub size: u64,
}

/// The parsed head of the file.
pub struct DatHead {
    pub decoders: HashMap<u64, Decoder>,
    pub names: HashMap<u32, Vec<u8>>,
    pub page_size: usize,
    pub cpus: Vec<PagesAt>,
}

/// Reads the part of the file before the pages.
pub fn head(input: &mut (impl Read + Seek)) -> Result<DatHead, ImportError> {
    let unread = |source| ImportError::Read { place: Place::Start, source };
    let length = input.seek(SeekFrom::End(0)).map_err(unread)?;
    input.rewind().map_err(unread)?;
    let mut bytes = Vec::new();
    input.by_ref().take(HEAD_MAX).read_to_end(&mut bytes).map_err(unread)?;
    let mut reader = Reader::new(&bytes);
    let version = Reader::new(&bytes).version().ok_or(CUT)?;
    if version != "6" {
        return Err(ImportError::Binary { form: Form::TraceDat });
    }
    let found = formats(&mut reader).ok_or(CUT)?;
    if !PAGE_SIZES.contains(&found.page_size) {
        let what = format!("it has pages of {} bytes; expected 4096 to 65536", found.page_size);
        return Err(ImportError::Malformed { place: Place::Start, what });
    }
    let names = names(&mut reader).ok_or(CUT)?;
    let cpus = places(&mut reader, length).ok_or(CUT)?;
    let mut decoders = HashMap::new();
    for format in &found.formats {
        decoders.insert(format.id, Decoder::of(format)?);
    }
    Ok(DatHead { decoders, names, page_size: found.page_size as usize, cpus })
}

const CUT: ImportError = ImportError::Cut { what: "what stands before its pages is not whole" };

/// Names of tasks, after symbols and formats of `printk`.
fn names(reader: &mut Reader) -> Option<HashMap<u32, Vec<u8>>> {
    for _ in 0..2 {
        let length = reader.u32()?;
        reader.take(length as usize)?;
    }
    let mut names = HashMap::new();
    for line in reader.sized()?.split(|&byte| byte == b'\n') {
        let Some(space) = memchr::memchr(b' ', line) else { continue };
        let tid = std::str::from_utf8(&line[..space]).ok().and_then(|tid| tid.parse().ok());
        names.extend(tid.map(|tid| (tid, line[space + 1..].to_vec())));
    }
    Some(names)
}

/// Where the pages of each CPU are, all within a file of that length.
fn places(reader: &mut Reader, length: u64) -> Option<Vec<PagesAt>> {
    let cpus = reader.u32().filter(|&cpus| cpus <= crate::CPUS_MAX)?;
    let mut kind = reader.take(10)?;
    if kind == b"options  \0" {
        while reader.u16()? != 0 {
            let length = reader.u32()?;
            reader.take(length as usize)?;
        }
        kind = reader.take(10)?;
    }
    (kind == b"flyrecord\0").then_some(())?;
    let mut places = Vec::new();
    for _ in 0..cpus {
        let (offset, size) = (reader.u64()?, reader.u64()?);
        offset.checked_add(size).filter(|&end| end <= length)?;
        places.push(PagesAt { offset, size });
    }
    Some(places)
}

//! The records of the data section one after the other, unpacked where they are packed.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

use super::front::Section;
use crate::import::{ImportError, Place};

/// Bytes before the body of a record: u32 type, u16 flags, u16 length.
const HEADER: usize = 8;
/// Bytes that one step of decompression may give.
const UNPACKED: usize = 1 << 18;

/// Kinds of records that say something (include/uapi/linux/perf_event.h and
/// tools/lib/perf/include/perf/event.h, 6.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Lost,
    Comm,
    Exit,
    Fork,
    Sample,
    FinishedRound,
    Other,
}

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const FINISHED_ROUND: u32 = 68;
const AUXTRACE: u32 = 71;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;

fn kind(number: u32) -> Kind {
    match number {
        LOST => Kind::Lost,
        COMM => Kind::Comm,
        EXIT => Kind::Exit,
        FORK => Kind::Fork,
        SAMPLE => Kind::Sample,
        FINISHED_ROUND => Kind::FinishedRound,
        _ => Kind::Other,
    }
}

/// A record.
pub struct Record<'b> {
    /// Counted from 1.
    pub number: u64,
    pub kind: Kind,
    pub body: &'b [u8],
}

/// Reads records.
pub struct Records<R> {
    input: BufReader<R>,
    /// Bytes of the section that are left.
    left: u64,
    read: u64,
    body: Vec<u8>,
    unpacked: Unpacked,
}

impl<R: Read + Seek> Records<R> {
    pub fn new(mut input: R, data: Section) -> Result<Self, ImportError> {
        let read = |source| ImportError::Read { place: Place::Start, source };
        input.seek(SeekFrom::Start(data.offset)).map_err(read)?;
        let input = BufReader::with_capacity(1 << 18, input);
        let unpacked = Unpacked::new().map_err(read)?;
        Ok(Self { input, left: data.size, read: 0, body: Vec::new(), unpacked })
    }

    /// Records read so far.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// The next record.
    pub fn next(&mut self) -> Result<Option<Record<'_>>, ImportError> {
        let number = self.read + 1;
        let place = Place::Record(number);
        let malformed = |what: &str| ImportError::Malformed { place, what: what.to_owned() };
        let short = || malformed("its length is less than that of its head; the file is damaged");
        loop {
            let unpack = self.unpacked.fill();
            let unpack = unpack.map_err(|error| malformed(&format!("cannot unpack: {error}")))?;
            if let Some((start, length)) = unpack {
                if length < HEADER {
                    return Err(short());
                }
                self.read = number;
                let record = self.unpacked.take(start, length);
                return Ok(Some(Record { number, kind: kind(record.0), body: record.1 }));
            }
            if self.left == 0 {
                return if self.unpacked.is_empty() {
                    Ok(None)
                } else {
                    Err(ImportError::Cut { what: "the last packed record is not whole" })
                };
            }
            let mut header = [0; HEADER];
            self.exact(place, Some(&mut header))?;
            let [t0, t1, t2, t3, _, _, l0, l1] = header;
            let number_of = u32::from_le_bytes([t0, t1, t2, t3]);
            let length = usize::from(u16::from_le_bytes([l0, l1]));
            let length = length.checked_sub(HEADER).ok_or_else(short)?;
            self.body.resize(length, 0);
            self.exact(place, None)?;
            match number_of {
                COMPRESSED => self.unpacked.pack(&self.body),
                COMPRESSED2 => {
                    let packed = packed2(&self.body);
                    let packed = packed.ok_or_else(|| malformed("its packed length is wrong"))?;
                    self.unpacked.pack(packed);
                }
                AUXTRACE => self.skip(place)?,
                _ => {
                    self.read = number;
                    return Ok(Some(Record { number, kind: kind(number_of), body: &self.body }));
                }
            }
        }
    }

    /// Fills `header`, or else the body, from the section.
    fn exact(&mut self, place: Place, header: Option<&mut [u8]>) -> Result<(), ImportError> {
        let into = header.unwrap_or(&mut self.body[..]);
        let left = self.left.checked_sub(into.len() as u64);
        self.left = left.ok_or(ImportError::Cut { what: "the last record is not whole" })?;
        self.input.read_exact(into).map_err(|source| ImportError::Read { place, source })
    }

    /// Steps over the data after a record of AUX data, whose length is a u64 of the record.
    fn skip(&mut self, place: Place) -> Result<(), ImportError> {
        let size = self.body.first_chunk().map_or(0, |size| u64::from_le_bytes(*size));
        let left = self.left.checked_sub(size);
        self.left = left.ok_or(ImportError::Cut { what: "the last AUX data is not whole" })?;
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        self.input.seek_relative(size).map_err(|source| ImportError::Read { place, source })
    }
}

/// The packed part of a body that says its length first and is padded.
fn packed2(body: &[u8]) -> Option<&[u8]> {
    let (length, rest) = body.split_first_chunk()?;
    rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

/// Records out of packed ones: one stream of zstd over all of them.
struct Unpacked {
    decoder: Decoder<'static>,
    packed: Vec<u8>,
    packed_at: usize,
    bytes: Vec<u8>,
    /// Where the next record begins, and where the bytes end.
    start: usize,
    end: usize,
    /// Whether the last step filled all the room, so that more may come without input.
    full: bool,
}

impl Unpacked {
    fn new() -> io::Result<Self> {
        Ok(Self {
            decoder: Decoder::new()?,
            packed: Vec::new(),
            packed_at: 0,
            bytes: Vec::new(),
            start: 0,
            end: 0,
            full: false,
        })
    }

    /// Takes the next compressed bytes; all earlier ones are decompressed.
    fn pack(&mut self, packed: &[u8]) {
        self.packed.clear();
        self.packed.extend_from_slice(packed);
        self.packed_at = 0;
    }

    /// Where the next whole record begins and how long it is, unpacking more if needed.
    fn fill(&mut self) -> io::Result<Option<(usize, usize)>> {
        loop {
            let rest = &self.bytes[self.start..self.end];
            if rest.len() >= HEADER {
                let length = usize::from(u16::from_le_bytes([rest[6], rest[7]]));
                if length < HEADER || rest.len() >= length {
                    return Ok(Some((self.start, length)));
                }
            }
            if self.packed_at == self.packed.len() && !self.full {
                return Ok(None);
            }
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            self.bytes.resize(UNPACKED, 0);
            let mut input = InBuffer::around(&self.packed[self.packed_at..]);
            let mut output = OutBuffer::around(&mut self.bytes[self.end..]);
            self.decoder.run(&mut input, &mut output)?;
            let (used, made) = (input.pos(), output.pos());
            self.packed_at += used;
            self.end += made;
            self.full = self.end == UNPACKED;
            if used == 0 && made == 0 {
                self.packed_at = self.packed.len();
            }
        }
    }

    fn take(&mut self, start: usize, length: usize) -> (u32, &[u8]) {
        self.start = start + length;
        let record = &self.bytes[start..start + length];
        let number = record.first_chunk().map_or(0, |number| u32::from_le_bytes(*number));
        (number, &record[HEADER..])
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

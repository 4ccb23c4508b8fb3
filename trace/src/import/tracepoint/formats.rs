//! Facts of the recording kernel in files of perf and trace-cmd: the texts that
//! describe events (`man trace-cmd.dat.v6`; `perf` writes the same into its feature 1).

use super::format::Format;

/// Systems of events that a history is made from; the last is that of our own exports.
const SYSTEMS: [&str; 7] = ["sched", "irq", "irq_vectors", "timer", "power", "x86_fpu", "evenkeel"];

/// The descriptions found, and the size of pages.
pub struct Formats {
    /// Descriptions of the events of [`SYSTEMS`].
    pub formats: Vec<Format>,
    /// Bytes of a page of the kernel's buffers.
    pub page_size: u32,
}

/// Reads the descriptions; `None` if the bytes are cut off, of a machine whose numbers begin with
/// their highest byte, or something else.
pub fn formats(reader: &mut Reader) -> Option<Formats> {
    reader.version()?;
    if reader.take(2)?[0] != 0 {
        return None;
    }
    let page_size = reader.u32()?;
    for name in [&b"header_page\0"[..], b"header_event\0"] {
        reader.eat(name)?;
        reader.sized()?;
    }
    for _ in 0..reader.u32()? {
        reader.sized()?;
    }
    let mut formats = Vec::new();
    for _ in 0..reader.u32()? {
        let system = reader.string()?;
        let wanted = SYSTEMS.contains(&system);
        for _ in 0..reader.u32()? {
            let text = reader.sized()?;
            if wanted {
                formats.extend(std::str::from_utf8(text).ok().and_then(Format::parse));
            }
        }
    }
    Some(Formats { formats, page_size })
}

/// Reads numbers and texts one after the other.
pub struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Version of the layout, after the magic number of trace-cmd.
    pub fn version(&mut self) -> Option<&'b str> {
        self.eat(b"\x17\x08Dtracing")?;
        self.string()
    }

    pub fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..)?.get(..length)?;
        self.at += length;
        Some(taken)
    }

    fn eat(&mut self, word: &[u8]) -> Option<()> {
        (self.take(word.len())? == word).then_some(())
    }

    pub fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    pub fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    pub fn u64(&mut self) -> Option<u64> {
        let bytes = self.take(8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Text up to a zero byte.
    fn string(&mut self) -> Option<&'b str> {
        let length = memchr::memchr(0, self.bytes.get(self.at..)?)?;
        let text = self.take(length)?;
        self.at += 1;
        std::str::from_utf8(text).ok()
    }

    /// Bytes after their number.
    pub fn sized(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.u64()?).ok()?;
        self.take(length)
    }
}

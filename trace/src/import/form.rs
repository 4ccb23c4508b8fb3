//! The forms of recordings, recognised by their first bytes and never by a file name.

/// The form of a recording, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text, of whatever tool.
    Text,
    /// `perf.data`, which is read from a file: its end is needed first.
    PerfData,
    /// `perf.data` as perf writes to a pipe.
    PerfPipe,
    /// `trace.dat` of trace-cmd, which is read from a file too.
    TraceDat,
    /// A trace of Perfetto.
    Perfetto,
    /// Decisions of `scx_evenkeel --decisions`.
    Decisions,
}

/// Bytes of a recording that tell its form.
pub const FORM_BYTES: usize = 16;

/// Recognises a recording by its first [`FORM_BYTES`] bytes, or by all bytes of a shorter one.
#[must_use]
pub fn recognise(start: &[u8]) -> Form {
    if start.starts_with(b"\x17\x08Dtracing") {
        return Form::TraceDat;
    }
    if is_perfetto(start) {
        return Form::Perfetto;
    }
    if start.starts_with(crate::decisions::START.as_bytes()) {
        return Form::Decisions;
    }
    if !start.starts_with(b"PERFILE2") && !start.starts_with(b"2ELIFREP") {
        return Form::Text;
    }
    // `struct perf_pipe_file_header` is its magic number and its own size, 16.
    match start.get(8..16) {
        Some([16, 0, 0, 0, 0, 0, 0, 0] | [0, 0, 0, 0, 0, 0, 0, 16]) => Form::PerfPipe,
        _ => Form::PerfData,
    }
}

/// Whether it begins with a packet, whose first byte is that of a line break: no text has control
/// characters after it.
fn is_perfetto(start: &[u8]) -> bool {
    let control = |&byte: &u8| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b);
    start.first() == Some(&b'\n') && start.iter().any(control)
}

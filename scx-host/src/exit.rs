//! Why a scheduler ended.

use std::fmt;

use crate::abi;

/// The cause of the end (`enum scx_exit_kind`, Linux 7.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitKind {
    /// The loader unloaded the scheduler.
    Unregistered,
    /// The scheduler ended itself, without an error.
    ByScheduler,
    /// The kernel ended the scheduler without an error, as for a CPU that goes offline.
    ByKernel,
    /// The scheduler called a function in a place or with arguments that the kernel forbids.
    Error,
    /// The scheduler reported an error of its own.
    ErrorByScheduler,
    /// A task waited for longer than the time of the watchdog.
    Stall,
}

impl ExitKind {
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Unregistered => abi::EXIT_UNREG,
            Self::ByScheduler => abi::EXIT_UNREG_BPF,
            Self::ByKernel => abi::EXIT_UNREG_KERN,
            Self::Error => abi::EXIT_ERROR,
            Self::ErrorByScheduler => abi::EXIT_ERROR_BPF,
            Self::Stall => abi::EXIT_ERROR_STALL,
        }
    }

    /// Whether the cause is an error of the scheduler (from `SCX_EXIT_ERROR` on).
    #[must_use]
    pub fn is_error(self) -> bool {
        self.number() >= abi::EXIT_ERROR
    }

    /// The kernel's words for the cause (`scx_exit_reason`).
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Unregistered => "unregistered from user space",
            Self::ByScheduler => "unregistered from BPF",
            Self::ByKernel => "unregistered from the main kernel",
            Self::Error => "runtime error",
            Self::ErrorByScheduler => "scx_bpf_error",
            Self::Stall => "runnable task stall",
        }
    }
}

/// The end of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The cause.
    pub kind: ExitKind,
    /// The code of a scheduler that ended itself; else 0.
    pub code: i64,
    /// Details of the cause.
    pub message: String,
    /// Time of the end.
    pub at_ns: u64,
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.kind.reason(), self.message)
    }
}

/// A message of a scheduler: a format of `printf` and its values, as 64-bit numbers.
pub(crate) fn format(format: &str, values: &[u64]) -> String {
    let mut out = String::new();
    let mut values = values.iter();
    let mut rest = format.chars().peekable();
    while let Some(one) = rest.next() {
        if one != '%' {
            out.push(one);
            continue;
        }
        let mut long = 0;
        let mut kind = rest.next();
        while let Some('l' | '0'..='9' | '#' | '.' | '-') = kind {
            long += u32::from(kind == Some('l'));
            kind = rest.next();
        }
        let mut value = || values.next().copied().unwrap_or(0);
        match kind {
            Some('d' | 'i') if long > 0 => out += &value().cast_signed().to_string(),
            Some('d' | 'i') => out += &(value() as i32).to_string(),
            Some('u') if long > 0 => out += &value().to_string(),
            Some('u') => out += &(value() as u32).to_string(),
            Some('x') => out += &format!("{:x}", value()),
            Some('p') => out += "(pointer)",
            Some('s') => out += &text(value()),
            Some('%') => out.push('%'),
            _ => {}
        }
    }
    out
}

/// A text of the scheduler, up to its zero byte.
fn text(address: u64) -> String {
    const LONGEST: usize = 4096;
    let start: *const u8 = std::ptr::with_exposed_provenance(address as usize);
    if start.is_null() {
        return "(null)".to_owned();
    }
    // SAFETY: the scheduler passes the address of a text that ends with a zero byte, and the lazy
    // iterator reads no byte after that one.
    let bytes = (0..LONGEST).map(|at| unsafe { start.add(at).read() });
    let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn messages_have_their_values() {
        let name = c"ab";
        let values = [u64::MAX, 7, 255, name.as_ptr() as u64];
        assert_eq!(format("%d of %llu: 0x%016llx %s 100%%", &values), "-1 of 7: 0xff ab 100%");
        assert_eq!(format("%d", &[]), "0");
    }
}

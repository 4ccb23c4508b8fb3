//! When was a thread last seen with AVX-512 registers in use? The kernel tells it to every user.
//!
//! `/proc/PID/task/TID/arch_status` (since Linux 5.2, `arch/x86/kernel/fpu/xstate.c`) has the time
//! since the thread last left a CPU with any state of AVX-512, masks and registers 16 to 31
//! included. It is the last resort: a file is read a thread, no privilege is needed and nothing is
//! recorded. It misses code that runs without being switched, it knows neither how long nor how
//! wide code was, and glibc's string functions set those registers in every program.

/// The name of the line.
const ELAPSED: &str = "AVX512_elapsed_ms:";

/// When a thread was last seen with AVX-512 registers in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastUse {
    /// Not since it began.
    Never,
    /// So long ago, in ms.
    Ago(u64),
}

/// What the file of a thread says; none without AVX-512, and where the text is no such file.
#[must_use]
pub fn last_use(text: &str) -> Option<LastUse> {
    let value = text.lines().find_map(|line| line.strip_prefix(ELAPSED))?.trim();
    if value == "-1" {
        return Some(LastUse::Never);
    }
    value.parse().ok().map(LastUse::Ago)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_long_ago_or_never() {
        assert_eq!(last_use("AVX512_elapsed_ms:\t1234\n"), Some(LastUse::Ago(1234)));
        assert_eq!(last_use("x: 1\nAVX512_elapsed_ms: 0\n"), Some(LastUse::Ago(0)));
        assert_eq!(last_use("AVX512_elapsed_ms:\t-1\n"), Some(LastUse::Never));
        for other in ["", "AVX512_elapsed_ms:", "AVX512_elapsed_ms: -2", "AVX512_elapsed_ms: a"] {
            assert_eq!(last_use(other), None, "{other}");
        }
    }
}

//! The text that shows a thread's place: `OMP_AFFINITY_FORMAT`.
//!
//! Fields are those of OpenMP 5.2, section 4.3 (affinity-format-var): `%n`, `%{thread_num}`,
//! `%0.4n`: zeros, right-adjusted, width.

mod calls;
mod clang;
mod fortran;

use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard};

use crate::processors;
use crate::region::Member;
use crate::settings::settings;
use crate::unsupported::{say, say_out};
use evenkeel_runtime::internal::lock_std;

/// Whose library a program was compiled for: both say where threads are in their own way, and
/// programs are to say the same as before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Gcc,
    Clang,
}

impl Style {
    /// The default format.
    fn by_default(self) -> &'static str {
        match self {
            Self::Gcc => "level %L thread %i affinity %A",
            Self::Clang => "OMP: pid %P tid %i thread %n bound to OS proc set {%A}",
        }
    }

    /// Tells a line: on standard error as libgomp does, or on standard output as libomp.
    fn tell(self, text: &str) {
        match self {
            Self::Gcc => say(format!("{text}\n").as_bytes()),
            Self::Clang => say_out(&format!("{text}\n")),
        }
    }
}

/// The values of the fields for a thread.
#[derive(Clone, Debug, Default)]
struct Fields {
    team: i32,
    teams: i32,
    level: i32,
    thread: i32,
    threads: i32,
    ancestor: i32,
    host: String,
    process: i32,
    native: i32,
    cpus: Vec<u32>,
}

impl Fields {
    /// The value of a field by its letter or long name; numbers say that they are.
    fn value(&self, field: &str) -> Option<(String, bool)> {
        let number = match field {
            "t" | "team_num" => self.team,
            "T" | "num_teams" => self.teams,
            "L" | "nesting_level" => self.level,
            "n" | "thread_num" => self.thread,
            "N" | "num_threads" => self.threads,
            "a" | "ancestor_tnum" => self.ancestor,
            "P" | "process_id" => self.process,
            "i" | "native_thread_id" => self.native,
            "H" | "host" => return Some((self.host.clone(), false)),
            "A" | "thread_affinity" => return Some((ranges(&self.cpus), false)),
            _ => return Some(("undefined".to_owned(), false)),
        };
        Some((number.to_string(), true))
    }
}

/// `0-3,6`.
fn ranges(cpus: &[u32]) -> String {
    let mut text: Vec<String> = Vec::new();
    for run in cpus.chunk_by(|a, b| a + 1 == *b) {
        text.push(match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run[0].to_string(),
        });
    }
    text.join(",")
}

/// The text of a format. An unknown field becomes `undefined`; text that is no field stays.
fn expand(format: &str, fields: &Fields) -> String {
    let mut text = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((field, length)) = field(rest, fields) {
            text.push_str(&field);
            rest = &rest[length..];
        } else {
            text.push('%');
            rest = &rest[1..];
        }
    }
    text + rest
}

/// The value of the field that a text begins with, and the length of the field in the text.
fn field(text: &str, fields: &Fields) -> Option<(String, usize)> {
    let after = text.strip_prefix('%')?;
    if after.starts_with('%') {
        return Some(("%".to_owned(), 2));
    }
    let has_zeros = after.starts_with('0');
    let after = after.strip_prefix('0').unwrap_or(after);
    let to_the_right = after.starts_with('.');
    let after = after.strip_prefix('.').unwrap_or(after);
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let width: usize = if digits == 0 { 0 } else { after[..digits].parse().ok()? };
    let after = &after[digits..];
    let (name, after) = match after.strip_prefix('{') {
        Some(long) => long.split_once('}')?,
        None => after.split_at_checked(1)?,
    };
    // Wider than any screen is a slip of the finger.
    let width = width.min(1 << 10);
    let (value, is_number) = fields.value(name)?;
    let value = match (to_the_right, has_zeros && is_number) {
        // Zeros are between the sign and the digits.
        (true, true) => match value.strip_prefix('-') {
            Some(digits) => format!("-{digits:0>0$}", width.saturating_sub(1)),
            None => format!("{value:0>width$}"),
        },
        (true, false) => format!("{value:>width$}"),
        (false, _) => format!("{value:<width$}"),
    };
    Some((value, text.len() - after.len()))
}

static FORMAT: Mutex<Option<String>> = Mutex::new(None);

/// The format that the program has set; `None` before.
pub(crate) fn chosen() -> MutexGuard<'static, Option<String>> {
    lock_std(&FORMAT)
}

/// The format that holds now.
fn format(style: Style) -> String {
    let set = chosen().clone();
    let asked = || settings().affinity_format.clone();
    set.or_else(asked).unwrap_or_else(|| style.by_default().to_owned())
}

/// The values of the fields for the calling thread, of which this is the part in its region.
fn fields(member: &Member) -> Fields {
    let mut host = [0_u8; 256];
    // SAFETY: The bytes are ours, and the last one stays zero.
    unsafe { libc::gethostname(host.as_mut_ptr().cast(), host.len() - 1) };
    let host = CStr::from_bytes_until_nul(&host).unwrap_or_default();
    // SAFETY: Both calls only tell.
    let (process, native) = unsafe { (libc::getpid(), libc::gettid()) };
    let (region, league) = (member.region(), member.region().league.get());
    Fields {
        team: league.number as i32,
        teams: league.teams as i32,
        level: region.level,
        thread: member.number as i32,
        threads: region.size as i32,
        ancestor: member.number_around(),
        host: host.to_string_lossy().into_owned(),
        process,
        native,
        cpus: processors::allowed(),
    }
}

/// Sets the format of the process.
fn set_format(text: String) {
    *chosen() = Some(text);
}

/// The text of a format for the thread of this part; of the empty format, that of the one that was
/// set.
fn text(given: &str, style: Style, member: &Member) -> String {
    let set;
    let format = if given.is_empty() {
        set = format(style);
        &set
    } else {
        given
    };
    expand(format, &fields(member))
}

/// Prints where the thread of this part is, for `OMP_DISPLAY_AFFINITY`.
pub(crate) fn show(style: Style, member: &Member) {
    style.tell(&text("", style, member));
}

#[cfg(test)]
mod tests;

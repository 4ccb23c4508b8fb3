//! Progress of a long command, on a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A line with the item that runs, its number, and the time that the rest may take.
pub struct Progress {
    all: usize,
    done: usize,
    begun: Instant,
    is_shown: bool,
}

impl Progress {
    /// Begins a command of `all` items, which `things` names. Without a terminal this prints one
    /// line, and the command prints no more.
    pub fn new(task: &str, all: usize, things: &str) -> Self {
        let is_shown = std::io::stderr().is_terminal();
        if !is_shown {
            eprintln!("{task}: {all} {things}");
        }
        Self { all, done: 0, begun: Instant::now(), is_shown }
    }

    /// Shows the item that runs next.
    pub fn say(&mut self, what: &str) {
        if self.is_shown {
            let left = self.left().map_or(String::new(), |left| format!(", {left} left"));
            eprint!("\r\x1b[K{}/{}{left}: {what}", self.done + 1, self.all);
            let _ = std::io::stderr().flush();
        }
        self.done += 1;
    }

    /// The time left, estimated from ten items or more.
    fn left(&self) -> Option<String> {
        let done = self.done.checked_sub(10)? + 10;
        let each = self.begun.elapsed() / u32::try_from(done).ok()?;
        Some(in_words(each * u32::try_from(self.all - done).ok()?))
    }

    /// Removes the line.
    pub fn end(&self) {
        if self.is_shown {
            eprint!("\r\x1b[K");
        }
    }
}

fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_as_coarsely_as_it_is_known() {
        assert_eq!(in_words(Duration::from_secs(99)), "99 s");
        assert_eq!(in_words(Duration::from_secs(121)), "3 min");
    }
}

//! Why a task counts as wide, and where wide tasks are to run, in words.

use std::fmt::Write as _;
use std::sync::PoisonError;

use super::{Cpus, WideTasks};
use crate::sync::lock_std;

/// Why a task counts as wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The program declared the task.
    Declared = 1,
    /// The environment or the program named its function.
    Named = 2,
    /// Earlier tasks of its function used wide registers.
    Learned = 4,
}

impl WideTasks {
    /// Why a task of a function counts as wide, if so.
    pub(crate) fn why_wide(&self, is_declared: bool, function: usize) -> Option<Why> {
        if is_declared {
            return Some(Why::Declared);
        }
        if !self.names.is_empty() && self.is_named(function) {
            return Some(Why::Named);
        }
        self.learned.are_wide(function).then_some(Why::Learned)
    }

    /// Where wide tasks are to run, in words.
    pub(crate) fn in_words(&self) -> String {
        match &*self.cpus.read().unwrap_or_else(PoisonError::into_inner) {
            Cpus::Are(list) if list.is_empty() => "no CPU at last".to_owned(),
            Cpus::Are(list) => {
                let polled = lock_std(&self.polled);
                let last = if polled.is_some() { " at last" } else { "" };
                format!("CPU{} {list}{last}", if list.iter().len() > 1 { "s" } else { "" })
            }
            Cpus::Workers(workers) => {
                let mut text = format!("worker{}", if workers.len() > 1 { "s" } else { "" });
                for (place, worker) in workers.iter().enumerate() {
                    let _ = write!(text, "{} {worker}", if place > 0 { "," } else { "" });
                }
                text
            }
        }
    }
}

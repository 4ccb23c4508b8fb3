//! What every reader hands its entries to: they are put in order of time, then `machine`
//! follows them.

use super::entry::{Entry, KINDS};
use super::machine::Machine;
use super::order::{ENTRIES_HELD, Window};
use super::{ImportError, ImportReport, Place};
use crate::{Header, Sink};

/// The way from entries to a history.
pub struct Feed<'s, S> {
    machine: Machine<'s, S>,
    window: Window<Entry>,
    /// Texts of entries that are done with, to be used again.
    spare: Vec<Vec<u8>>,
    /// Entries by [`super::entry::Payload::kind`].
    events: [u64; KINDS.len()],
    pub report: ImportReport,
}

impl<'s, S: Sink> Feed<'s, S> {
    pub fn new(sink: &'s mut S) -> Self {
        Self {
            machine: Machine::new(sink),
            window: Window::new(ENTRIES_HELD),
            spare: Vec::new(),
            events: [0; KINDS.len()],
            report: ImportReport::default(),
        }
    }

    /// An empty text for the next entry.
    pub fn text(&mut self) -> Vec<u8> {
        let mut text = self.spare.pop().unwrap_or_default();
        text.clear();
        text
    }

    /// Takes the next entry, which stands at `place`.
    pub fn enter(&mut self, entry: Entry, place: Place) -> Result<(), ImportError> {
        self.events[entry.payload.kind()] += 1;
        let time_ns = entry.head.time_ns;
        if time_ns < self.window.last_ns() {
            self.report.reordered_lines += 1;
            if time_ns < self.window.floor_ns() {
                let behind_ns = self.window.floor_ns() - time_ns;
                return Err(ImportError::OutOfOrder { place, behind_ns });
            }
        }
        self.window.insert(time_ns, entry);
        match self.window.overflow() {
            Some(entry) => self.follow(entry, place),
            None => Ok(()),
        }
    }

    fn follow(&mut self, entry: Entry, place: Place) -> Result<(), ImportError> {
        self.machine
            .apply(&entry, &mut self.report)
            .map_err(|source| ImportError::Write { place, source })?;
        self.spare.push(entry.text);
        Ok(())
    }

    /// Lets the machine follow what is held; `place` is the last one, the report counts `unit`s.
    /// A recording without a switch is refused, for it is not `expected`, but for our own.
    pub fn drain(
        &mut self,
        place: Place,
        unit: &'static str,
        expected: &'static str,
    ) -> Result<(), ImportError> {
        while let Some(entry) = self.window.pop() {
            self.follow(entry, place)?;
        }
        let seen = KINDS.into_iter().zip(self.events).filter(|&(_, entries)| entries > 0);
        self.report.events = seen.collect();
        if self.report.switches == 0 && !self.machine.has_header() {
            return Err(ImportError::NoSwitch { read: self.report.lines, unit, expected });
        }
        Ok(())
    }

    /// Notes something about the recording.
    pub fn fact(&mut self, name: &str, value: String) {
        self.machine.fact(name, value);
    }

    /// Sets the process of a thread, and its name if no event had one.
    pub fn tell_process(&mut self, tid: u32, process: u32, name: &[u8]) {
        self.machine.tell_process(tid, process, name);
    }

    /// Takes over the header of a history that this project exported; the caller has validated the
    /// header.
    pub fn adopt(&mut self, header: Header) {
        self.machine.adopt(header);
    }

    /// Gives out the rest of the history.
    pub fn finish(mut self, place: Place) -> Result<ImportReport, ImportError> {
        self.machine
            .finish(&mut self.report)
            .map_err(|source| ImportError::Write { place, source })?;
        Ok(self.report)
    }
}

//! Where records go one after the other: into memory or into a file.

use std::io;

use crate::{Header, History, Record};

/// Takes a history record by record, so that a producer need not hold all of it.
pub trait Sink {
    /// Takes the next record; times never fall.
    ///
    /// # Errors
    /// Errors of the output.
    fn record(&mut self, record: &Record) -> io::Result<()>;

    /// Takes the facts known only at the end: length, CPUs and tasks.
    ///
    /// # Errors
    /// Errors of the output.
    fn finish(&mut self, header: &Header) -> io::Result<()>;
}

/// A sink that keeps everything in memory.
#[derive(Debug, Default)]
pub struct Collector {
    records: Vec<Record>,
    header: Option<Header>,
}

impl Collector {
    /// The history; `None` before its producer has finished.
    #[must_use]
    pub fn into_history(self) -> Option<History> {
        let records = self.records;
        self.header.map(|header| History { header, records })
    }
}

impl Sink for Collector {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.records.push(record.clone());
        Ok(())
    }

    fn finish(&mut self, header: &Header) -> io::Result<()> {
        self.header = Some(header.clone());
        Ok(())
    }
}

/// A sink that only counts, for measurements and checks of an input.
#[derive(Debug, Default)]
pub struct Counter {
    /// Records taken so far.
    pub records: u64,
}

impl Sink for Counter {
    fn record(&mut self, _record: &Record) -> io::Result<()> {
        self.records += 1;
        Ok(())
    }

    fn finish(&mut self, _header: &Header) -> io::Result<()> {
        Ok(())
    }
}

//! Switches and wake-ups in columns (`compact_sched`): times as differences, names by number,
//! and nothing of the task that leaves, which is the one that came last.

use std::iter::Zip;

use super::events::append;
use crate::import::entry::{self, Named, Payload};
use crate::import::tracepoint::{States, in_interrupt};
use crate::perfetto::compact;
use crate::protobuf::{Damaged, Fields, Packed};

/// The task that a CPU switched to; the idle task before the first switch.
#[derive(Clone, Debug, Default)]
pub struct Running {
    pub pid: u32,
    pub prio: i32,
    pub name: Vec<u8>,
}

/// The columns of one bundle.
pub struct Columns<'b> {
    names: Vec<&'b [u8]>,
    columns: [Packed<'b>; compact::WAKING_FLAGS as usize + 1],
}

/// A switch, without the leaving task.
pub struct Switch<'b> {
    pub time_ns: u64,
    state: u64,
    pub pid: u32,
    pub prio: i32,
    pub name: &'b [u8],
}

/// A wake-up.
pub struct Waking<'b> {
    pub time_ns: u64,
    pid: u32,
    pub cpu: u32,
    prio: i32,
    name: &'b [u8],
    pub interrupt: Option<bool>,
}

impl<'b> Columns<'b> {
    pub fn of(bytes: &'b [u8]) -> Result<Self, Damaged> {
        let mut names = Vec::new();
        let mut columns = [Packed::default(); compact::WAKING_FLAGS as usize + 1];
        for field in Fields::new(bytes) {
            let (number, value) = field?;
            let bytes = value.bytes().ok_or(Damaged)?;
            if number == compact::NAMES {
                names.push(bytes);
            } else if let Some(column) = columns.get_mut(number as usize) {
                *column = Packed(bytes);
            }
        }
        Ok(Self { names, columns })
    }

    fn column(&self, number: u64) -> Packed<'b> {
        self.columns[number as usize]
    }

    /// Rows with the times of one column and the names of another.
    fn rows(
        &self,
        times: u64,
        names: u64,
    ) -> impl Iterator<Item = Result<(u64, &'b [u8]), Damaged>> {
        let mut time_ns = 0u64;
        let both: Zip<_, _> = self.column(times).zip(self.column(names));
        both.map(move |(after_ns, name)| {
            time_ns = time_ns.checked_add(after_ns?).ok_or(Damaged)?;
            let name = usize::try_from(name?).ok().and_then(|name| self.names.get(name));
            Ok((time_ns, *name.ok_or(Damaged)?))
        })
    }

    /// The switches, up to the first that is damaged.
    pub fn switches(&self) -> impl Iterator<Item = Result<Switch<'b>, Damaged>> {
        let rows = self.rows(compact::SWITCH_TIME, compact::SWITCH_NAME);
        let states = self.column(compact::SWITCH_STATE);
        let tasks = self.column(compact::SWITCH_NEXT).zip(self.column(compact::SWITCH_PRIO));
        rows.zip(states).zip(tasks).map(|((row, state), (pid, prio))| {
            let (time_ns, name) = row?;
            let (pid, prio) = (pid_of(pid?)?, prio_of(prio?)?);
            Ok(Switch { time_ns, state: state?, pid, prio, name })
        })
    }

    /// The wake-ups, up to the first that is damaged. Older recordings have no flags.
    pub fn wakings(&self) -> impl Iterator<Item = Result<Waking<'b>, Damaged>> {
        let rows = self.rows(compact::WAKING_TIME, compact::WAKING_NAME);
        let cpus = self.column(compact::WAKING_CPU);
        let tasks = self.column(compact::WAKING_PID).zip(self.column(compact::WAKING_PRIO));
        let flags = self.column(compact::WAKING_FLAGS).map(Some).chain(std::iter::repeat(None));
        rows.zip(cpus).zip(tasks).zip(flags).map(|(((row, cpu), (pid, prio)), flags)| {
            let (time_ns, name) = row?;
            let cpu = u32::try_from(cpu?).ok().and_then(entry::cpu).ok_or(Damaged)?;
            let (pid, prio) = (pid_of(pid?)?, prio_of(prio?)?);
            let interrupt = flags.transpose()?.and_then(in_interrupt);
            Ok(Waking { time_ns, pid, cpu, prio, name, interrupt })
        })
    }
}

impl Switch<'_> {
    /// The switch from `prev`.
    pub fn payload(&self, prev: &Running, text: &mut Vec<u8>) -> Option<Payload> {
        let letter = States::default().letter(self.state);
        let left = named(&prev.name, prev.pid, prev.prio, text);
        let came = named(self.name, self.pid, self.prio, text);
        Payload::switch(left, letter, came)
    }
}

impl Waking<'_> {
    pub fn task(&self, text: &mut Vec<u8>) -> Named {
        named(self.name, self.pid, self.prio, text)
    }
}

fn named(name: &[u8], pid: u32, prio: i32, text: &mut Vec<u8>) -> Named {
    Named { name: append(name, text), pid, prio: Some(prio) }
}

fn pid_of(number: u64) -> Result<u32, Damaged> {
    u32::try_from(number).ok().filter(|&pid| pid <= i32::MAX as u32).ok_or(Damaged)
}

fn prio_of(number: u64) -> Result<i32, Damaged> {
    i32::try_from(number.cast_signed()).map_err(|_| Damaged)
}

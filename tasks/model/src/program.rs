//! Programs that run in the model.

use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use evenkeel_runtime::{Data, Scope};

use crate::ledger::Spent;
use crate::machine::{self, NS};

/// A program, without the number of its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Recursive halving without dependences; every node is a task, leaves have a body.
    Multiaxpy,
    /// One creator, no dependences.
    Independent,
    /// One creator, each task after the one before.
    Chain,
    /// One creator, and as many chains as workers.
    Blocks,
    /// The Cholesky factorization of tiles.
    Cholesky,
}

/// All programs by their names.
pub const PROGRAMS: [(&str, Program); 5] = [
    ("multiaxpy-noop", Program::Multiaxpy),
    ("independent", Program::Independent),
    ("chain", Program::Chain),
    ("blocks", Program::Blocks),
    ("cholesky", Program::Cholesky),
];

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = PROGRAMS.iter().find(|(name, _)| *name == text);
        known.map(|known| known.1).ok_or_else(|| {
            let names = PROGRAMS.map(|(name, _)| name).join(", ");
            format!("no program `{text}`; there are {names}")
        })
    }
}

/// A program of some size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) program: Program,
    /// Tasks, at least.
    pub(crate) tasks: u64,
    pub(crate) body_ns: u64,
    pub(crate) workers: u64,
}

/// Tasks that ran, and those of them that have a body.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) tasks: AtomicU64,
    pub(crate) bodies: AtomicU64,
}

impl Tally {
    /// The body of a task that only creates tasks.
    fn node(&self) {
        self.tasks.fetch_add(1, Ordering::Relaxed);
    }

    fn body(&self, body_ns: u64) {
        self.node();
        self.bodies.fetch_add(1, Ordering::Relaxed);
        machine::spend(Spent::Body, |_| body_ns * NS);
    }
}

impl Work {
    /// Leaves of a halving, a power of two; or tiles a side.
    fn size(&self) -> u64 {
        match self.program {
            Program::Multiaxpy => (self.tasks / 2).max(1).next_power_of_two(),
            Program::Cholesky => (1..).find(|n| tiles_tasks(*n) >= self.tasks).unwrap_or(1),
            _ => self.tasks,
        }
    }

    /// The number of tasks.
    pub(crate) fn tasks(&self) -> u64 {
        match self.program {
            Program::Multiaxpy => 2 * self.size() - 1,
            Program::Cholesky => tiles_tasks(self.size()),
            _ => self.size(),
        }
    }

    /// Those of them that have a body.
    pub(crate) fn bodies(&self) -> u64 {
        if self.program == Program::Multiaxpy { self.size() } else { self.tasks() }
    }

    /// The data of the program's tasks.
    pub(crate) fn data(&self) -> Vec<Data<u8>> {
        let count = match self.program {
            Program::Multiaxpy | Program::Independent => 0,
            Program::Chain => 1,
            Program::Blocks => self.workers,
            Program::Cholesky => self.size() * (self.size() + 1) / 2,
        };
        (0..count).map(|_| Data::new(0)).collect()
    }

    /// Creates its tasks and waits for them.
    pub(crate) fn run<'scope>(
        &self,
        s: &Scope<'scope>,
        tally: &'scope Tally,
        data: &'scope [Data<u8>],
    ) {
        let body_ns = self.body_ns;
        match self.program {
            Program::Multiaxpy => {
                let size = self.size();
                s.spawn(move |s| halve(s, tally, size, body_ns));
            }
            Program::Independent => {
                (0..self.tasks).for_each(|_| s.spawn(move |_| tally.body(body_ns)));
            }
            Program::Chain | Program::Blocks => {
                for link in data.iter().cycle().take(self.tasks as usize) {
                    s.task().inout(link).spawn(move |_| tally.body(body_ns));
                }
            }
            Program::Cholesky => cholesky(s, tally, data, self),
        }
        s.wait();
    }
}

fn halve<'scope>(s: &Scope<'scope>, tally: &'scope Tally, size: u64, body_ns: u64) {
    if size == 1 {
        return tally.body(body_ns);
    }
    tally.node();
    for _ in 0..2 {
        s.spawn(move |s| halve(s, tally, size / 2, body_ns));
    }
}

/// n (n + 1) (n + 2) / 6
fn tiles_tasks(count: u64) -> u64 {
    count * (count + 1) * (count + 2) / 6
}

fn cholesky<'scope>(
    s: &Scope<'scope>,
    tally: &'scope Tally,
    tiles: &'scope [Data<u8>],
    work: &Work,
) {
    let (count, body_ns) = (work.size() as usize, work.body_ns);
    let tile = |i: usize, j: usize| &tiles[i * (i + 1) / 2 + j];
    for k in 0..count {
        s.task().inout(tile(k, k)).spawn(move |_| tally.body(body_ns));
        for i in k + 1..count {
            let at = s.task().input(tile(k, k)).inout(tile(i, k));
            at.spawn(move |_, _| tally.body(body_ns));
        }
        for i in k + 1..count {
            s.task().input(tile(i, k)).inout(tile(i, i)).spawn(move |_, _| tally.body(body_ns));
            for j in k + 1..i {
                let at = s.task().input(tile(i, k)).input(tile(j, k)).inout(tile(i, j));
                at.spawn(move |_, _, _| tally.body(body_ns));
            }
        }
    }
}

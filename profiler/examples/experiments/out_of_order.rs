//! A core that executes out of order, cycle by cycle: which part of its time depends on its clock?
//!
//! Sizes are those of Skylake (WikiChip, "Skylake (client)", section "Execution engine"); caches
//! beyond L2 and memory have clocks of their own (D 4.3.2). It has neither prefetchers nor a
//! translation of addresses, and addresses are replaced by the place where an access hits.

use std::collections::VecDeque;

const SCHEDULER: usize = 97;
const STORE_BUFFER: usize = 56;
/// Lines that are on their way to L1 at once.
const FILL_BUFFERS: usize = 12;
/// Instructions dispatched, and retired, in a cycle.
const WIDTH: usize = 4;
const PORTS: usize = 8;
/// Cycles from the execution of a mispredicted branch to the next dispatch.
const MISPREDICT_CYCLES: u64 = 16;
const L1_CYCLES: u64 = 5;
const L2_CYCLES: u64 = 14;
/// Beyond the cycles of L2; our choice.
const MEMORY_NS: f64 = 80.0;
const NOT_YET: u64 = u64::MAX;

/// Where an access finds its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    L1,
    L2,
    L3,
    Memory,
}

impl Place {
    /// Whether the access goes on beyond L2.
    pub fn misses_l2(self) -> bool {
        matches!(self, Self::L3 | Self::Memory)
    }
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Compute { cycles: u64 },
    Load(Place),
    Store(Place),
    Branch { is_mispredicted: bool },
}

/// An instruction of a program.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub kind: Kind,
    /// The instruction whose result it needs, by its index.
    pub source: Option<usize>,
}

/// The core, and what it sees of the memory.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub khz: u32,
    /// Instructions from the oldest that has not retired to the youngest; Skylake has 224.
    pub reorder_buffer: usize,
    /// Latency of L3 beyond the cycles of L2.
    pub l3_ns: f64,
    /// Time between two lines that memory delivers to this core.
    pub line_ns: f64,
}

/// What the counters of a run say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub cycles: u64,
    /// Nothing executes while a load that missed L2 is outstanding (STALLS_L2_MISS).
    pub stall_cycles: u64,
    /// The store buffer is full and no load that missed L2 is outstanding (BOUND_ON_STORES).
    pub store_bound_cycles: u64,
    /// Of loads that missed L2 while no load that missed L2 before them was outstanding (Fig. 4.5).
    pub leading_load_cycles: u64,
    /// Loads that missed L2.
    pub misses: u64,
}

/// Memory accesses beyond L1 that are outstanding.
#[derive(Default)]
struct Fills {
    /// End of each, and whether it is a load that missed L2.
    outstanding: Vec<(u64, bool)>,
    memory_free_at: f64,
}

impl Fills {
    /// The cycle in which an access that begins now ends, or none without a free fill buffer.
    fn begin(&mut self, now: u64, place: Place, is_load: bool, machine: Machine) -> Option<u64> {
        if place == Place::L1 {
            return Some(now + L1_CYCLES);
        }
        if self.outstanding.len() == FILL_BUFFERS {
            return None;
        }
        let cycles = |ns: f64| ns * f64::from(machine.khz) / 1e6;
        let beyond = match place {
            Place::L1 | Place::L2 => 0.0,
            Place::L3 => cycles(machine.l3_ns),
            Place::Memory => {
                let begin = self.memory_free_at.max(now as f64);
                self.memory_free_at = begin + cycles(machine.line_ns);
                begin - now as f64 + cycles(MEMORY_NS)
            }
        };
        let end = now + L2_CYCLES + beyond.round() as u64;
        self.outstanding.push((end, is_load && place.misses_l2()));
        Some(end)
    }

    fn end(&mut self, now: u64) {
        self.outstanding.retain(|&(end, _)| end > now);
    }

    fn has_miss(&self) -> bool {
        self.outstanding.iter().any(|&(_, is_missing_load)| is_missing_load)
    }
}

/// Stores from their dispatch until their line is written, in order.
#[derive(Default)]
struct Stores {
    dispatched: usize,
    /// Retired stores: where, and when the line is there.
    retired: VecDeque<(Place, u64)>,
}

impl Stores {
    fn step(&mut self, now: u64, fills: &mut Fills, machine: Machine) {
        for (place, at) in self.retired.iter_mut().filter(|(_, at)| *at == NOT_YET) {
            let Some(end) = fills.begin(now, *place, false, machine) else { break };
            *at = end;
        }
        if self.retired.front().is_some_and(|&(_, at)| at <= now) {
            self.retired.pop_front();
            self.dispatched -= 1;
        }
    }
}

struct Core<'program> {
    program: &'program [Instruction],
    machine: Machine,
    now: u64,
    /// When the result of each instruction is there.
    done_at: Vec<u64>,
    /// Instructions in flight are those from `retired` to `dispatched`.
    retired: usize,
    dispatched: usize,
    scheduler: Vec<usize>,
    fills: Fills,
    stores: Stores,
    mispredicted: Option<usize>,
    leading_until: u64,
    counts: Counts,
}

/// What a core counts while it executes a program.
pub fn run(program: &[Instruction], machine: Machine) -> Counts {
    let mut core = Core {
        program,
        machine,
        now: 0,
        done_at: vec![NOT_YET; program.len()],
        retired: 0,
        dispatched: 0,
        scheduler: Vec::with_capacity(SCHEDULER),
        fills: Fills::default(),
        stores: Stores::default(),
        mispredicted: None,
        leading_until: 0,
        counts: Counts::default(),
    };
    while core.retired < program.len() {
        core.cycle();
    }
    Counts { cycles: core.now, ..core.counts }
}

impl Core<'_> {
    fn cycle(&mut self) {
        self.fills.end(self.now);
        self.retire();
        self.stores.step(self.now, &mut self.fills, self.machine);
        let executed = self.execute();
        self.dispatch();
        let has_miss = self.fills.has_miss();
        self.counts.stall_cycles += u64::from(has_miss && executed == 0);
        let is_full = self.stores.dispatched == STORE_BUFFER;
        self.counts.store_bound_cycles += u64::from(is_full && !has_miss);
        self.now += 1;
    }

    fn retire(&mut self) {
        for _ in 0..WIDTH {
            if self.retired == self.dispatched || self.done_at[self.retired] > self.now {
                return;
            }
            if let Kind::Store(place) = self.program[self.retired].kind {
                self.stores.retired.push_back((place, NOT_YET));
            }
            self.retired += 1;
        }
    }

    /// Executes the oldest instructions that can, and says how many.
    fn execute(&mut self) -> usize {
        let mut executed = 0;
        let mut waiting = std::mem::take(&mut self.scheduler);
        waiting.retain(|&index| {
            let starts = executed < PORTS && self.start(index);
            executed += usize::from(starts);
            !starts
        });
        self.scheduler = waiting;
        executed
    }

    fn start(&mut self, index: usize) -> bool {
        let Instruction { kind, source } = self.program[index];
        if source.is_some_and(|source| self.done_at[source] > self.now) {
            return false;
        }
        let done_at = match kind {
            Kind::Compute { cycles } => self.now + cycles,
            Kind::Store(_) | Kind::Branch { .. } => self.now + 1,
            Kind::Load(place) => {
                let fill = self.fills.begin(self.now, place, true, self.machine);
                let Some(end) = fill else { return false };
                if place.misses_l2() {
                    self.miss(end);
                }
                end
            }
        };
        self.done_at[index] = done_at;
        true
    }

    fn miss(&mut self, end: u64) {
        self.counts.misses += 1;
        if self.now >= self.leading_until {
            self.leading_until = end;
            self.counts.leading_load_cycles += end - self.now;
        }
    }

    fn dispatch(&mut self) {
        let resolved = |branch: usize| self.done_at[branch].saturating_add(MISPREDICT_CYCLES);
        self.mispredicted = self.mispredicted.filter(|&branch| resolved(branch) > self.now);
        for _ in 0..WIDTH {
            let index = self.dispatched;
            let is_full = index - self.retired == self.machine.reorder_buffer
                || self.scheduler.len() == SCHEDULER
                || self.mispredicted.is_some()
                || index == self.program.len();
            if is_full {
                return;
            }
            let kind = self.program[index].kind;
            if matches!(kind, Kind::Store(_)) {
                if self.stores.dispatched == STORE_BUFFER {
                    return;
                }
                self.stores.dispatched += 1;
            }
            if matches!(kind, Kind::Branch { is_mispredicted: true }) {
                self.mispredicted = Some(index);
            }
            self.scheduler.push(index);
            self.dispatched += 1;
        }
    }
}

//! A thread during a run: the position in its program, its current work, its results.

use cpu_model::{CpuModel, LEVELS_MAX};
use scenarios::{Draw, Spread, Step, Thread, Work};

pub(crate) use crate::custom::Stop;
use crate::outcome::TaskOutcome;
use crate::random::{Purpose, Stream};

/// The scheduling state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Before its arrival.
    Absent,
    /// In a queue.
    Runnable,
    /// On this CPU.
    Running(usize),
    /// Asleep or waiting for another task.
    Blocked,
    /// Its program has ended.
    Ended,
}

/// The instructions that a task executes when running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phase {
    pub work: Work,
    /// Level that class and rate demand alone.
    pub own_level: u8,
}

/// The phase before the first step of a program and between two steps.
const BETWEEN_PHASES: Phase = Phase {
    work: Work {
        ref_cycles: Draw { mean: 0, spread: Spread::Fixed },
        class: cpu_model::Class::Scalar,
        rate_permille: 0,
        stall_permille: 0,
        integer: false,
        working_set_kib: 0,
    },
    own_level: 0,
};

/// Measurements of a task since it was last accounted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice {
    pub time_ns: u64,
    /// Time runnable without a CPU before it.
    pub waited_ns: u64,
    /// kHz times ns: 10^-6 cycles.
    pub cycles_e6: u64,
    /// Time during which the counters ran.
    pub counted_ns: u64,
    pub level_cycles_e6: [u64; LEVELS_MAX],
    pub stall_cycles_e6: u64,
    /// Of the cycles, those throttled by a transition.
    pub throttled_cycles_e6: u64,
    /// Lost time in 2^-20 ns.
    pub lost_q20: u64,
    /// The task that held the level at the last loss; of several, the one on the highest CPU.
    pub lost_to: Option<u32>,
    /// Widest registers whose use shows: 0 = 128 bits, 1 = 256, 2 = 512.
    pub width: u8,
    /// Highest level that the task's own code would demand at twice its rate, as with a sibling of
    /// its own kind.
    pub needed_level: u8,
    /// Highest level demanded by heavy floating-point instructions that retired.
    pub fp_level: u8,
    /// Those instructions, of 256 and of 512 bits, in 10^-9.
    pub retired_e9: [u64; 2],
}

/// The action of the next step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The phase and the units of work are set.
    Compute,
    /// Until a timer fires where the task slept, or an interrupt comes on that CPU.
    Sleep {
        ns: u64,
        on: Option<usize>,
    },
    Barrier(usize),
    Lock(usize),
    Unlock(usize),
    Wake {
        semaphore: usize,
        sync: bool,
    },
    Send {
        channel: usize,
        bytes: u64,
    },
    Receive {
        channel: usize,
        bytes: u64,
    },
    Exec,
    Fork(usize),
    Wait(usize),
    SystemCall,
    End,
}

/// An amount of work in rounds of bursts: where bursts begin follows from the amount alone, so that
/// classes decide no draw.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    total: u64,
    rounds: u64,
    round: u64,
    /// Cycles of the round that earlier bursts took.
    taken: u64,
}

impl Amount {
    fn new(total: u64, round_cycles: u64) -> Self {
        let round_cycles = round_cycles.max(1);
        let rounds = (total.saturating_add(round_cycles / 2) / round_cycles).max(1);
        Self { total, rounds, round: 0, taken: 0 }
    }

    /// Cycles of the round.
    fn length(&self) -> u64 {
        let start = |round| scaled(self.total, round, self.rounds);
        start(self.round + 1) - start(self.round)
    }

    /// Takes the cycles of the round up to a share of it.
    fn burst(&mut self, until_ppm: u32) -> u64 {
        let until = scaled(self.length(), until_ppm.into(), 1_000_000);
        let cycles = until.saturating_sub(self.taken);
        self.taken += cycles;
        cycles
    }

    /// Goes on to the next round; `false`: there is none.
    fn next(&mut self) -> bool {
        self.round += 1;
        self.taken = 0;
        self.round < self.rounds
    }
}

/// A thread during a run.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub state: State,
    /// When the thread arrives, unless another one forks it.
    pub arrival_ns: u64,
    pub application: usize,
    pub foreground: bool,
    pub weight: u32,
    /// Whether core specialization concerns the task.
    pub is_enrolled: bool,
    /// Index into the affinity masks.
    pub mask: usize,
    pub last_cpu: Option<usize>,
    pub phase: Phase,
    /// Work left of the step, in 2^-20 reference ns.
    pub work_left: u64,
    /// Overhead to work off first, in 2^-20 reference ns.
    pub overhead_left: u64,
    /// The CPU whose interrupt ends its sleep, where that is not its own.
    pub interrupt_on: Option<usize>,
    /// Units of work done in all.
    pub done: u64,
    /// Lost time in 2^-20 ns.
    pub lost_q20: u128,
    pub slice: Slice,
    /// When the task became runnable, while waiting for a CPU.
    pub runnable_since: Option<u64>,
    /// When the task was woken, until its first instruction.
    pub woken_at: Option<u64>,
    pub outcome: TaskOutcome,
    pub ruled_level: u8,
    program: Vec<Step>,
    position: usize,
    /// The amount that bursts divide.
    amount: Amount,
    loops: Vec<u64>,
    /// By timer of the thread: time of its last expiry.
    timers: Vec<u64>,
    /// Number of the thread's random streams.
    pub number: u64,
    stream: Stream,
}

const UNITS_PER_NS: u64 = 1 << 20;

impl Task {
    pub(crate) fn new(
        thread: &Thread,
        foreground: bool,
        mask: usize,
        arrival_ns: u64,
        cpu: &CpuModel,
        seed: u64,
    ) -> Self {
        Self {
            state: State::Absent,
            arrival_ns,
            application: thread.application as usize,
            foreground,
            weight: policy::weight(thread.nice),
            is_enrolled: thread.enrolled,
            mask,
            last_cpu: thread.was_on.filter(|&cpu| allows(thread, cpu)).map(|cpu| cpu as usize),
            phase: BETWEEN_PHASES,
            work_left: 0,
            overhead_left: 0,
            interrupt_on: None,
            done: 0,
            lost_q20: 0,
            slice: Slice::default(),
            runnable_since: None,
            woken_at: None,
            outcome: TaskOutcome::default(),
            ruled_level: ruled_level(thread, cpu),
            program: thread.program.clone(),
            position: 0,
            amount: Amount::default(),
            loops: vec![0; thread.program.len()],
            timers: vec![arrival_ns; timers(&thread.program)],
            number: thread.stream,
            stream: Stream::new(seed, Purpose::Work, thread.stream),
        }
    }

    /// Overhead to work off, in reference ns.
    pub(crate) fn overhead_left_ns(&self) -> u64 {
        self.overhead_left / UNITS_PER_NS
    }

    /// The task does its last step again when it continues.
    pub(crate) fn retries_step(&mut self) {
        self.position -= 1;
    }

    /// Goes on to the next step that is not a loop.
    pub(crate) fn advance(&mut self, cpu: &CpuModel, now_ns: u64) -> Next {
        loop {
            let Some(step) = self.program.get(self.position) else { return Next::End };
            let next = match *step {
                Step::Loop { to, times } => {
                    self.follow_loop(to, times);
                    continue;
                }
                Step::Compute(work) => {
                    let cycles = self.draw(work.ref_cycles);
                    return self.compute(cpu, work, cycles);
                }
                Step::Amount { total, round_cycles } => {
                    self.amount = Amount::new(self.draw(total), round_cycles);
                    self.position += 1;
                    continue;
                }
                Step::Burst { work, until_ppm } => {
                    let cycles = self.amount.burst(until_ppm);
                    return self.compute(cpu, work, cycles);
                }
                Step::NextRound { to } => {
                    let is_next = self.amount.next();
                    self.position = if is_next { to as usize } else { self.position + 1 };
                    continue;
                }
                Step::Sleep(time) => {
                    self.position += 1;
                    return Next::Sleep { ns: self.draw(time), on: None };
                }
                Step::Timer { timer, period_ns, absolute } => {
                    self.position += 1;
                    let fires_ns = &mut self.timers[timer as usize];
                    *fires_ns = fires_ns.saturating_add(period_ns);
                    let left_ns = fires_ns.saturating_sub(now_ns);
                    if left_ns == 0 && !absolute {
                        *fires_ns = now_ns;
                    }
                    return Next::Sleep { ns: left_ns, on: None };
                }
                Step::Barrier(i) => Next::Barrier(i as usize),
                Step::Lock(i) => Next::Lock(i as usize),
                Step::Unlock(i) => Next::Unlock(i as usize),
                Step::Wake(i) => Next::Wake { semaphore: i as usize, sync: false },
                Step::WakeSync(i) => Next::Wake { semaphore: i as usize, sync: true },
                Step::Send { channel, bytes } => Next::Send { channel: channel as usize, bytes },
                Step::Receive { channel, bytes } => {
                    Next::Receive { channel: channel as usize, bytes }
                }
                Step::Exec => Next::Exec,
                Step::Fork(i) => Next::Fork(i as usize),
                Step::Interrupt { after_ns, cpu } => {
                    Next::Sleep { ns: after_ns, on: Some(cpu as usize) }
                }
                Step::Wait(i) => Next::Wait(i as usize),
                Step::SystemCall => Next::SystemCall,
            };
            self.position += 1;
            return next;
        }
    }

    fn compute(&mut self, cpu: &CpuModel, work: Work, cycles: u64) -> Next {
        self.work_left = units(cycles, cpu.turbo.ref_khz);
        let own_level = cpu.level_demanded(work.class, work.rate_permille);
        self.phase = Phase { work, own_level };
        self.position += 1;
        Next::Compute
    }

    /// Whether the step after this one computes; looks past one loop or round.
    pub(crate) fn computes_next(&self) -> bool {
        let at = match self.program.get(self.position) {
            Some(&Step::NextRound { to }) => {
                let is_last = self.amount.round + 1 >= self.amount.rounds;
                if is_last { self.position + 1 } else { to as usize }
            }
            Some(&Step::Loop { to, times }) => {
                let rounds = self.loops[self.position] + 1;
                let again = times.is_none_or(|times| rounds < times);
                if again { to as usize } else { self.position + 1 }
            }
            _ => self.position,
        };
        let is_compute = |step: &Step| {
            matches!(step, Step::Compute(_) | Step::Amount { .. } | Step::Burst { .. })
        };
        self.program.get(at).is_some_and(is_compute)
    }

    fn follow_loop(&mut self, to: u32, times: Option<u64>) {
        let rounds = &mut self.loops[self.position];
        *rounds += 1;
        if times.is_none_or(|times| *rounds < times) {
            self.position = to as usize;
        } else {
            *rounds = 0;
            self.position += 1;
        }
    }

    fn draw(&mut self, amount: Draw) -> u64 {
        let mean = amount.mean;
        match amount.spread {
            Spread::Fixed => mean,
            Spread::Uniform(permille) => {
                let half = scaled(mean, permille.into(), 1000).min(mean);
                let wide = half.saturating_mul(2).saturating_add(1);
                (mean - half).saturating_add(self.stream.below(wide))
            }
            Spread::Exponential => scaled(mean, self.stream.exponential_q20(), 1 << 20),
        }
    }

    /// The task waits; its instructions until the next step are scalar.
    pub(crate) fn between_phases(&mut self) {
        let working_set_kib = self.phase.work.working_set_kib;
        self.phase = BETWEEN_PHASES;
        self.phase.work.working_set_kib = working_set_kib;
    }

    /// Whether all work and overhead of the step is done.
    pub(crate) fn is_step_done(&self) -> bool {
        self.work_left == 0 && self.overhead_left == 0
    }
}

/// Whether the thread may run on that CPU.
fn allows(thread: &Thread, cpu: u32) -> bool {
    thread.affinity.cpus.is_empty() || thread.affinity.cpus.contains(&cpu)
}

/// How many timers a program has.
fn timers(program: &[Step]) -> usize {
    let timer = |step: &Step| match step {
        Step::Timer { timer, .. } => *timer as usize + 1,
        _ => 0,
    };
    program.iter().map(timer).max().unwrap_or(0)
}

/// Units of work of that many reference cycles, saturating.
fn units(ref_cycles: u64, ref_khz: u32) -> u64 {
    scaled(ref_cycles, 1_000_000 * UNITS_PER_NS, ref_khz.into())
}

/// `number * factor / divisor`, rounded down, saturating; fast where the product is small.
#[inline]
fn scaled(number: u64, factor: u64, divisor: u64) -> u64 {
    if let Some(product) = number.checked_mul(factor) {
        return product / divisor;
    }
    let scaled = u128::from(number) * u128::from(factor) / u128::from(divisor);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Reference cycles of that many units of work.
pub(crate) fn ref_cycles(units: u64, ref_khz: u32) -> u64 {
    scaled(units, ref_khz.into(), 1_000_000 * UNITS_PER_NS)
}

/// Overhead in units of work.
pub(crate) fn overhead_units(ns: u64) -> u64 {
    ns.saturating_mul(UNITS_PER_NS)
}

fn ruled_level(thread: &Thread, cpu: &CpuModel) -> u8 {
    const FULL_RATE_PERMILLE: u32 = 1000;
    if let Some(class) = thread.ruled_class {
        return cpu.level_demanded(class, FULL_RATE_PERMILLE);
    }
    thread
        .program
        .iter()
        .filter_map(Step::work)
        .map(|work| cpu.level_demanded(work.class, work.rate_permille))
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_take_all_of_an_amount_and_their_shares_of_each_round() {
        for total in [0, 1, 999, 10_007, 2_500_000] {
            let mut amount = Amount::new(total, 1000);
            let (mut first, mut all, mut rounds) = (0, 0, 0);
            loop {
                let burst = amount.burst(300_000);
                first += burst;
                all += burst + amount.burst(1_000_000);
                rounds += 1;
                if !amount.next() {
                    break;
                }
            }
            assert_eq!((all, rounds), (total, ((total + 500) / 1000).max(1)));
            assert!(first <= 3 * total / 10 && first + rounds >= 3 * total / 10, "{first}");
        }
    }
}

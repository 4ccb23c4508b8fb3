//! Runs the programs of a workload without time, to find threads that would wait for ever.

use std::collections::{BTreeSet, VecDeque};

use crate::workload::{Step, Workload};

/// Steps all threads together may take before the rest is taken on trust.
const STEPS_MAX: usize = 8 << 20;
/// Rounds of an endless loop that are followed before assuming that the loop never blocks.
const ENDLESS_ROUNDS: u32 = 3;

/// A deadlocked thread, and the step at which the thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deadlocked {
    pub(crate) thread: usize,
    pub(crate) step: usize,
}

/// How a thread stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Can go on; also one whose steps are used up before its program ends.
    Live,
    /// Waits at its current step.
    Waits,
    Ended,
}

struct Cursor {
    at: usize,
    state: State,
    steps_left: usize,
    endless_rounds: u32,
    /// Rounds done of each loop, by the index of its `Loop` step.
    rounds: Vec<(usize, u64)>,
}

#[derive(Default)]
struct Lock {
    holder: Option<usize>,
    waiting: VecDeque<usize>,
}

#[derive(Default)]
struct Semaphore {
    count: u64,
    waiting: VecDeque<usize>,
}

#[derive(Default)]
struct Channel {
    /// Written and not read; less than 0 where a reader took what is still to come.
    bytes: i128,
    /// Readers, and how much each takes.
    waiting: VecDeque<(usize, u64)>,
}

struct Run<'w> {
    workload: &'w Workload,
    cursors: Vec<Cursor>,
    ready: VecDeque<usize>,
    barriers: Vec<Vec<usize>>,
    locks: Vec<Lock>,
    semaphores: Vec<Semaphore>,
    channels: Vec<Channel>,
    /// Threads that a fork of another thread starts.
    unborn: BTreeSet<u32>,
}

/// The first deadlocked thread, if any.
///
/// Threads take turns whenever they would compute or sleep, as if each had a CPU. This order
/// alone is checked: a deadlock that needs another order is not found.
pub(crate) fn find(workload: &Workload) -> Option<Deadlocked> {
    let threads = workload.threads.len();
    let budget = (STEPS_MAX / threads.max(1)).clamp(64, 1 << 16);
    let cursor = || Cursor {
        at: 0,
        state: State::Live,
        steps_left: budget,
        endless_rounds: 0,
        rounds: Vec::new(),
    };
    let unborn = workload.forked();
    let mut run = Run {
        workload,
        cursors: (0..threads).map(|_| cursor()).collect(),
        ready: (0..threads).filter(|&thread| !unborn.contains(&(thread as u32))).collect(),
        barriers: vec![Vec::new(); workload.barriers.len()],
        locks: (0..workload.locks).map(|_| Lock::default()).collect(),
        semaphores: (0..workload.semaphores).map(|_| Semaphore::default()).collect(),
        channels: (0..workload.channels).map(|_| Channel::default()).collect(),
        unborn,
    };
    while let Some(thread) = run.ready.pop_front() {
        if !run.advance(thread) {
            return Some(Deadlocked { thread, step: run.cursors[thread].at });
        }
    }
    run.deadlocked()
}

impl Run<'_> {
    /// Runs a thread up to the end of its next computation or sleep, its end, or a wait.
    /// `false`: the thread unlocks a lock that another thread holds.
    fn advance(&mut self, thread: usize) -> bool {
        loop {
            let cursor = &mut self.cursors[thread];
            let Some(&step) = self.workload.threads[thread].program.get(cursor.at) else {
                cursor.state = State::Ended;
                return true;
            };
            if cursor.steps_left == 0 {
                return true;
            }
            cursor.steps_left -= 1;
            match step {
                Step::Compute(_)
                | Step::Burst { .. }
                | Step::Sleep(_)
                | Step::Interrupt { .. }
                | Step::Timer { .. } => {
                    cursor.at += 1;
                    self.ready.push_back(thread);
                    return true;
                }
                Step::Loop { to, times } => cursor.turn(to as usize, times),
                Step::Unlock(i) if self.locks[i as usize].holder != Some(thread) => return false,
                _ if self.passes(thread, step) => self.cursors[thread].at += 1,
                _ => {
                    self.cursors[thread].state = State::Waits;
                    return true;
                }
            }
        }
    }

    /// Whether a thread gets past a step of synchronisation at once.
    fn passes(&mut self, thread: usize, step: Step) -> bool {
        match step {
            Step::Barrier(i) => self.passes_barrier(thread, i as usize),
            Step::Lock(i) => {
                let lock = &mut self.locks[i as usize];
                if lock.holder.is_some() {
                    lock.waiting.push_back(thread);
                    return false;
                }
                lock.holder = Some(thread);
                true
            }
            Step::Unlock(i) => {
                let lock = &mut self.locks[i as usize];
                lock.holder = lock.waiting.pop_front();
                if let Some(next) = lock.holder {
                    self.release(next);
                }
                true
            }
            Step::Wake(i) | Step::WakeSync(i) => {
                match self.semaphores[i as usize].waiting.pop_front() {
                    Some(next) => self.release(next),
                    None => self.semaphores[i as usize].count += 1,
                }
                true
            }
            Step::Wait(i) => {
                let semaphore = &mut self.semaphores[i as usize];
                if semaphore.count == 0 {
                    semaphore.waiting.push_back(thread);
                    return false;
                }
                semaphore.count -= 1;
                true
            }
            Step::Send { channel, bytes } => {
                self.send(channel as usize, bytes);
                true
            }
            Step::Receive { channel, bytes } => self.receives(thread, channel as usize, bytes),
            Step::Fork(i) => {
                if self.unborn.remove(&i) {
                    self.ready.push_back(i as usize);
                }
                true
            }
            Step::Compute(_)
            | Step::Amount { .. }
            | Step::Burst { .. }
            | Step::NextRound { .. }
            | Step::Sleep(_)
            | Step::Interrupt { .. }
            | Step::Timer { .. }
            | Step::SystemCall
            | Step::Exec
            | Step::Loop { .. } => true,
        }
    }

    fn passes_barrier(&mut self, thread: usize, barrier: usize) -> bool {
        let size = self.workload.barriers[barrier].threads as usize;
        if self.barriers[barrier].len() + 1 < size {
            self.barriers[barrier].push(thread);
            return false;
        }
        for released in std::mem::take(&mut self.barriers[barrier]) {
            self.release(released);
        }
        true
    }

    fn send(&mut self, channel: usize, bytes: u64) {
        let channel = &mut self.channels[channel];
        channel.bytes += i128::from(bytes);
        let mut released = Vec::new();
        while channel.bytes > 0
            && let Some((next, wants)) = channel.waiting.pop_front()
        {
            channel.bytes -= i128::from(wants);
            released.push(next);
        }
        released.into_iter().for_each(|next| self.release(next));
    }

    fn receives(&mut self, thread: usize, channel: usize, bytes: u64) -> bool {
        let channel = &mut self.channels[channel];
        if channel.bytes <= 0 {
            channel.waiting.push_back((thread, bytes));
            return false;
        }
        channel.bytes -= i128::from(bytes);
        true
    }

    fn release(&mut self, thread: usize) {
        self.cursors[thread].at += 1;
        self.cursors[thread].state = State::Live;
        self.ready.push_back(thread);
    }

    /// Whether the thread waits for a lock: the cause to report when other threads wait at barriers
    /// because of that lock.
    fn wants_lock(&self, thread: usize) -> bool {
        let step = self.workload.threads[thread].program.get(self.cursors[thread].at);
        matches!(step, Some(Step::Lock(_)))
    }

    /// A waiting thread that no thread which may go on could ever release.
    fn deadlocked(&self) -> Option<Deadlocked> {
        let mut released = Released::new(self.workload);
        let mut waiting: Vec<usize> = Vec::new();
        for (thread, cursor) in self.cursors.iter().enumerate() {
            match cursor.state {
                State::Live if self.unborn.contains(&(thread as u32)) => waiting.push(thread),
                State::Live => released.add(&self.workload.threads[thread].program),
                State::Waits => waiting.push(thread),
                State::Ended => {}
            }
        }
        loop {
            let before = waiting.len();
            waiting.retain(|&thread| {
                let program = &self.workload.threads[thread].program;
                let hopeful = if self.unborn.contains(&(thread as u32)) {
                    released.threads[thread]
                } else {
                    released.frees(program[self.cursors[thread].at])
                };
                if hopeful {
                    released.add(program);
                }
                !hopeful
            });
            if waiting.len() == before {
                let step = |&thread: &usize| Deadlocked { thread, step: self.cursors[thread].at };
                return waiting.iter().min_by_key(|thread| !self.wants_lock(**thread)).map(step);
            }
        }
    }
}

impl Cursor {
    /// Goes back to the start of a loop, or past its end.
    fn turn(&mut self, to: usize, times: Option<u64>) {
        let Some(times) = times else {
            self.endless_rounds += 1;
            if self.endless_rounds == ENDLESS_ROUNDS {
                self.steps_left = 0;
            }
            self.at = to;
            return;
        };
        if self.rounds.last().is_none_or(|&(at, _)| at != self.at) {
            self.rounds.push((self.at, 0));
        }
        let done = self.rounds.last_mut().map_or(times, |(_, done)| {
            *done += 1;
            *done
        });
        if done < times {
            self.at = to;
        } else {
            self.rounds.pop();
            self.at += 1;
        }
    }
}

/// The wake-ups and unlocks that running threads may still perform.
struct Released {
    barriers: Vec<bool>,
    locks: Vec<bool>,
    semaphores: Vec<bool>,
    channels: Vec<bool>,
    threads: Vec<bool>,
}

impl Released {
    fn new(workload: &Workload) -> Self {
        Self {
            barriers: vec![false; workload.barriers.len()],
            locks: vec![false; workload.locks as usize],
            semaphores: vec![false; workload.semaphores as usize],
            channels: vec![false; workload.channels as usize],
            threads: vec![false; workload.threads.len()],
        }
    }

    fn add(&mut self, program: &[Step]) {
        for step in program {
            match *step {
                Step::Barrier(i) => self.barriers[i as usize] = true,
                Step::Unlock(i) => self.locks[i as usize] = true,
                Step::Wake(i) | Step::WakeSync(i) => self.semaphores[i as usize] = true,
                Step::Send { channel, .. } => self.channels[channel as usize] = true,
                Step::Fork(i) => self.threads[i as usize] = true,
                _ => {}
            }
        }
    }

    fn frees(&self, step: Step) -> bool {
        match step {
            Step::Barrier(i) => self.barriers[i as usize],
            Step::Lock(i) => self.locks[i as usize],
            Step::Wait(i) => self.semaphores[i as usize],
            Step::Receive { channel, .. } => self.channels[channel as usize],
            _ => true,
        }
    }
}

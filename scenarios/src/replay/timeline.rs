//! Follows every task of a history and writes down what it did as steps of a program.

use std::collections::BTreeMap;

use cpu_model::Class;
use trace::{Event, History, SwitchState};

use crate::workload::{Draw, Spread, Step, Work};

/// What a task executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    class: Class,
    rate_permille: u32,
    stall_permille: u32,
}

/// What a task executes before the history says so.
const SCALAR: Kind = Kind { class: Class::Scalar, rate_permille: 1000, stall_permille: 0 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not seen yet.
    Unseen,
    /// Forked and not yet woken.
    Forked,
    Runnable,
    /// On a CPU; its run time is written down up to this time.
    Running(u64),
    /// Off its CPU since this time.
    Blocked(u64),
}

/// What is known of a task while the history passes by.
pub(super) struct Track {
    state: State,
    kind: Kind,
    /// Run time by kind since the last wait, not yet a step.
    piece: Vec<(Kind, u64)>,
    /// Compute steps hold nanoseconds until the frequency is applied.
    pub(super) program: Vec<Step>,
    pub(super) arrival_ns: u64,
    /// Time on a CPU, from switch to switch.
    pub(super) ran_ns: u64,
    /// Time the kernel accounted, where it said so.
    pub(super) accounted_ns: Option<u64>,
}

impl Track {
    /// Of its compute steps.
    pub(super) fn most_demanding_class(&self) -> Class {
        let class = |step: &Step| match step {
            Step::Compute(work) => Some(work.class),
            _ => None,
        };
        self.program.iter().filter_map(class).max().unwrap_or_default()
    }
}

/// All tasks of a history.
pub(super) struct Timeline {
    start_ns: u64,
    now_ns: u64,
    pub(super) tracks: BTreeMap<u32, Track>,
    on_cpu: BTreeMap<u32, u32>,
    /// Number of the semaphore on which a task waits for others.
    semaphores: BTreeMap<u32, u32>,
    /// Wake-ups that stayed dependencies.
    pub(super) dependencies: u64,
    /// Wake-ups that became sleeps.
    pub(super) sleeps: u64,
    /// Switches whose outgoing task was not the one that had come.
    pub(super) broken_switches: u64,
}

impl Timeline {
    /// Follows these tasks; all others count as devices.
    pub(super) fn follow(history: &History, tasks: impl Iterator<Item = u32>) -> Self {
        let track = |task: u32| {
            let program = Vec::new();
            let state = State::Unseen;
            let (arrival_ns, ran_ns, accounted_ns) = (0, 0, None);
            let piece = Vec::new();
            (task, Track { state, kind: SCALAR, piece, program, arrival_ns, ran_ns, accounted_ns })
        };
        let start_ns = history.header.start_ns;
        let mut timeline = Self {
            start_ns,
            now_ns: start_ns,
            tracks: tasks.map(track).collect(),
            on_cpu: BTreeMap::new(),
            semaphores: BTreeMap::new(),
            dependencies: 0,
            sleeps: 0,
            broken_switches: 0,
        };
        for record in &history.records {
            timeline.now_ns = timeline.now_ns.max(record.time_ns);
            timeline.apply(&record.event);
        }
        timeline.now_ns = timeline.now_ns.max(history.header.end_ns);
        for track in timeline.tracks.values_mut() {
            track.run_until(timeline.now_ns);
            track.end_piece();
        }
        timeline
    }

    pub(super) fn semaphores(&self) -> u32 {
        self.semaphores.len() as u32
    }

    fn apply(&mut self, event: &Event) {
        match *event {
            Event::Switch { cpu, prev, state, next } => self.switch(cpu, prev, state, next),
            Event::Wake { task, by, .. } => self.wake(task, by),
            Event::Fork { task, by } => self.fork(task, by),
            Event::Phase { task, class, rate_permille, stall_permille } => {
                if let Some(track) = self.tracks.get_mut(&task) {
                    track.run_until(self.now_ns);
                    track.kind = Kind { class, rate_permille, stall_permille };
                }
            }
            Event::Runtime { task, ns } => {
                if let Some(track) = self.tracks.get_mut(&task) {
                    let so_far = track.accounted_ns.unwrap_or(0);
                    track.accounted_ns = Some(so_far.saturating_add(ns));
                }
            }
            Event::Migrate { .. }
            | Event::Overhead { .. }
            | Event::License { .. }
            | Event::Frequency { .. }
            | Event::Registers { .. } => {}
        }
    }

    fn switch(&mut self, cpu: u32, prev: u32, state: SwitchState, next: u32) {
        let now_ns = self.now_ns;
        match self.on_cpu.insert(cpu, next) {
            // The first task seen to leave a CPU ran there since the recording began.
            None => {
                let track = self.tracks.get_mut(&prev);
                if let Some(track) = track.filter(|track| track.state == State::Unseen) {
                    track.state = State::Running(self.start_ns);
                }
            }
            Some(before) if before != prev => {
                self.broken_switches += 1;
                if let Some(track) = self.tracks.get_mut(&before) {
                    track.leave(now_ns, SwitchState::Runnable);
                }
            }
            Some(_) => {}
        }
        if let Some(track) = self.tracks.get_mut(&prev) {
            track.leave(now_ns, state);
        }
        if let Some(track) = self.tracks.get_mut(&next) {
            if let State::Blocked(since_ns) = track.state {
                track.sleep(now_ns - since_ns);
                self.sleeps += 1;
            }
            track.run_until(now_ns);
            track.state = State::Running(now_ns);
        }
    }

    fn wake(&mut self, task: u32, by: u32) {
        let now_ns = self.now_ns;
        let Some(state) = self.tracks.get(&task).map(|track| track.state) else { return };
        match state {
            State::Unseen | State::Blocked(_) if self.runs(by) && by != task => {
                self.depend(task, by);
            }
            State::Blocked(since_ns) => {
                self.sleeps += 1;
                if let Some(track) = self.tracks.get_mut(&task) {
                    track.sleep(now_ns - since_ns);
                }
            }
            State::Unseen => {
                if let Some(track) = self.tracks.get_mut(&task) {
                    track.arrival_ns = now_ns - self.start_ns;
                }
            }
            State::Forked => {}
            State::Runnable | State::Running(_) => return,
        }
        if let Some(track) = self.tracks.get_mut(&task) {
            track.state = State::Runnable;
        }
    }

    fn fork(&mut self, task: u32, by: u32) {
        let unseen = |track: &Track| track.state == State::Unseen;
        if !self.tracks.get(&task).is_some_and(unseen) {
            return;
        }
        let dependent = self.runs(by) && by != task;
        if dependent {
            self.depend(task, by);
        }
        if let Some(track) = self.tracks.get_mut(&task) {
            track.state = State::Forked;
            if !dependent {
                track.arrival_ns = self.now_ns - self.start_ns;
            }
        }
    }

    fn runs(&self, task: u32) -> bool {
        self.tracks.get(&task).is_some_and(|track| matches!(track.state, State::Running(_)))
    }

    /// `task` waits until `by` has come this far.
    fn depend(&mut self, task: u32, by: u32) {
        let next = self.semaphores.len() as u32;
        let semaphore = *self.semaphores.entry(task).or_insert(next);
        if let Some(waker) = self.tracks.get_mut(&by) {
            waker.run_until(self.now_ns);
            waker.end_piece();
            waker.program.push(Step::Wake(semaphore));
        }
        if let Some(track) = self.tracks.get_mut(&task) {
            track.program.push(Step::Wait(semaphore));
        }
        self.dependencies += 1;
    }
}

impl Track {
    /// Writes down the run time up to now, if it runs.
    fn run_until(&mut self, now_ns: u64) {
        let State::Running(since_ns) = self.state else { return };
        let ns = now_ns.saturating_sub(since_ns);
        self.state = State::Running(now_ns);
        self.ran_ns += ns;
        match self.piece.last_mut() {
            Some((kind, so_far)) if *kind == self.kind => *so_far += ns,
            _ => self.piece.push((self.kind, ns)),
        }
    }

    fn leave(&mut self, now_ns: u64, state: SwitchState) {
        self.run_until(now_ns);
        if state == SwitchState::Runnable {
            self.state = State::Runnable;
        } else {
            self.end_piece();
            self.state = State::Blocked(now_ns);
        }
    }

    fn end_piece(&mut self) {
        for (kind, ns) in self.piece.drain(..).filter(|&(_, ns)| ns > 0) {
            self.program.push(Step::Compute(Work {
                ref_cycles: Draw { mean: ns, spread: Spread::Fixed },
                class: kind.class,
                rate_permille: kind.rate_permille,
                stall_permille: kind.stall_permille,
                integer: false,
                working_set_kib: 0,
            }));
        }
    }

    fn sleep(&mut self, ns: u64) {
        if ns > 0 {
            self.program.push(Step::Sleep(Draw { mean: ns, spread: Spread::Fixed }));
        }
    }
}

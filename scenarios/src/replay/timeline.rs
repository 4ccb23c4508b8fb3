//! Follows every task of a history and records its activity as steps of a program.

use std::collections::BTreeMap;

use cpu_model::Class;
use trace::{Event, History, SwitchState, Waker, Wakers};

use super::answers::Answers;
use super::messages::Messages;
use crate::workload::{Draw, Spread, Step, Work};

/// The instructions of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    class: Class,
    rate_permille: u32,
    stall_permille: u32,
}

/// Time on a CPU, and the same times the frequency of the CPU, which is its work.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    ns: u64,
    ns_khz: u128,
}

/// The instructions of a task before its first phase.
const SCALAR: Kind = Kind { class: Class::Scalar, rate_permille: 1000, stall_permille: 0 };

/// Plausible frequencies of CPUs; a history's values outside are mistakes and are not counted.
const KHZ_BELIEVED: std::ops::RangeInclusive<u32> = 100_000..=10_000_000;

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

/// State of a task at one point of the history.
pub(super) struct Track {
    state: State,
    kind: Kind,
    /// Work by kind since the last wait, not yet a step.
    piece: Vec<(Kind, Done)>,
    /// The task's current or last CPU.
    cpu: u32,
    pub(super) program: Vec<Step>,
    /// Time on a CPU of its longest compute step.
    pub(super) longest_ns: u64,
    pub(super) arrival_ns: u64,
    /// CPU before the task's first record, unless the task began then.
    pub(super) was_on: Option<u32>,
    /// Time on a CPU, from switch to switch.
    pub(super) ran_ns: u64,
    /// CPU time by the kernel's accounting, if recorded.
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

/// How fast the recorded machine ran, in kHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// As fast as the history tells, elsewhere this fast.
    Told { otherwise: u32 },
    /// This fast, whatever the history tells.
    Constant(u32),
}

/// All tasks of a history.
pub(super) struct Timeline<'h> {
    wakers: Wakers<'h>,
    answers: Answers,
    messages: Messages,
    /// Frequency of each core that the history has told, in kHz.
    khz: BTreeMap<u32, u32>,
    clock: Clock,
    threads_per_core: u32,
    /// CPUs whose numbers are the same in the replay as in the history.
    same_cpus: u32,
    start_ns: u64,
    now_ns: u64,
    pub(super) tracks: BTreeMap<u32, Track>,
    on_cpu: BTreeMap<u32, u32>,
    /// By task: number of the semaphore on which the task waits.
    semaphores: BTreeMap<u32, u32>,
    /// By task without wake-ups of other tasks so far: its parent.
    parents: BTreeMap<u32, u32>,
    /// Waits for another task that stayed dependencies.
    pub(super) dependencies: u64,
    /// Waits that became sleeps, the unclear ones included.
    pub(super) sleeps: u64,
    /// Sleeps that may have been waits for another task.
    pub(super) unclear: u64,
    /// Time that tasks ran at a frequency that the history tells.
    pub(super) known_khz_ns: u64,
    /// Switches whose outgoing task was not the one that had come.
    pub(super) broken_switches: u64,
}

impl<'h> Timeline<'h> {
    /// Follows these tasks; all other tasks count as devices. The first `same_cpus` CPUs are those
    /// of the replay.
    pub(super) fn follow(
        history: &'h History,
        tasks: impl Iterator<Item = u32>,
        clock: Clock,
        same_cpus: u32,
    ) -> Self {
        let track = |task: u32| (task, Track::new());
        let start_ns = history.header.start_ns;
        let mut timeline = Self {
            wakers: Wakers::of(history),
            answers: Answers::of(history),
            messages: Messages::of(history),
            khz: BTreeMap::new(),
            clock,
            threads_per_core: history.header.threads_per_core.unwrap_or(1).max(1),
            same_cpus,
            start_ns,
            now_ns: start_ns,
            tracks: tasks.map(track).collect(),
            on_cpu: BTreeMap::new(),
            semaphores: BTreeMap::new(),
            parents: BTreeMap::new(),
            dependencies: 0,
            sleeps: 0,
            unclear: 0,
            known_khz_ns: 0,
            broken_switches: 0,
        };
        for record in &history.records {
            timeline.now_ns = timeline.now_ns.max(record.time_ns);
            timeline.apply(&record.event);
        }
        timeline.now_ns = timeline.now_ns.max(history.header.end_ns);
        let tasks: Vec<u32> = timeline.tracks.keys().copied().collect();
        for task in tasks {
            timeline.run_until_now(task);
            timeline.track(task, Track::end_piece);
        }
        timeline
    }

    pub(super) fn semaphores(&self) -> u32 {
        self.semaphores.len() as u32
    }

    fn apply(&mut self, event: &Event) {
        match *event {
            Event::Switch { cpu, prev, state, next } => self.switch(cpu, prev, state, next),
            Event::Wake { task, by, cpu, on, sync } => {
                self.first_seen(task, cpu);
                self.wake(task, by, on, sync);
            }
            Event::Exec { task } if self.runs(task) => {
                self.add_step(task, Step::Exec);
            }
            Event::Send { task, channel, bytes } => self.send(task, channel, bytes),
            Event::Unsent { task, channel, bytes } => self.unsend(task, channel, bytes),
            Event::Receive { task, channel, bytes } => self.receive(task, channel, bytes),
            Event::Fork { task, by } => self.fork(task, by),
            Event::Phase { task, class, rate_permille, stall_permille } => {
                self.run_until_now(task);
                let kind = Kind { class, rate_permille, stall_permille };
                self.track(task, |track| track.kind = kind);
            }
            Event::Runtime { task, ns } => self.track(task, |track| {
                let so_far = track.accounted_ns.unwrap_or(0);
                track.accounted_ns = Some(so_far.saturating_add(ns));
            }),
            Event::Frequency { core, khz } => self.frequency(core, khz),
            Event::Migrate { task, from, .. } => self.first_seen(task, from),
            Event::Exec { .. }
            | Event::Overhead { .. }
            | Event::License { .. }
            | Event::Decision { .. }
            | Event::Registers { .. }
            | Event::Stack { .. }
            | Event::Counters { .. }
            | Event::Pause { .. } => {}
        }
    }

    /// The first record of a task names its CPU.
    fn first_seen(&mut self, task: u32, cpu: u32) {
        let cpu = Some(cpu).filter(|&cpu| cpu < self.same_cpus);
        self.track(task, |track| {
            if track.state == State::Unseen && track.was_on.is_none() {
                track.was_on = cpu;
            }
        });
    }

    fn switch(&mut self, cpu: u32, prev: u32, state: SwitchState, next: u32) {
        let now_ns = self.now_ns;
        self.first_seen(prev, cpu);
        self.first_seen(next, cpu);
        match self.on_cpu.insert(cpu, next) {
            // The first task that leaves a CPU in the history ran on that CPU since its beginning.
            None => {
                let start_ns = self.start_ns;
                self.track(prev, |track| {
                    if track.state == State::Unseen {
                        track.state = State::Running(start_ns);
                        track.cpu = cpu;
                    }
                });
            }
            Some(before) if before != prev => {
                self.broken_switches += 1;
                self.run_until_now(before);
                self.track(before, |track| track.leave(now_ns, SwitchState::Runnable));
            }
            Some(_) => {}
        }
        self.run_until_now(prev);
        self.track(prev, |track| track.leave(now_ns, state));
        self.run_until_now(next);
        if let Some(track) = self.tracks.get_mut(&next) {
            match track.state {
                State::Blocked(since_ns) => {
                    track.sleep(now_ns - since_ns, None);
                    self.sleeps += 1;
                }
                // Its wake-up was not recorded.
                State::Unseen => track.arrival_ns = now_ns - self.start_ns,
                State::Forked | State::Runnable | State::Running(_) => {}
            }
            track.cpu = cpu;
            track.state = State::Running(now_ns);
        }
    }

    fn wake(&mut self, task: u32, by: u32, on: Option<u32>, sync: Option<bool>) {
        let now_ns = self.now_ns;
        let Some(state) = self.tracks.get(&task).map(|track| track.state) else { return };
        if matches!(state, State::Runnable | State::Running(_)) {
            return;
        }
        let waker =
            if self.runs(by) && by != task { self.wakers.of_wake(task, by) } else { Waker::Device };
        match state {
            State::Unseen | State::Blocked(_) if waker == Waker::Task => {
                self.depend(task, by, sync);
            }
            State::Blocked(since_ns) => {
                self.sleeps += 1;
                self.unclear += u64::from(waker == Waker::Unclear);
                let on = on.filter(|&cpu| cpu < self.same_cpus);
                self.track(task, |track| track.sleep(now_ns - since_ns, on));
            }
            State::Unseen => {
                let arrival_ns = now_ns - self.start_ns;
                self.track(task, |track| track.arrival_ns = arrival_ns);
            }
            State::Forked | State::Runnable | State::Running(_) => {}
        }
        self.track(task, |track| track.state = State::Runnable);
    }

    fn fork(&mut self, task: u32, by: u32) {
        let unseen = |track: &Track| track.state == State::Unseen;
        if !self.tracks.get(&task).is_some_and(unseen) {
            return;
        }
        let dependent = self.runs(by) && by != task;
        if dependent {
            self.run_until_now(by);
            self.track(by, |parent| {
                parent.end_piece();
                parent.program.push(Step::Fork(task));
            });
            self.dependencies += 1;
            self.parents.insert(task, by);
        }
        let arrival_ns = self.now_ns - self.start_ns;
        self.track(task, |track| {
            track.state = State::Forked;
            if !dependent {
                track.arrival_ns = arrival_ns;
            }
        });
    }

    fn runs(&self, task: u32) -> bool {
        self.tracks.get(&task).is_some_and(|track| matches!(track.state, State::Running(_)))
    }

    /// `task`, which is blocked, waits until `by` has come this far.
    fn depend(&mut self, task: u32, by: u32, sync: Option<bool>) {
        self.run_until_now(by);
        self.track(by, Track::end_piece);
        if !self.messages.known && self.answers.came_early(task, by) {
            // At the latest when the task blocked, and before its next question.
            let semaphore = self.semaphore(by);
            let wake = self.wake_step(by, task, None, semaphore);
            self.track(task, |track| track.program.push(wake));
            self.track(by, |track| track.program.push(Step::Wait(semaphore)));
        }
        let semaphore = self.semaphore(task);
        let wake = self.wake_step(task, by, sync, semaphore);
        self.track(by, |track| track.program.push(wake));
        self.track(task, |track| track.program.push(Step::Wait(semaphore)));
        self.dependencies += 1;
    }

    /// Processes wake each other by pipes, sockets and their end, threads of a process by a futex,
    /// and a child first of all the parent that waits for its `execve` (`vfork`).
    fn wake_step(&mut self, task: u32, by: u32, sync: Option<bool>, semaphore: u32) -> Step {
        let vforked = self.parents.remove(&by) == Some(task);
        if sync.unwrap_or_else(|| !vforked && self.wakers.between_processes(task, by)) {
            Step::WakeSync(semaphore)
        } else {
            Step::Wake(semaphore)
        }
    }

    /// Number of the semaphore on which the task waits.
    fn semaphore(&mut self, task: u32) -> u32 {
        let next = self.semaphores.len() as u32;
        *self.semaphores.entry(task).or_insert(next)
    }

    pub(super) fn channels(&self) -> u32 {
        self.messages.count()
    }

    /// The running task takes this step after the work that it did so far.
    fn add_step(&mut self, task: u32, step: Step) {
        self.run_until_now(task);
        self.track(task, |track| {
            track.end_piece();
            track.program.push(step);
        });
    }

    fn send(&mut self, task: u32, channel: u32, bytes: u64) {
        if !self.runs(task) {
            return;
        }
        let Some(number) = self.messages.sent(task, channel, bytes) else { return };
        self.add_step(task, Step::Send { channel: number, bytes });
    }

    fn unsend(&mut self, task: u32, channel: u32, bytes: u64) {
        let Some(number) = self.messages.number(channel) else { return };
        let Some(track) = self.tracks.get_mut(&task) else { return };
        let last = track.program.iter_mut().rev().find_map(|step| match step {
            Step::Send { channel, bytes } if *channel == number => Some(bytes),
            _ => None,
        });
        if let Some(sent) = last {
            let less = bytes.min(*sent);
            *sent -= less;
            self.messages.unsent(channel, less);
        }
    }

    fn receive(&mut self, task: u32, channel: u32, bytes: u64) {
        if !self.runs(task) {
            return;
        }
        let Some((number, bytes)) = self.messages.received(task, channel, bytes) else { return };
        self.add_step(task, Step::Receive { channel: number, bytes });
    }

    /// The tasks of the core did their work so far at its old frequency.
    fn frequency(&mut self, core: u32, khz: u32) {
        if !KHZ_BELIEVED.contains(&khz) || matches!(self.clock, Clock::Constant(_)) {
            return;
        }
        let first = core.saturating_mul(self.threads_per_core);
        for cpu in first..first.saturating_add(self.threads_per_core) {
            if let Some(&task) = self.on_cpu.get(&cpu) {
                self.run_until_now(task);
            }
        }
        self.khz.insert(core, khz);
    }

    /// Records the work of a task up to now, if running.
    fn run_until_now(&mut self, task: u32) {
        let Some(track) = self.tracks.get_mut(&task) else { return };
        let known = self.khz.get(&(track.cpu / self.threads_per_core)).copied();
        let (Clock::Told { otherwise } | Clock::Constant(otherwise)) = self.clock;
        let ns = track.run_until(self.now_ns, known.unwrap_or(otherwise));
        if known.is_some() {
            self.known_khz_ns = self.known_khz_ns.saturating_add(ns);
        }
    }

    fn track(&mut self, task: u32, change: impl FnOnce(&mut Track)) {
        if let Some(track) = self.tracks.get_mut(&task) {
            change(track);
        }
    }
}

impl Track {
    fn new() -> Self {
        Self {
            state: State::Unseen,
            kind: SCALAR,
            piece: Vec::new(),
            cpu: 0,
            program: Vec::new(),
            longest_ns: 0,
            arrival_ns: 0,
            was_on: None,
            ran_ns: 0,
            accounted_ns: None,
        }
    }

    /// Records the work up to now, if running; returns its time.
    fn run_until(&mut self, now_ns: u64, khz: u32) -> u64 {
        let State::Running(since_ns) = self.state else { return 0 };
        let ns = now_ns.saturating_sub(since_ns);
        self.state = State::Running(now_ns);
        self.ran_ns += ns;
        if self.piece.last().is_none_or(|(kind, _)| *kind != self.kind) {
            self.piece.push((self.kind, Done::default()));
        }
        if let Some((_, done)) = self.piece.last_mut() {
            done.ns += ns;
            done.ns_khz += u128::from(ns) * u128::from(khz);
        }
        ns
    }

    /// Leaves its CPU; its work so far is written down.
    fn leave(&mut self, now_ns: u64, state: SwitchState) {
        if state == SwitchState::Runnable {
            self.state = State::Runnable;
        } else {
            self.end_piece();
            self.state = State::Blocked(now_ns);
        }
        if state == SwitchState::Dead {
            self.break_last_promise();
        }
    }

    /// The kernel believes no promise of a task that ends (`PF_EXITING`, `select_task_rq_fair`).
    fn break_last_promise(&mut self) {
        let computes = |step: &&mut Step| matches!(step, Step::Compute(_));
        let last = self.program.iter_mut().rev().find(|step| !computes(step));
        if let Some(step) = last
            && let Step::WakeSync(semaphore) = *step
        {
            *step = Step::Wake(semaphore);
        }
    }

    /// A task that wants to run now computes for that long more.
    pub(super) fn go_on(&mut self, ns: u64, khz: u32) {
        if matches!(self.state, State::Runnable | State::Running(_)) {
            let done = Done { ns, ns_khz: u128::from(ns) * u128::from(khz) };
            self.piece.push((self.kind, done));
            self.end_piece();
        }
    }

    fn end_piece(&mut self) {
        for (kind, done) in self.piece.drain(..).filter(|(_, done)| done.ns > 0) {
            self.longest_ns = self.longest_ns.max(done.ns);
            // A piece of more than 2^64 cycles is refused for its time.
            let cycles = u64::try_from(done.ns_khz / 1_000_000).unwrap_or(u64::MAX).max(1);
            self.program.push(Step::Compute(Work {
                ref_cycles: Draw { mean: cycles, spread: Spread::Fixed },
                class: kind.class,
                rate_permille: kind.rate_permille,
                stall_permille: kind.stall_permille,
                integer: false,
                working_set_kib: 0,
            }));
        }
    }

    /// Sleeps until an interrupt, which may be known to come on a CPU. One on the CPU where the
    /// task slept is taken for its own timer.
    fn sleep(&mut self, ns: u64, on: Option<u32>) {
        match on.filter(|&cpu| cpu != self.cpu) {
            _ if ns == 0 => {}
            Some(cpu) => self.program.push(Step::Interrupt { after_ns: ns, cpu }),
            None => self.program.push(Step::Sleep(Draw { mean: ns, spread: Spread::Fixed })),
        }
    }
}

//! Goes through a history and the policy's notes in the order in which they came about.

use scenarios::Workload;
use simulator::{Note, Outcome};
use trace::{Event, SwitchState};

use crate::bounds::OWED_MIN_NS;
use crate::judge::Judge;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Off,
    Waiting { since_ns: u64 },
    Running { cpu: usize, since_ns: u64 },
}

#[derive(Clone, Debug)]
pub struct Task {
    pub state: State,
    pub weight: u32,
    /// CPUs it may use, as bits.
    pub mask: u64,
    pub vtime_ns: u64,
    pub owed_ns: u64,
    /// When it went to sleep, and what was owed then.
    pub asleep: Option<(u64, u64)>,
    /// CPU time less refunds, and bills paid.
    pub compensated_ns: i64,
}

#[derive(Clone, Copy, Debug)]
pub struct Quiet {
    pub from_ns: u64,
    pub creditor: usize,
    pub gain_permille: u32,
}

/// The machine at one point of a run.
pub struct Walk {
    pub now_ns: u64,
    pub tasks: Vec<Task>,
    pub running: Vec<Option<usize>>,
    pub quiet: Vec<Option<Quiet>>,
    pub threads_per_core: usize,
    /// Accounted, and not known yet whether it goes on.
    open: Option<(usize, usize)>,
}

impl Task {
    /// Its virtual time as if it were accounted now, without refund and bill.
    pub fn vtime_at(&self, now_ns: u64) -> u64 {
        let ran_ns = match self.state {
            State::Running { since_ns, .. } => now_ns - since_ns,
            _ => 0,
        };
        self.vtime_ns + ran_ns * 1024 / u64::from(self.weight)
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting { .. })
    }
}

/// Hands everything that happens to the judge.
pub fn walk(workload: &Workload, outcome: &Outcome, judge: &mut Judge) -> Result<(), String> {
    let cpus = workload.machine.cpus() as usize;
    let task = |thread: &scenarios::Thread| Task {
        state: State::Off,
        weight: policy::weight(thread.nice),
        mask: match thread.affinity.cpus.as_slice() {
            [] => (1 << cpus) - 1,
            some => some.iter().fold(0, |mask, cpu| mask | 1 << cpu),
        },
        vtime_ns: 0,
        owed_ns: 0,
        asleep: None,
        compensated_ns: 0,
    };
    let mut walk = Walk {
        now_ns: 0,
        tasks: workload.threads.iter().map(task).collect(),
        running: vec![None; cpus],
        quiet: vec![None; cpus],
        threads_per_core: workload.machine.threads_per_core as usize,
        open: None,
    };
    let records = &outcome.history.as_ref().unwrap().records;
    let mut notes = outcome.notes.iter().peekable();
    for at in 0..=records.len() {
        while let Some(noted) = notes.next_if(|noted| noted.records <= at) {
            walk.until(noted.time_ns, judge)?;
            walk.note(&noted.note, judge)?;
        }
        if let Some(record) = records.get(at) {
            walk.until(record.time_ns, judge)?;
            walk.record(&record.event, judge);
        }
    }
    walk.until(outcome.simulated_ns, judge)?;
    for task in 0..walk.tasks.len() {
        if walk.tasks[task].is_waiting() {
            judge.waited(&walk, task);
        }
    }
    judge.end(&walk);
    Ok(())
}

impl Walk {
    fn until(&mut self, now_ns: u64, judge: &mut Judge) -> Result<(), String> {
        if now_ns > self.now_ns {
            self.goes_on(judge);
            judge.instant_ends(self).map_err(|wrong| format!("at {} ns: {wrong}", self.now_ns))?;
            self.now_ns = now_ns;
        }
        Ok(())
    }

    /// A task that was accounted and not taken away began another slice.
    fn goes_on(&mut self, judge: &mut Judge) {
        if let Some((cpu, task)) = self.open.take() {
            judge.picked(self, cpu, task);
        }
    }

    fn note(&mut self, note: &Note, judge: &mut Judge) -> Result<(), String> {
        match *note {
            Note::Account { tid, vtime_ns, paid_ns, owed_ns, .. } => {
                let index = tid as usize - 1;
                self.goes_on(judge);
                let now_ns = self.now_ns;
                if let State::Running { cpu, since_ns } = self.tasks[index].state {
                    let task = &mut self.tasks[index];
                    task.compensated_ns += (now_ns - since_ns + paid_ns) as i64;
                    task.state = State::Running { cpu, since_ns: now_ns };
                    self.open = Some((cpu, index));
                }
                let before_ns = self.tasks[index].vtime_ns;
                self.tasks[index].vtime_ns = vtime_ns;
                judge.accounted(self, index, before_ns, note)?;
                self.tasks[index].owed_ns = owed_ns;
                self.tasks[index].asleep = None;
                if self.tasks[index].is_waiting() {
                    judge.waits(self, index);
                }
            }
            Note::Quiet { cpu, tid, gain_permille } => {
                let (from_ns, creditor) = (self.now_ns, tid as usize - 1);
                self.quiet[cpu as usize] = Some(Quiet { from_ns, creditor, gain_permille });
            }
            Note::QuietOver { cpu } => {
                if let Some(quiet) = self.quiet[cpu as usize].take() {
                    judge.was_quiet(self, cpu as usize, &quiet);
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, event: &Event, judge: &mut Judge) {
        match *event {
            Event::Switch { cpu, prev, state, next } => {
                self.switch(cpu as usize, (prev as usize, state), next as usize, judge);
            }
            Event::Wake { task, .. } => {
                self.goes_on(judge);
                // It is placed by the note that follows.
                self.tasks[task as usize - 1].state = State::Waiting { since_ns: self.now_ns };
            }
            Event::Decision { victim, refund_ns, .. } => {
                self.tasks[victim as usize - 1].compensated_ns -= refund_ns as i64;
            }
            _ => {}
        }
    }

    fn switch(
        &mut self,
        cpu: usize,
        (prev, state): (usize, SwitchState),
        next: usize,
        judge: &mut Judge,
    ) {
        if self.open.is_some_and(|(at, task)| at == cpu && task + 1 == prev) {
            self.open = None;
        }
        self.goes_on(judge);
        self.running[cpu] = next.checked_sub(1);
        if let Some(prev) = prev.checked_sub(1) {
            if state == SwitchState::Runnable {
                self.tasks[prev].state = State::Waiting { since_ns: self.now_ns };
                judge.waits(self, prev);
            } else {
                self.tasks[prev].state = State::Off;
                self.tasks[prev].asleep = Some((self.now_ns, self.tasks[prev].owed_ns));
            }
        }
        if let Some(next) = next.checked_sub(1) {
            judge.waited(self, next);
            self.tasks[next].state = State::Running { cpu, since_ns: self.now_ns };
            judge.picked(self, cpu, next);
        }
    }

    /// Whether a task beside the CPU is owed so much that the CPU may be quiet for it.
    pub fn may_be_repaid(&self, cpu: usize) -> bool {
        let mut beside = self.siblings(cpu).filter_map(|sibling| self.running[sibling]);
        beside.any(|task| self.tasks[task].owed_ns >= OWED_MIN_NS)
    }

    fn siblings(&self, cpu: usize) -> impl Iterator<Item = usize> + use<> {
        let first = cpu / self.threads_per_core * self.threads_per_core;
        (first..first + self.threads_per_core).filter(move |&other| other != cpu)
    }
}

//! Follows a history and the policy's events in the order of time.

use scenarios::Workload;
use simulator::{Outcome, PolicyEvent};
use trace::{Event, SwitchState};

use crate::bounds::DEFICIT_MIN_NS;
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
    /// Affinity mask, as bits.
    pub mask: u64,
    pub vtime_ns: u64,
    pub deficit_ns: u64,
    /// When the task went to sleep, and its deficit then.
    pub asleep: Option<(u64, u64)>,
    /// CPU time less refunds, and bills paid.
    pub compensated_ns: i64,
}

#[derive(Clone, Copy, Debug)]
pub struct ForcedIdle {
    pub from_ns: u64,
    pub creditor: usize,
    pub gain_permille: u32,
}

/// The machine at one point of a run.
pub struct Walk {
    pub now_ns: u64,
    pub tasks: Vec<Task>,
    pub running: Vec<Option<usize>>,
    pub forced_idle: Vec<Option<ForcedIdle>>,
    pub threads_per_core: usize,
    /// CPU and task that was accounted, until the next record tells whether its slice was renewed.
    open: Option<(usize, usize)>,
}

impl Task {
    /// Virtual time of the task if accounted now, without refund and bill.
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
        deficit_ns: 0,
        asleep: None,
        compensated_ns: 0,
    };
    let mut walk = Walk {
        now_ns: 0,
        tasks: workload.threads.iter().map(task).collect(),
        running: vec![None; cpus],
        forced_idle: vec![None; cpus],
        threads_per_core: workload.machine.threads_per_core as usize,
        open: None,
    };
    let records = &outcome.history.as_ref().unwrap().records;
    let mut policy_records = outcome.policy_records.iter().peekable();
    for at in 0..=records.len() {
        while let Some(record) = policy_records.next_if(|record| record.records <= at) {
            walk.until(record.time_ns, judge)?;
            walk.apply(&record.event, judge)?;
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

    fn apply(&mut self, event: &PolicyEvent, judge: &mut Judge) -> Result<(), String> {
        match *event {
            PolicyEvent::Account { tid, vtime_ns, paid_ns, deficit_ns, .. } => {
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
                judge.accounted(self, index, before_ns, event)?;
                self.tasks[index].deficit_ns = deficit_ns;
                self.tasks[index].asleep = None;
                if self.tasks[index].is_waiting() {
                    judge.waits(self, index);
                }
            }
            PolicyEvent::ForcedIdle { cpu, tid, gain_permille } => {
                let (from_ns, creditor) = (self.now_ns, tid as usize - 1);
                self.forced_idle[cpu as usize] =
                    Some(ForcedIdle { from_ns, creditor, gain_permille });
            }
            PolicyEvent::ForcedIdleEnds { cpu } => {
                if let Some(idle) = self.forced_idle[cpu as usize].take() {
                    judge.ends_forced_idle(self, cpu as usize, &idle);
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
                // The policy's event that follows places the task.
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
                self.tasks[prev].asleep = Some((self.now_ns, self.tasks[prev].deficit_ns));
            }
        }
        if let Some(next) = next.checked_sub(1) {
            judge.waited(self, next);
            self.tasks[next].state = State::Running { cpu, since_ns: self.now_ns };
            judge.picked(self, cpu, next);
        }
    }

    /// Whether the deficit of a task on a sibling is large enough for a forced idle of the CPU.
    pub fn may_be_repaid(&self, cpu: usize) -> bool {
        let mut beside = self.siblings(cpu).filter_map(|sibling| self.running[sibling]);
        beside.any(|task| self.tasks[task].deficit_ns >= DEFICIT_MIN_NS)
    }

    fn siblings(&self, cpu: usize) -> impl Iterator<Item = usize> + use<> {
        let first = cpu / self.threads_per_core * self.threads_per_core;
        (first..first + self.threads_per_core).filter(move |&other| other != cpu)
    }
}

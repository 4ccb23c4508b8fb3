//! Follows a history record by record and refuses impossible records.

use cpu_model::CpuModel;
use scenarios::{Thread, Workload};
use trace::{Event, History, Record, SwitchState};

use crate::licenses::Licenses;

/// State of a task by the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Absent,
    Waiting { since_ns: u64 },
    Running { cpu: usize, since_ns: u64 },
    Blocked,
    Ended,
}

/// Totals of one task, added up from the history alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Got {
    pub cpu_time_ns: u64,
    pub waited_ns: u64,
    pub slices: u64,
    pub migrations: u64,
    pub refunded_ns: u64,
    pub billed_ns: u64,
    last_cpu: Option<usize>,
}

/// Promises of a scheduler beyond possible histories.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    /// No CPU idles at the end of an instant while a task waits whose affinity allows the CPU.
    pub work_conserving: bool,
}

/// The state of the machine at one point of its history.
pub struct Replay<'a> {
    workload: &'a Workload,
    now_ns: u64,
    tasks: Vec<State>,
    got: Vec<Got>,
    running: Vec<Option<usize>>,
    /// By task: affinity mask, as bits.
    masks: Vec<u64>,
    licenses: Licenses<'a>,
    promises: Promises,
}

/// Checks a whole history. Returns the totals of each task, or the first fault with its time.
pub fn replay(
    cpu: &CpuModel,
    workload: &Workload,
    history: &History,
    promises: Promises,
) -> Result<Vec<Got>, String> {
    let cpus = workload.machine.cpus();
    let mask = |thread: &Thread| match thread.affinity.cpus.as_slice() {
        [] => u64::MAX >> (64 - cpus),
        some => some.iter().fold(0, |mask, cpu| mask | 1 << cpu),
    };
    let mut replay = Replay {
        workload,
        now_ns: history.header.start_ns,
        tasks: vec![State::Absent; workload.threads.len()],
        got: vec![Got::default(); workload.threads.len()],
        running: vec![None; cpus as usize],
        masks: workload.threads.iter().map(mask).collect(),
        licenses: Licenses::new(cpu, &workload.machine),
        promises,
    };
    for record in &history.records {
        replay.step(record).map_err(|wrong| format!("at {} ns: {wrong}", record.time_ns))?;
    }
    replay.end(history.header.end_ns)
}

impl Replay<'_> {
    fn step(&mut self, record: &Record) -> Result<(), String> {
        if record.time_ns < self.now_ns {
            return Err("time goes back".into());
        }
        if record.time_ns > self.now_ns {
            self.end_of_instant()?;
            self.now_ns = record.time_ns;
        }
        match record.event {
            Event::Switch { cpu, prev, state, next } => self.switch(cpu, prev, state, next),
            Event::Wake { task, by, .. } => self.wake(task, by),
            Event::Phase { task, class, rate_permille, .. } => {
                let task = self.task(task)?.ok_or("the idle task has a phase")?;
                self.licenses.phase(task, class, rate_permille);
                Ok(())
            }
            Event::License { core, level, rate_permille } => {
                self.licenses.license(core as usize, level, rate_permille, self.now_ns)
            }
            Event::Frequency { core, khz } => {
                self.licenses.frequency(core as usize, khz);
                Ok(())
            }
            Event::Overhead { cpu, .. } if self.running[cpu as usize].is_none() => {
                Err(format!("overhead on CPU {cpu}, which idles"))
            }
            Event::Overhead { .. } => Ok(()),
            Event::Decision { cpu, victim, culprit, slice_ns, refund_ns, bill_ns } => {
                let victim = self.task(victim)?.ok_or("the idle task gets time back")?;
                if self.running[cpu as usize] != Some(victim) || refund_ns > slice_ns {
                    return Err(format!("task {victim} gets {refund_ns} ns back on CPU {cpu}"));
                }
                self.got[victim].refunded_ns += refund_ns;
                if let Some(culprit) = self.task(culprit)? {
                    self.got[culprit].billed_ns += bill_ns;
                }
                Ok(())
            }
            ref other => Err(format!("a simulation does not record {other:?}")),
        }
    }

    fn task(&self, tid: u32) -> Result<Option<usize>, String> {
        match tid {
            0 => Ok(None),
            tid if tid as usize <= self.tasks.len() => Ok(Some(tid as usize - 1)),
            tid => Err(format!("there is no task {tid}")),
        }
    }

    fn switch(&mut self, cpu: u32, prev: u32, state: SwitchState, next: u32) -> Result<(), String> {
        let cpu = cpu as usize;
        let (prev, next) = (self.task(prev)?, self.task(next)?);
        let on_cpu = *self.running.get(cpu).ok_or("no such CPU")?;
        if on_cpu != prev {
            return Err(format!("CPU {cpu} leaves {prev:?} but ran {on_cpu:?}"));
        }
        if prev == next {
            return Err(format!("CPU {cpu} switches from {prev:?} to itself"));
        }
        if let Some(task) = prev {
            self.leave(task, state);
        }
        self.running[cpu] = next;
        if let Some(task) = next {
            self.come(cpu, task)?;
        }
        self.licenses.running(cpu, next);
        Ok(())
    }

    fn leave(&mut self, task: usize, state: SwitchState) {
        if let State::Running { since_ns, .. } = self.tasks[task] {
            self.got[task].cpu_time_ns += self.now_ns - since_ns;
        }
        self.tasks[task] = match state {
            SwitchState::Runnable => State::Waiting { since_ns: self.now_ns },
            SwitchState::Blocked => State::Blocked,
            SwitchState::Dead => State::Ended,
        };
    }

    fn come(&mut self, cpu: usize, task: usize) -> Result<(), String> {
        let State::Waiting { since_ns } = self.tasks[task] else {
            return Err(format!("task {task} comes to CPU {cpu} but is {:?}", self.tasks[task]));
        };
        if self.masks[task] >> cpu & 1 == 0 {
            return Err(format!("task {task} may not use CPU {cpu}"));
        }
        let got = &mut self.got[task];
        got.waited_ns += self.now_ns - since_ns;
        got.slices += 1;
        got.migrations += u64::from(got.last_cpu.is_some_and(|last| last != cpu));
        got.last_cpu = Some(cpu);
        self.tasks[task] = State::Running { cpu, since_ns: self.now_ns };
        Ok(())
    }

    fn wake(&mut self, task: u32, by: u32) -> Result<(), String> {
        let task = self.task(task)?.ok_or("the idle task wakes")?;
        if let Some(waker) = self.task(by)?
            && !matches!(self.tasks[waker], State::Running { .. })
        {
            return Err(format!("task {waker} wakes another but does not run"));
        }
        if !matches!(self.tasks[task], State::Absent | State::Blocked) {
            return Err(format!("task {task} wakes but is {:?}", self.tasks[task]));
        }
        if self.now_ns < self.workload.threads[task].arrival_ns {
            return Err(format!("task {task} wakes before it arrives"));
        }
        self.tasks[task] = State::Waiting { since_ns: self.now_ns };
        Ok(())
    }

    fn end_of_instant(&mut self) -> Result<(), String> {
        if self.promises.work_conserving {
            self.refuse_idling()?;
        }
        self.licenses.end_of_instant(self.now_ns)
    }

    fn refuse_idling(&self) -> Result<(), String> {
        let idle = (0..self.running.len())
            .filter(|&cpu| self.running[cpu].is_none())
            .fold(0_u64, |mask, cpu| mask | 1 << cpu);
        if idle == 0 {
            return Ok(());
        }
        for (task, state) in self.tasks.iter().enumerate() {
            let free = idle & self.masks[task];
            if matches!(state, State::Waiting { .. }) && free != 0 {
                let cpu = free.trailing_zeros();
                return Err(format!("CPU {cpu} idles while task {task} waits"));
            }
        }
        Ok(())
    }

    fn end(mut self, end_ns: u64) -> Result<Vec<Got>, String> {
        if end_ns < self.now_ns {
            return Err(format!("records go on after the end at {end_ns} ns"));
        }
        if end_ns > self.now_ns {
            self.end_of_instant().map_err(|wrong| format!("after the last record: {wrong}"))?;
            self.now_ns = end_ns;
        }
        for task in 0..self.tasks.len() {
            match self.tasks[task] {
                State::Running { .. } => self.leave(task, SwitchState::Runnable),
                State::Waiting { since_ns } => self.got[task].waited_ns += end_ns - since_ns,
                State::Absent | State::Blocked | State::Ended => {}
            }
        }
        Ok(self.got)
    }
}

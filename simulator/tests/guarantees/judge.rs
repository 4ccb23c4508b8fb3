//! How near a run comes to each bound.

use simulator::PolicyEvent;

use crate::bounds::{
    BANK_NS, BILL_NS, Bounds, CREDIT_NS, DEFICIT_NS, FORCED_IDLE_NS, HALF_NS, WHOLE_NS, virtual_ns,
};
use crate::walk::{ForcedIdle, State, Task, Walk};

/// A quantity with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// How far a beginning task is ahead of a waiting one, in virtual time.
    Order,
    /// How long a task waits.
    Wait,
    /// How far a task that never sleeps is behind or ahead of its fair share.
    Lag,
    Lead,
    Bill,
    Deficit,
    /// Length of one forced idle.
    ForcedIdle,
    /// Time that forced idle repaid, over the idle compensation.
    Repaid,
}

pub const QUESTIONS: [Question; 8] = [
    Question::Order,
    Question::Wait,
    Question::Lag,
    Question::Lead,
    Question::Bill,
    Question::Deficit,
    Question::ForcedIdle,
    Question::Repaid,
];

/// One that waits.
#[derive(Clone, Copy, Debug, Default)]
struct Waiter {
    /// How far its virtual time is ahead of the least.
    lead_ns: u64,
    /// Tasks that ran meanwhile on the CPUs of its affinity, as bits.
    passed_by: u64,
    /// Forced idle of these CPUs meanwhile.
    forced_idle_ns: u64,
}

/// The largest ratios of a found quantity to its bound.
pub struct Judge {
    bounds: Bounds,
    /// No task sleeps, every weight's share is at most a CPU, and tasks outnumber CPUs.
    is_calm: bool,
    waiters: Vec<Waiter>,
    /// Tasks passed by at this instant: index, state at that time, by how much, and the bound.
    passed: Vec<(usize, State, u64, u64)>,
    idle_compensation_ns: Vec<u64>,
    given_ns: Vec<u64>,
    pub found: [f64; QUESTIONS.len()],
    /// Longest wait.
    pub waited_ns: u64,
}

impl Judge {
    pub fn new(bounds: Bounds, tasks: usize, is_calm: bool) -> Self {
        assert!(tasks <= 64, "bits");
        Self {
            bounds,
            is_calm,
            waiters: vec![Waiter::default(); tasks],
            passed: Vec::new(),
            idle_compensation_ns: vec![0; tasks],
            given_ns: vec![0; tasks],
            found: [0.0; QUESTIONS.len()],
            waited_ns: 0,
        }
    }

    fn find(&mut self, question: Question, found: u64, allowed: u64) {
        let ratio = found as f64 / allowed.max(1) as f64;
        let most = &mut self.found[question as usize];
        *most = most.max(ratio);
    }

    // --- Order and waiting ---

    /// A task begins to wait.
    pub fn waits(&mut self, walk: &Walk, task: usize) {
        let subject = &walk.tasks[task];
        let is_runnable = |task: &&Task| task.state != State::Off;
        let least = walk.tasks.iter().filter(is_runnable).map(|task| task.vtime_ns).min();
        let on_its_cpus = |&(cpu, _): &(usize, &Option<usize>)| subject.mask >> cpu & 1 == 1;
        let running = walk.running.iter().enumerate().filter(on_its_cpus);
        self.waiters[task] = Waiter {
            lead_ns: subject.vtime_ns - least.unwrap_or(subject.vtime_ns),
            passed_by: running.filter_map(|(_, &task)| task).fold(0, |bits, one| bits | 1 << one),
            forced_idle_ns: 0,
        };
    }

    /// A task begins a slice.
    pub fn picked(&mut self, walk: &Walk, cpu: usize, task: usize) {
        let more_ns = if walk.may_be_repaid(cpu) { WHOLE_NS } else { 0 };
        for (index, waiter) in walk.tasks.iter().enumerate() {
            if index == task || !waiter.is_waiting() || waiter.mask >> cpu & 1 == 0 {
                continue;
            }
            self.waiters[index].passed_by |= 1 << task;
            // A swapped task may arrive when another one begins to wait.
            if waiter.state == (State::Waiting { since_ns: walk.now_ns }) {
                continue;
            }
            let ahead_ns = walk.tasks[task].vtime_ns.saturating_sub(waiter.vtime_ns);
            self.passed.push((index, waiter.state, ahead_ns, self.bounds.price_ns + more_ns));
        }
    }

    /// A task has waited, until now.
    pub fn waited(&mut self, walk: &Walk, task: usize) {
        let subject = &walk.tasks[task];
        let State::Waiting { since_ns } = subject.state else { return };
        let waiter = self.waiters[task];
        let ceiling_ns = waiter.lead_ns + self.bounds.price_ns + WHOLE_NS + CREDIT_NS;
        let others_ns: u64 = (0..walk.tasks.len())
            .filter(|other| waiter.passed_by >> other & 1 == 1)
            .map(|other| ceiling_ns * u64::from(walk.tasks[other].weight) / 1024)
            .map(|charged_ns| charged_ns * self.bounds.stretch_permille / 1000)
            .map(|ran_ns| ran_ns + self.bounds.slice_ns)
            .sum();
        let forced_idle =
            walk.forced_idle.iter().enumerate().filter(|(cpu, _)| subject.mask >> cpu & 1 == 1);
        let still_ns: u64 = forced_idle
            .flat_map(|(_, idle)| idle)
            .map(|idle| walk.now_ns - idle.from_ns.max(since_ns))
            .sum();
        let cpus = u64::from(subject.mask.count_ones());
        let waited_ns = walk.now_ns - since_ns;
        self.waited_ns = self.waited_ns.max(waited_ns);
        let forced_idle_ns = waiter.forced_idle_ns + still_ns;
        self.find(Question::Wait, (waited_ns * cpus).saturating_sub(forced_idle_ns), others_ns);
    }

    /// No CPU idles, except by forced idle, while a task waits that its affinity allows there.
    pub fn instant_ends(&mut self, walk: &Walk) -> Result<(), String> {
        // A swapped task does not wait: the task arrives at the same instant.
        for (index, state, ahead_ns, allowed_ns) in std::mem::take(&mut self.passed) {
            if walk.tasks[index].state == state {
                self.find(Question::Order, ahead_ns, allowed_ns);
            }
        }
        for (cpu, running) in walk.running.iter().enumerate() {
            if running.is_some() || walk.forced_idle[cpu].is_some() {
                continue;
            }
            let waits = |task: &Task| task.is_waiting() && task.mask >> cpu & 1 == 1;
            if let Some(task) = walk.tasks.iter().position(waits) {
                return Err(format!("CPU {cpu} idles while task {task} waits"));
            }
        }
        Ok(())
    }

    // --- Bills and deficits ---

    /// A task has a new virtual time: after a slice, or on a wake-up.
    pub fn accounted(
        &mut self,
        walk: &Walk,
        index: usize,
        before_ns: u64,
        event: &PolicyEvent,
    ) -> Result<(), String> {
        let PolicyEvent::Account {
            vtime_ns,
            paid_ns,
            idle_compensation_ns,
            deficit_ns,
            banked_ns,
            ..
        } = *event
        else {
            return Ok(());
        };
        if vtime_ns < before_ns {
            return Err(format!("virtual time of task {index} goes back"));
        }
        self.find(Question::Bill, paid_ns, BILL_NS);
        self.find(Question::Deficit, deficit_ns, DEFICIT_NS);
        self.find(Question::Deficit, banked_ns, BANK_NS);
        if let Some((since_ns, asleep_with_ns)) = walk.tasks[index].asleep {
            let halvings = (walk.now_ns - since_ns) / HALF_NS;
            let left_ns = asleep_with_ns >> halvings.min(63);
            if deficit_ns > left_ns + idle_compensation_ns {
                return Err(format!(
                    "task {index} has a deficit of {deficit_ns} ns after {halvings} halvings"
                ));
            }
        }
        self.idle_compensation_ns[index] += idle_compensation_ns;
        if self.is_calm {
            self.judge_shares(walk);
        }
        Ok(())
    }

    /// The forced idle of a CPU ends.
    pub fn ends_forced_idle(&mut self, walk: &Walk, cpu: usize, idle: &ForcedIdle) {
        let forced_idle_ns = walk.now_ns - idle.from_ns;
        self.find(Question::ForcedIdle, forced_idle_ns, FORCED_IDLE_NS);
        self.given_ns[idle.creditor] += forced_idle_ns * u64::from(idle.gain_permille) / 1000;
        for (index, task) in walk.tasks.iter().enumerate() {
            let State::Waiting { since_ns } = task.state else { continue };
            if task.mask >> cpu & 1 == 1 {
                self.waiters[index].forced_idle_ns += walk.now_ns - idle.from_ns.max(since_ns);
            }
        }
    }

    // --- Shares ---

    fn judge_shares(&mut self, walk: &Walk) {
        if walk.now_ns == 0 {
            return;
        }
        let weights: u64 = walk.tasks.iter().map(|task| u64::from(task.weight)).sum();
        let vtime = |task: &Task| task.vtime_at(walk.now_ns);
        let sum = |task: &Task| u128::from(vtime(task)) * u128::from(task.weight);
        let mean = walk.tasks.iter().map(sum).sum::<u128>() / u128::from(weights);
        let mean = mean as u64;
        let lightest = walk.tasks.iter().map(|task| task.weight).min().unwrap_or(1024);
        let cpus = walk.running.len() as u64;
        let slice_ns = virtual_ns(self.bounds.slice_ns, lightest);
        let bill_ns = virtual_ns(BILL_NS, lightest);
        let bank_ns = virtual_ns(BANK_NS, lightest);
        let passed_ns = self.bounds.price_ns + WHOLE_NS + slice_ns;
        let first_ns = passed_ns + bill_ns;
        let lag_ns = first_ns + (cpus - 1) * (passed_ns + bank_ns);
        let lead_ns = first_ns + (cpus - 1) * lag_ns;
        for task in &walk.tasks {
            self.find(Question::Lag, mean.saturating_sub(vtime(task)), lag_ns);
            self.find(Question::Lead, vtime(task).saturating_sub(mean), lead_ns);
        }
    }

    /// The run is over.
    pub fn end(&mut self, walk: &Walk) {
        for task in 0..walk.tasks.len() {
            let still = walk.forced_idle.iter().flatten().filter(|idle| idle.creditor == task);
            let still_ns: u64 =
                still.map(|q| (walk.now_ns - q.from_ns) * u64::from(q.gain_permille) / 1000).sum();
            let given_ns = self.given_ns[task] + still_ns;
            self.find(Question::Repaid, given_ns, self.idle_compensation_ns[task]);
        }
    }
}

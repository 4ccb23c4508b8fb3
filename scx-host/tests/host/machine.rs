//! A machine that drives a host: tasks compute and sleep, time goes on in small steps.

use std::collections::VecDeque;

use scx_host::{Choice, Host, TaskSpec, Waker};

/// The endless behaviour of a task: computes, then sleeps.
#[derive(Clone, Copy, Debug)]
pub struct Habit {
    pub computes_ns: u64,
    pub sleeps_ns: u64,
}

/// Never sleeps.
pub const SPINS: Habit = Habit { computes_ns: u64::MAX, sleeps_ns: 0 };

#[derive(Clone, Debug)]
pub struct Task {
    pub number: usize,
    pub habit: Habit,
    pub runtime_ns: u64,
    pub left_ns: u64,
    /// When the task wakes; `None` while runnable.
    pub wakes_ns: Option<u64>,
    /// When the task woke, `None` once the task has run; and the length of each wait.
    pub woke_ns: Option<u64>,
    pub waits_ns: Vec<u64>,
}

pub struct Machine {
    pub host: Host,
    pub cpus: usize,
    pub now_ns: u64,
    pub tasks: Vec<Task>,
    /// The history: times, CPUs, and the tasks that they switched to.
    pub history: Vec<(u64, usize, Option<usize>)>,
    pub switches: u64,
    /// The order of CPUs that choose at the same instant.
    pub order: Order,
    /// A CPU that a real-time task runs on.
    pub released: Option<usize>,
    /// Length of a step.
    pub step_ns: u64,
    watched_ns: u64,
}

/// How ties between CPUs are broken.
pub enum Order {
    Ascending,
    Seeded(u64),
}

pub const STEP_NS: u64 = 100_000;
pub const TICK_NS: u64 = 1_000_000;

impl Machine {
    pub fn new(host: Host, cpus: usize) -> Self {
        Self {
            host,
            cpus,
            now_ns: 0,
            tasks: Vec::new(),
            history: Vec::new(),
            switches: 0,
            order: Order::Ascending,
            released: None,
            step_ns: STEP_NS,
            watched_ns: 0,
        }
    }

    /// Adds a task; false if the scheduler refuses the task.
    pub fn start(&mut self, spec: &TaskSpec, habit: Habit) -> bool {
        let Some(number) = self.host.add_task(spec, Some(spec.cpu)) else { return false };
        let left_ns = habit.computes_ns;
        self.tasks.push(Task {
            number,
            habit,
            runtime_ns: 0,
            left_ns,
            wakes_ns: None,
            woke_ns: None,
            waits_ns: Vec::new(),
        });
        self.host.wake(number, Waker { cpu: spec.cpu, is_fork: true, is_sync: false });
        self.choose();
        true
    }

    /// A real-time task preempts a task of the scheduler.
    pub fn take_cpu(&mut self, cpu: usize) {
        let runtime_ns = self.runtime_ns(cpu);
        self.released = Some(cpu);
        self.host.take_cpu(cpu, runtime_ns);
        self.choose();
    }

    /// The real-time task gives the CPU back.
    pub fn give_back_cpu(&mut self) {
        if let Some(cpu) = self.released.take() {
            self.schedule(cpu);
            self.choose();
        }
    }

    pub fn task(&mut self, number: usize) -> &mut Task {
        self.tasks.iter_mut().find(|task| task.number == number).unwrap()
    }

    /// Total CPU time of the running task of a CPU.
    pub fn runtime_ns(&self, cpu: usize) -> u64 {
        let current = self.host.current(cpu);
        let task = current.and_then(|n| self.tasks.iter().find(|task| task.number == n));
        task.map_or(0, |task| task.runtime_ns)
    }

    fn next_of(&mut self, waiting: &mut VecDeque<usize>) -> Option<usize> {
        if let Order::Seeded(state) = &mut self.order
            && !waiting.is_empty()
        {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let by = (*state >> 33) as usize % waiting.len();
            waiting.rotate_left(by);
        }
        waiting.pop_front()
    }

    /// Lets CPUs choose until none has to.
    pub fn choose(&mut self) {
        for _ in 0..10_000 {
            let mut waiting: VecDeque<usize> = self.host.take_reschedules().into();
            if waiting.is_empty() || self.host.exit().is_some() {
                return;
            }
            waiting.retain(|&cpu| self.released != Some(cpu));
            if waiting.is_empty() {
                return;
            }
            while let Some(cpu) = self.next_of(&mut waiting) {
                self.schedule(cpu);
            }
        }
        panic!("CPUs ask each other for ever");
    }

    fn schedule(&mut self, cpu: usize) {
        let runtime_ns = self.runtime_ns(cpu);
        let Choice { task, is_kept } = self.host.schedule(cpu, runtime_ns);
        if !is_kept {
            self.switches += 1;
            self.history.push((self.now_ns, cpu, task));
            let now_ns = self.now_ns;
            if let Some(task) = task.map(|task| self.task(task))
                && let Some(woke_ns) = task.woke_ns.take()
            {
                task.waits_ns.push(now_ns - woke_ns);
            }
        }
    }

    /// Lets time go on.
    pub fn run(&mut self, ns: u64) {
        let end_ns = self.now_ns + ns;
        while self.now_ns < end_ns && self.host.exit().is_none() {
            self.step();
        }
    }

    pub fn step(&mut self) {
        let step_ns = self.step_ns;
        let running: Vec<_> = (0..self.cpus).map(|cpu| self.host.current(cpu)).collect();
        for task in running.iter().flatten() {
            let task = self.task(*task);
            task.runtime_ns += step_ns;
            task.left_ns = task.left_ns.saturating_sub(step_ns);
        }
        self.now_ns += step_ns;
        self.host.set_now(self.now_ns);
        if self.host.next_timer_ns().is_some_and(|due_ns| due_ns <= self.now_ns) {
            self.host.fire_timers();
        }
        for (cpu, task) in running.into_iter().enumerate() {
            let Some(task) = task else { continue };
            let now_ns = self.now_ns;
            let one = self.task(task);
            if one.left_ns == 0 {
                one.wakes_ns = Some(now_ns + one.habit.sleeps_ns);
                one.left_ns = one.habit.computes_ns;
                let runtime_ns = one.runtime_ns;
                self.host.block(cpu, runtime_ns);
                self.schedule(cpu);
            } else if now_ns.is_multiple_of(TICK_NS) {
                let runtime_ns = one.runtime_ns;
                self.host.tick(cpu, runtime_ns);
            }
        }
        self.wake_due();
        self.choose();
        if self.now_ns >= self.watched_ns + self.host.watchdog_ns() / 2 {
            self.watched_ns = self.now_ns;
            self.host.check_watchdog();
        }
    }

    fn wake_due(&mut self) {
        let now_ns = self.now_ns;
        let due = self.tasks.iter_mut().filter(|task| task.wakes_ns.is_some_and(|at| at <= now_ns));
        let due: Vec<usize> = due
            .map(|task| {
                task.woke_ns = task.wakes_ns.take();
                task.number
            })
            .collect();
        for task in due {
            let cpu = task % self.cpus;
            self.host.wake(task, Waker { cpu, is_fork: false, is_sync: false });
        }
    }
}

//! Turns records into a history: which task runs on which CPU, with additions for lost records.
//!
//! The history begins with the first record of a task that runs on a CPU. After a lost record, the
//! task that leaves a CPU may differ from the last task that came; its start is then as long ago as
//! the time that the kernel has accounted to the task since.

use std::collections::HashMap;
use std::io;

use cpu_model::Class;
use trace::import::order::{Output, Window};
use trace::{
    CPUS_MAX, ControlGroup, CounterCounts, Event, Header, RECORDS_MAX, Sink, SwitchState, TASKS_MAX,
};

use super::counted::named;
use super::record::{Kind, Raw};
use super::tasks::{IDLE, Tasks};

/// Records that wait for earlier ones. A CPU takes the time of a record before it takes its place
/// in the buffer, and may be interrupted in between; our choice.
const HELD: usize = 1024;
/// Records and tasks of a history that are kept free for events held back.
const RESERVE: u64 = 1 << 14;
/// Marked functions that a task can be in at once: returns by `longjmp` are never seen.
const CLASSES_MAX: usize = 64;

/// In the cookie of a probe: the class is in the low byte.
pub const COOKIE_CLASS: u64 = 0xff;
/// The marked stretch ends here.
pub const COOKIE_END: u64 = 0x100;
/// Stretches nest, as calls of a function and their returns do.
pub const COOKIE_NESTS: u64 = 0x200;

/// Instructions of its class that a marked function runs per 1000 cycles: one a cycle.
const RATE_PERMILLE: u32 = 1000;

/// include/linux/preempt.h: in an interrupt, and a value that no context sets.
const COUNT_HARDIRQ: u32 = 0x000f_0000;
const COUNT_NEVER: u32 = 0x7ff0_0000;

/// Statistics of the follower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Switches of the history, added ones included.
    pub switches: u64,
    /// Switches that were missing and had to be added.
    pub repaired_switches: u64,
    /// Register states that follow no switch.
    pub unmatched_registers: u64,
    /// Records of the history.
    pub records: u64,
    /// Time of slices, and the kernel's account of the tasks in them; the rest was stolen.
    pub slices_ns: u64,
    /// See [`Self::slices_ns`].
    pub runtime_ns: u64,
}

#[derive(Clone, Copy, Default)]
struct Cpu {
    /// Task that runs.
    current: usize,
    /// Whether a record said so; before, the CPU counts as idle.
    known: bool,
    /// When the task came.
    since_ns: u64,
    /// Task that just left, whose registers come next.
    leaving: Option<usize>,
    /// Counts of the slice that the next switch ends.
    counts: Option<CounterCounts>,
}

/// Whether the probe found the preempt count, judged in contexts that are known.
#[derive(Default)]
struct Contexts {
    task: bool,
    wrong: bool,
}

/// The clock of a CPU in a pause of its core, as [`trace::Event::Pause`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// End of the pause, by CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The CPU whose clock was timed.
    pub cpu: u32,
    /// The kernel's number of the thread that timed it.
    pub by: u32,
    /// When its first look began.
    pub first_ns: u64,
    /// When its second look began.
    pub alone_ns: u64,
    /// At the beginning.
    pub first_khz: u32,
    /// At the end.
    pub last_khz: u32,
    /// After the interrupted task ran alone.
    pub alone_khz: u32,
    /// For how long the tasks of this CPU did not run.
    pub paused_ns: u64,
}

/// What waits for earlier records.
#[derive(Clone, Copy)]
enum Held {
    Raw(Raw),
    Pause(Pause),
}

/// Follows records, and gives out a history.
pub struct Follower<'s, S> {
    output: Output<'s, S>,
    held: Window<Held>,
    cpus: Vec<Cpu>,
    tasks: Tasks,
    contexts: Contexts,
    /// Whether records of [`Kind::Balance`] come.
    balances_seen: bool,
    /// Numbers of pipes and connections.
    channels: HashMap<u64, u32>,
    threads_per_core: u32,
    start_ns: Option<u64>,
    last_ns: u64,
    met: Met,
}

impl<'s, S: Sink> Follower<'s, S> {
    /// Nothing yet. CPU `c` belongs to core `c / threads_per_core`.
    pub fn new(sink: &'s mut S, threads_per_core: u32) -> Self {
        Self {
            output: Output::new(sink),
            held: Window::new(HELD),
            cpus: Vec::new(),
            tasks: Tasks::new(),
            contexts: Contexts::default(),
            balances_seen: false,
            channels: HashMap::new(),
            threads_per_core: threads_per_core.max(1),
            start_ns: None,
            last_ns: 0,
            met: Met::default(),
        }
    }

    /// Takes the next record; the times of neighbours may be in disorder.
    ///
    /// # Errors
    /// The sink's error.
    pub fn take(&mut self, raw: Raw) -> io::Result<()> {
        self.hold(raw.time_ns, Held::Raw(raw))
    }

    /// Takes a pause, which may be later than records that were taken already.
    ///
    /// # Errors
    /// The sink's error.
    pub fn take_pause(&mut self, pause: Pause) -> io::Result<()> {
        self.hold(pause.time_ns, Held::Pause(pause))
    }

    fn hold(&mut self, time_ns: u64, held: Held) -> io::Result<()> {
        self.held.insert(time_ns, held);
        self.held.overflow().map_or(Ok(()), |held| self.apply(&held))
    }

    /// Whether a history has room for little more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.met.records + RESERVE >= RECORDS_MAX || self.tasks.seen + RESERVE >= TASKS_MAX
    }

    /// Ends the history: `header` has the known facts of the machine, `control_group` the control
    /// group of a number.
    ///
    /// # Errors
    /// The sink's error, and an error for a machine without any record.
    pub fn finish(
        mut self,
        mut header: Header,
        control_group: &mut dyn FnMut(u64) -> Option<ControlGroup>,
    ) -> io::Result<Met> {
        while let Some(held) = self.held.pop() {
            self.apply(&held)?;
        }
        let Some(start_ns) = self.start_ns else {
            return Err(io::Error::other("the probes told nothing"));
        };
        for cpu in 0..self.cpus.len() {
            let index = self.cpus[cpu].current;
            self.account(index, self.last_ns, None)?;
        }
        header.start_ns = start_ns;
        header.end_ns = self.last_ns;
        header.cpus = header.cpus.max(self.cpus.len() as u32);
        header.tasks = self.tasks.infos(control_group);
        if self.contexts.task && !self.contexts.wrong {
            header.know_interrupts();
        }
        let permille = self.met.runtime_ns.saturating_mul(1000).checked_div(self.met.slices_ns);
        let counts = [
            ("repaired_switches", Some(self.met.repaired_switches)),
            ("runtime_per_wall_permille", permille),
        ];
        for (name, count) in counts {
            if let Some(count) = count {
                header.facts.insert(name.to_owned(), count.to_string());
            }
        }
        let (sink, _) = self.output.flush()?;
        sink.finish(&header)?;
        Ok(self.met)
    }

    fn apply(&mut self, held: &Held) -> io::Result<()> {
        match held {
            Held::Raw(raw) => self.apply_raw(raw),
            Held::Pause(pause) => self.pause(pause),
        }
    }

    fn pause(&mut self, pause: &Pause) -> io::Result<()> {
        let &Pause { cpu, first_ns, alone_ns, paused_ns, .. } = pause;
        let &Pause { first_khz, last_khz, alone_khz, .. } = pause;
        if self.start_ns.is_none() || cpu >= CPUS_MAX {
            return Ok(());
        }
        self.last_ns = self.last_ns.max(pause.time_ns);
        self.cpu(cpu);
        let index = self.tasks.alive(pause.by);
        let by = self.tasks.id(index);
        self.emit(Event::Pause {
            cpu,
            by,
            first_ns,
            alone_ns,
            first_khz,
            last_khz,
            alone_khz,
            paused_ns,
        })
    }

    fn apply_raw(&mut self, raw: &Raw) -> io::Result<()> {
        if raw.cpu >= CPUS_MAX {
            return Ok(());
        }
        if raw.kind == Kind::Running {
            return self.running(raw);
        }
        let listed = raw.kind == Kind::Task;
        if listed || self.start_ns.is_none() {
            if raw.description.is_some() {
                let index = self.tasks.alive(raw.tid);
                self.tasks.learn(index, raw);
                self.tasks.get(index).accounted_ns = Some(raw.value);
            }
            return Ok(());
        }
        self.last_ns = self.last_ns.max(raw.time_ns);
        if !matches!(raw.kind, Kind::Registers | Kind::Stack | Kind::Switch) {
            self.cpu(raw.cpu).leaving = None;
        }
        match raw.kind {
            Kind::Switch => self.switch(raw),
            Kind::Wake => self.wake(raw),
            Kind::Migrate => self.migrate(raw),
            Kind::Fork => self.fork(raw),
            Kind::Exec => {
                let index = self.tasks.alive(raw.other);
                self.tasks.rename(index, raw.tid);
                self.tasks.learn(index, raw);
                self.begin_program(raw, false)
            }
            Kind::Balance => self.begin_program(raw, true),
            Kind::Send | Kind::Unsent | Kind::Receive => self.message(raw),
            Kind::Registers => self.registers(raw),
            Kind::Counters => {
                self.cpu(raw.cpu).counts = raw.counts.as_ref().map(named);
                Ok(())
            }
            Kind::Stack => self.stack(raw),
            Kind::Frequency => {
                let core = raw.other / self.threads_per_core;
                let khz = u32::try_from(raw.value).unwrap_or(u32::MAX);
                if raw.other >= CPUS_MAX {
                    return Ok(());
                }
                self.cpu(raw.other);
                self.emit(Event::Frequency { core, khz })
            }
            Kind::Class => self.class(raw),
            Kind::Task | Kind::Running => Ok(()),
        }
    }

    fn cpu(&mut self, cpu: u32) -> &mut Cpu {
        if self.cpus.len() <= cpu as usize {
            self.cpus.resize(cpu as usize + 1, Cpu::default());
        }
        &mut self.cpus[cpu as usize]
    }

    fn emit(&mut self, event: Event) -> io::Result<()> {
        self.emit_at(self.last_ns, event)
    }

    fn emit_at(&mut self, time_ns: u64, event: Event) -> io::Result<()> {
        self.met.records += 1;
        self.output.push(time_ns, event)
    }

    /// A record of the task that runs on a CPU: the history begins, or ends.
    fn running(&mut self, raw: &Raw) -> io::Result<()> {
        if raw.tid != 0 {
            let count = raw.other;
            self.contexts.wrong |= count & COUNT_NEVER != 0 || count == 0;
            self.contexts.task |= count & COUNT_HARDIRQ == 0;
        }
        self.last_ns = self.last_ns.max(raw.time_ns);
        self.start_ns.get_or_insert(self.last_ns);
        self.cpu(raw.cpu);
        let index = self.tasks.alive(raw.tid);
        self.tasks.learn(index, raw);
        self.occupy(raw.cpu, index, raw.value)?;
        self.counters(raw.cpu)?;
        let task = self.tasks.get(index);
        task.accounted_ns.get_or_insert(raw.value);
        task.accounted_last_ns = raw.value;
        Ok(())
    }

    /// Makes `task`, to which `total_ns` are accounted, the running task of `cpu`.
    fn occupy(&mut self, cpu: u32, task: usize, total_ns: u64) -> io::Result<()> {
        let Cpu { current, known, since_ns, .. } = *self.cpu(cpu);
        if current == task {
            self.cpu(cpu).known = true;
            return Ok(());
        }
        self.met.repaired_switches += u64::from(known);
        self.take_away(task)?;
        let found = self.tasks.get(task);
        let ran_ns = match found.accounted_ns {
            Some(before_ns) if task != IDLE => total_ns.saturating_sub(before_ns),
            _ => 0,
        };
        let earliest_ns = since_ns.max(found.left_ns).max(self.output.floor_ns());
        let earliest_ns = earliest_ns.max(self.start_ns.unwrap_or(0));
        let at_ns = self.last_ns.saturating_sub(ran_ns).max(earliest_ns);
        self.change(cpu, SwitchState::Blocked, task, at_ns)
    }

    /// Lets the CPU on which `task` still counts as running be idle.
    fn take_away(&mut self, task: usize) -> io::Result<()> {
        let Some((cpu, _)) = self.tasks.get(task).running else { return Ok(()) };
        self.met.repaired_switches += 1;
        self.change(cpu, SwitchState::Runnable, IDLE, self.last_ns)
    }

    fn switch(&mut self, raw: &Raw) -> io::Result<()> {
        let prev = self.tasks.alive(raw.tid);
        self.tasks.learn(prev, raw);
        self.occupy(raw.cpu, prev, raw.value)?;
        self.account(prev, self.last_ns, Some(raw.value))?;
        let next = self.tasks.alive(raw.other);
        if next == prev {
            return Ok(());
        }
        self.take_away(next)?;
        self.counters(raw.cpu)?;
        let state = match raw {
            Raw { dead: true, .. } => SwitchState::Dead,
            Raw { blocked: true, .. } => SwitchState::Blocked,
            _ => SwitchState::Runnable,
        };
        self.change(raw.cpu, state, next, self.last_ns)?;
        self.cpu(raw.cpu).leaving = (prev != IDLE).then_some(prev);
        Ok(())
    }

    /// Emits what the counters of a CPU counted in the slice that ends.
    fn counters(&mut self, cpu: u32) -> io::Result<()> {
        match self.cpu(cpu).counts.take() {
            Some(counts) => self.emit(Event::Counters { cpu, counts }),
            None => Ok(()),
        }
    }

    /// Emits the switch from the running task of `cpu` to `next`.
    fn change(&mut self, cpu: u32, state: SwitchState, next: usize, at_ns: u64) -> io::Result<()> {
        let here = self.cpu(cpu);
        let prev = here.current;
        *here = Cpu { current: next, known: true, since_ns: at_ns, leaving: None, counts: None };
        if prev != IDLE {
            let task = self.tasks.get(prev);
            task.running = None;
            task.left_ns = at_ns;
            task.dead |= state == SwitchState::Dead;
        }
        if next != IDLE {
            self.tasks.get(next).running = Some((cpu, at_ns));
        }
        self.met.switches += 1;
        let (prev, next) = (self.tasks.id(prev), self.tasks.id(next));
        self.emit_at(at_ns, Event::Switch { cpu, prev, state, next })
    }

    /// Emits the time accounted to a running task, at most its time on the CPU: at the start the
    /// kernel's account may be a tick behind.
    fn account(&mut self, index: usize, now_ns: u64, total_ns: Option<u64>) -> io::Result<()> {
        let task = self.tasks.get(index);
        let Some((_, since_ns)) = task.running.filter(|_| index != IDLE) else { return Ok(()) };
        let total_ns = total_ns.unwrap_or(task.accounted_last_ns);
        let slice_ns = now_ns - since_ns;
        let before_ns = task.accounted_ns.unwrap_or(total_ns);
        let ns = total_ns.saturating_sub(before_ns).min(slice_ns);
        task.accounted_ns = Some(total_ns.max(before_ns));
        self.met.slices_ns += slice_ns;
        self.met.runtime_ns += ns;
        if ns == 0 {
            return Ok(());
        }
        let task = self.tasks.id(index);
        self.emit(Event::Runtime { task, ns })
    }

    fn wake(&mut self, raw: &Raw) -> io::Result<()> {
        let cpu = u32::try_from(raw.value).unwrap_or(u32::MAX);
        if raw.tid == 0 || cpu >= CPUS_MAX {
            return Ok(());
        }
        self.cpu(cpu);
        let task = self.tasks.alive(raw.tid);
        let by = if raw.interrupt { IDLE } else { self.tasks.alive(raw.other) };
        let (task, by) = (self.tasks.id(task), self.tasks.id(by));
        let on = (by == 0).then_some(raw.cpu);
        self.emit(Event::Wake { task, by, cpu, on, sync: raw.sync })
    }

    fn migrate(&mut self, raw: &Raw) -> io::Result<()> {
        let (from, to) = (u32::try_from(raw.value).unwrap_or(u32::MAX), raw.other);
        if raw.tid == 0 || from == to || from.max(to) >= CPUS_MAX {
            return Ok(());
        }
        self.cpu(from.max(to));
        let task = self.tasks.alive(raw.tid);
        let task = self.tasks.id(task);
        self.emit(Event::Migrate { task, from, to })
    }

    fn fork(&mut self, raw: &Raw) -> io::Result<()> {
        let by = self.tasks.alive(raw.other);
        let child = self.tasks.begin(raw.tid);
        self.tasks.learn(child, raw);
        self.tasks.get(child).accounted_ns = Some(raw.value);
        let (task, by) = (self.tasks.id(child), self.tasks.id(by));
        self.emit(Event::Fork { task, by })
    }

    /// A task begins another program. The kernel balances before, and few kernels let that be
    /// probed; from the first record of it on, only those count.
    fn begin_program(&mut self, raw: &Raw, balances: bool) -> io::Result<()> {
        self.balances_seen |= balances;
        if self.balances_seen && !balances {
            return Ok(());
        }
        let index = self.tasks.alive(raw.tid);
        let task = self.tasks.id(index);
        if index == IDLE { Ok(()) } else { self.emit(Event::Exec { task }) }
    }

    fn message(&mut self, raw: &Raw) -> io::Result<()> {
        let next = self.channels.len() as u32;
        let channel = *self.channels.entry(raw.value).or_insert(next);
        let index = self.tasks.alive(raw.tid);
        let (task, bytes) = (self.tasks.id(index), u64::from(raw.other));
        match raw.kind {
            _ if index == IDLE => Ok(()),
            Kind::Send => self.emit(Event::Send { task, channel, bytes }),
            Kind::Unsent => self.emit(Event::Unsent { task, channel, bytes }),
            _ => self.emit(Event::Receive { task, channel, bytes }),
        }
    }

    fn registers(&mut self, raw: &Raw) -> io::Result<()> {
        let leaving = self.cpu(raw.cpu).leaving.take();
        // A task that ends gives its registers up without having left.
        let Some(index) = leaving.filter(|&index| self.tasks.has_tid(index, raw.tid)) else {
            self.met.unmatched_registers += 1;
            return Ok(());
        };
        let task = self.tasks.id(index);
        self.emit(Event::Registers { task, xfeatures: raw.value })
    }

    fn stack(&mut self, raw: &Raw) -> io::Result<()> {
        let leaving = self.cpu(raw.cpu).leaving;
        match leaving.filter(|&index| self.tasks.has_tid(index, raw.tid)) {
            Some(index) => {
                let (task, stack) = (self.tasks.id(index), raw.value as u32);
                self.emit(Event::Stack { task, stack })
            }
            None => Ok(()),
        }
    }

    fn class(&mut self, raw: &Raw) -> io::Result<()> {
        let index = self.tasks.alive(raw.tid);
        let class = (raw.value & COOKIE_CLASS) as u8;
        let classes = &mut self.tasks.get(index).classes;
        let before = classes.last().copied();
        let nests = raw.value & COOKIE_NESTS != 0;
        if raw.value & COOKIE_END != 0 {
            classes.pop();
        } else if !nests {
            classes.clear();
            classes.push(class);
        } else if classes.len() < CLASSES_MAX {
            classes.push(class);
        }
        let now = classes.last().copied();
        if now == before || index == IDLE {
            return Ok(());
        }
        let class = Class::ALL.get(usize::from(now.unwrap_or(0))).copied().unwrap_or_default();
        let task = self.tasks.id(index);
        let (rate_permille, stall_permille) = (RATE_PERMILLE, 0);
        self.emit(Event::Phase { task, class, rate_permille, stall_permille })
    }
}

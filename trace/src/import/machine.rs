//! The running task of each CPU: follows the events, and adds missing switches.
//!
//! Events of some tasks may be missing without a word (they belong to another
//! container, or the buffer was full), so the task that leaves a CPU need not be
//! the one that came. Then its interval ends at the CPU's next event, or, where
//! an event says how long the new task has run already, by so much earlier.
//! Every CPU is idle until its first event.

mod end;
mod interrupts;
mod occupy;
mod own;

use std::collections::BTreeMap;
use std::io;

use interrupts::Interrupts;

use super::entry::{Entry, Named, Payload};
use super::order::Output;
use super::report::ImportReport;
use super::tasks::{IDLE, Tasks};
use crate::{CPUS_MAX, Event, Header, Sink, SwitchState};

#[derive(Default)]
struct Cpu {
    /// Task that runs.
    current: usize,
    /// Whether an event said so; before, the CPU counts as idle.
    known: bool,
    /// Time of its switch to the CPU.
    since_ns: u64,
    /// First event since then.
    next_event_ns: Option<u64>,
    /// Another task that was accounted time on this CPU since then, and its begin.
    evidence: Option<(u32, u64)>,
    /// Task that events name as running without a switch to it, and the time of the first such
    /// event.
    claim: Option<(usize, u64)>,
    /// Task that just left, whose registers the next line may tell.
    leaving: Option<usize>,
}

/// The state that a stream of events leaves.
pub struct Machine<'s, S> {
    cpus: Vec<Cpu>,
    tasks: Tasks,
    interrupts: Interrupts,
    output: Output<'s, S>,
    /// Switches whose running task and leaving task agree, and those that do not.
    agreeing: u64,
    disagreeing: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    facts: BTreeMap<String, String>,
    /// Header of the exported history, if the recording is an export of this project.
    header: Option<Header>,
}

impl<'s, S: Sink> Machine<'s, S> {
    pub fn new(sink: &'s mut S) -> Self {
        Self {
            cpus: Vec::new(),
            tasks: Tasks::new(),
            interrupts: Interrupts::default(),
            output: Output::new(sink),
            agreeing: 0,
            disagreeing: 0,
            first_ns: None,
            last_ns: 0,
            facts: BTreeMap::new(),
            header: None,
        }
    }

    /// Follows one event.
    pub fn apply(&mut self, entry: &Entry, report: &mut ImportReport) -> io::Result<()> {
        let now_ns = entry.head.time_ns;
        let before_ns = if self.first_ns.is_some() { self.last_ns } else { now_ns };
        report.silence_ns = report.silence_ns.max(now_ns - before_ns);
        self.first_ns.get_or_insert(now_ns);
        self.last_ns = now_ns;
        if let Payload::Lost { events } = entry.payload {
            report.lost_events = report.lost_events.saturating_add(events);
            return Ok(());
        }
        let cpu = self.cpu_of(entry);
        self.interrupts.follow(cpu, entry);
        match (cpu, &entry.payload) {
            (Some(cpu), Payload::Mark { loaded, xfeatures }) => {
                return self.mark(cpu, entry, (*loaded, *xfeatures), report);
            }
            (Some(cpu), Payload::Switch { prev, state, idle_wait, next }) => {
                let prev = (*prev, *state, *idle_wait);
                return self.switch(cpu, entry, prev, *next, report);
            }
            (None, Payload::Mark { .. } | Payload::Switch { .. }) => {
                report.without_cpu += 1;
                return Ok(());
            }
            (Some(cpu), _) => self.observe(cpu, entry, report)?,
            (None, _) => {}
        }
        self.note(cpu, entry)
    }

    /// The CPU of an event: that of the line, or that on which the task runs.
    fn cpu_of(&mut self, entry: &Entry) -> Option<u32> {
        let cpu = entry.head.cpu.or_else(|| self.guess_cpu(entry))?;
        if self.cpus.len() <= cpu as usize {
            self.cpus.resize_with(cpu as usize + 1, Cpu::default);
        }
        Some(cpu)
    }

    fn guess_cpu(&mut self, entry: &Entry) -> Option<u32> {
        if let Payload::Switch { prev, next, .. } = entry.payload {
            let named = [prev, next].into_iter().filter(|task| task.pid == 0);
            let idle = named.map(|task| idle_cpu(task.name.of(&entry.text)));
            if let Some(cpu) = idle.flatten().next() {
                return Some(cpu);
            }
            let prev = self.tasks.known(prev.pid)?;
            return self.tasks.get(prev).cpu;
        }
        let index = self.tasks.known(entry.head.tid?)?;
        let here = self.tasks.get(index).cpu;
        here.or_else(|| {
            let left = self.cpus.iter().position(|cpu| cpu.leaving == Some(index))?;
            matches!(entry.payload, Payload::Mark { .. }).then_some(left as u32)
        })
    }

    fn switch(
        &mut self,
        cpu: u32,
        entry: &Entry,
        (prev, state, idle_wait): (Named, SwitchState, bool),
        next: Named,
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let now_ns = entry.head.time_ns;
        match entry.head.tid {
            Some(tid) if tid == prev.pid => self.agreeing += 1,
            Some(_) => self.disagreeing += 1,
            None => {}
        }
        let global = self.heads_are_global();
        let prev_index = self.tasks.find_alive(&entry.text, prev);
        let next_index = self.tasks.find_alive(&entry.text, next);
        let claimed = self.cpus[cpu as usize].claim.filter(|claim| claim.0 == prev_index);
        self.settle(cpu, Some(prev_index), now_ns, report)?;
        let here = &self.cpus[cpu as usize];
        let began_ns = match here.evidence {
            Some((pid, began_ns)) if pid == prev.pid => began_ns,
            _ if claimed.is_some() => claimed.map_or(now_ns, |claim| claim.1),
            _ if global && here.known => now_ns,
            _ => here.next_event_ns.unwrap_or(now_ns),
        };
        self.occupy(cpu, prev_index, began_ns, now_ns, report)?;
        let task = self.tasks.get(prev_index);
        task.idle_wait |= idle_wait;
        if global && prev_index != IDLE && entry.head.process.is_some() {
            task.process = entry.head.process;
        }
        if next_index == prev_index {
            return Ok(());
        }
        if next_index != IDLE {
            self.take_away(next_index, now_ns, report)?;
        }
        self.change(cpu, prev_index, state, next_index, now_ns, report)?;
        self.cpus[cpu as usize].leaving = (prev_index != IDLE).then_some(prev_index);
        Ok(())
    }

    /// Gives out the switch from `prev` to `next`, and the time accounted to `prev`.
    fn change(
        &mut self,
        cpu: u32,
        prev: usize,
        state: SwitchState,
        next: usize,
        at_ns: u64,
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let since_ns = std::mem::replace(
            &mut self.cpus[cpu as usize],
            Cpu { current: next, known: true, since_ns: at_ns, ..Cpu::default() },
        )
        .since_ns;
        let task = self.tasks.get(prev);
        let (id, pending_ns) = (task.id, std::mem::take(&mut task.pending_ns));
        if prev != IDLE {
            task.cpu = None;
            task.left_ns = at_ns;
            task.dead |= state == SwitchState::Dead;
            task.slices_ns = task.slices_ns.saturating_add(at_ns.saturating_sub(since_ns));
        }
        if pending_ns > 0 {
            self.output.push(at_ns, Event::Runtime { task: id, ns: pending_ns })?;
        }
        let task = self.tasks.get(next);
        if next != IDLE {
            task.cpu = Some(cpu);
            task.slices += 1;
            task.woken = false;
        }
        let next = task.id;
        report.switches += 1;
        self.output.push(at_ns, Event::Switch { cpu, prev: id, state, next })
    }

    fn mark(
        &mut self,
        cpu: u32,
        entry: &Entry,
        (loaded, xfeatures): (bool, u64),
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let leaving = self.cpus[cpu as usize].leaving.take();
        if !loaded {
            report.skipped_marks += 1;
            return Ok(());
        }
        let Some(index) = leaving else {
            report.unmatched_marks += 1;
            return Ok(());
        };
        let global = self.heads_are_global();
        let task = self.tasks.get(index);
        if global && entry.head.tid.is_some_and(|tid| tid != task.pid) {
            report.unmatched_marks += 1;
            return Ok(());
        }
        task.marked = true;
        let task = task.id;
        self.output.push(entry.head.time_ns, Event::Registers { task, xfeatures })
    }

    /// Gives out the records of an event other than a switch or mark.
    fn note(&mut self, cpu: Option<u32>, entry: &Entry) -> io::Result<()> {
        let text = &entry.text;
        let event = match entry.payload {
            Payload::Waking { task, cpu: target } => {
                let task = self.tasks.find_alive(text, task);
                self.wake(task, cpu, target)
            }
            Payload::WakeupNew { task, cpu: target } => {
                let task = self.tasks.find_alive(text, task);
                self.wake(task, cpu, target)
            }
            Payload::Wakeup { task, cpu: target } => {
                let task = self.tasks.find_alive(text, task);
                let known = self.tasks.get(task);
                if known.woken || known.cpu.is_some() { None } else { self.wake(task, cpu, target) }
            }
            Payload::Migrate { task, from, to } => {
                let task = self.tasks.find(text, task);
                (task != IDLE && from != to).then(|| Event::Migrate {
                    task: self.tasks.id(task),
                    from,
                    to,
                })
            }
            Payload::Fork { parent, child } => {
                let by = self.tasks.find(text, parent);
                let by = self.tasks.id(by);
                self.born(text, child).map(|task| Event::Fork { task, by })
            }
            Payload::Runtime { task, ns } => {
                let index = self.tasks.find(text, task);
                let task = self.tasks.get(index);
                task.pending_ns = task.pending_ns.saturating_add(ns);
                task.runtime_ns = task.runtime_ns.saturating_add(ns);
                None
            }
            Payload::Exec => {
                let task = cpu.map_or(IDLE, |cpu| self.running(cpu));
                (task != IDLE).then(|| Event::Exec { task: self.tasks.id(task) })
            }
            Payload::Frequency { khz, cpu } => Some(Event::Frequency { core: cpu, khz }),
            Payload::Exit { task } => {
                self.tasks.find(text, task);
                None
            }
            Payload::Own(ref event) => self.own(cpu, event),
            _ => None,
        };
        self.reach(&event);
        event.map_or(Ok(()), |event| self.output.push(entry.head.time_ns, event))
    }

    /// Makes room for CPUs that an event names besides its own.
    fn reach(&mut self, event: &Option<Event>) {
        let cpu = match *event {
            Some(
                Event::Wake { cpu, .. }
                | Event::Frequency { core: cpu, .. }
                | Event::License { core: cpu, .. },
            ) => cpu,
            Some(Event::Migrate { from, to, .. }) => from.max(to),
            _ => return,
        };
        if self.cpus.len() <= cpu as usize {
            self.cpus.resize_with(cpu as usize + 1, Cpu::default);
        }
    }

    fn wake(&mut self, task: usize, cpu: Option<u32>, target: u32) -> Option<Event> {
        if task == IDLE {
            return None;
        }
        self.tasks.get(task).woken = true;
        let running = cpu.map_or(IDLE, |cpu| self.running(cpu));
        let by = if self.interrupts.runs(cpu) { 0 } else { self.tasks.id(running) };
        let on = cpu.filter(|_| by == 0);
        Some(Event::Wake { task: self.tasks.id(task), by, cpu: target, on, sync: None })
    }

    /// A task that begins; one that has its number and was seen must have ended.
    fn born(&mut self, text: &[u8], child: Named) -> Option<u32> {
        let known = self.tasks.known(child.pid);
        if known == Some(IDLE) {
            return None;
        }
        let index = self.tasks.begin(child.pid);
        self.tasks.learn(index, text, child);
        Some(self.tasks.id(index))
    }
}

/// The CPU of an idle task, from its name `swapper/N`.
fn idle_cpu(name: &[u8]) -> Option<u32> {
    let number = std::str::from_utf8(name.strip_prefix(b"swapper/")?).ok()?;
    number.parse().ok().filter(|&cpu| cpu < CPUS_MAX)
}

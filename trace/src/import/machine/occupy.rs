//! The running task of a CPU after a missing switch, learned from events of the new task.

use std::io;

use super::Machine;
use crate::import::entry::{Entry, Named, Payload};
use crate::import::report::ImportReport;
use crate::import::tasks::IDLE;
use crate::{Sink, SwitchState};

impl<S: Sink> Machine<'_, S> {
    /// Whether the running task that lines name is numbered as in payloads.
    pub(super) fn heads_are_global(&self) -> bool {
        self.agreeing > 0 && self.disagreeing == 0
    }

    /// Learns the running task of a CPU from any event but a switch or mark.
    pub(super) fn observe(
        &mut self,
        cpu: u32,
        entry: &Entry,
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let now_ns = entry.head.time_ns;
        let state = &mut self.cpus[cpu as usize];
        state.leaving = None;
        state.next_event_ns.get_or_insert(now_ns);
        let ran = match entry.payload {
            Payload::Runtime { task, ns } => Some((task.pid, now_ns.saturating_sub(ns))),
            _ => None,
        };
        if state.evidence.is_none() {
            state.evidence = ran;
        }
        let Some(tid) = entry.head.tid.filter(|_| self.heads_are_global()) else { return Ok(()) };
        let named = Named { name: entry.head.name, pid: tid, prio: None };
        let index = match self.tasks.known(tid) {
            Some(index) if !self.tasks.get(index).dead => index,
            _ => self.tasks.find_alive(&entry.text, named),
        };
        if index != IDLE && entry.head.process.is_some() {
            self.tasks.get(index).process = entry.head.process;
        }
        let began_ns = ran.filter(|ran| ran.0 == tid).map(|ran| ran.1);
        self.claim(cpu, index, began_ns, now_ns, report)
    }

    /// An event says that `task` runs on `cpu`. If no switch said so, and the event does not say
    /// since when, the next account of the task's time may.
    fn claim(
        &mut self,
        cpu: u32,
        task: usize,
        began_ns: Option<u64>,
        now_ns: u64,
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let here = &mut self.cpus[cpu as usize];
        let other = here.claim.is_some_and(|claim| claim.0 != task);
        if here.current == task || began_ns.is_some() || other {
            self.settle(cpu, Some(task), now_ns, report)?;
        }
        let here = &mut self.cpus[cpu as usize];
        match began_ns {
            Some(began_ns) => self.occupy(cpu, task, began_ns, now_ns, report),
            None if here.current == task => self.occupy(cpu, task, now_ns, now_ns, report),
            None => {
                here.claim.get_or_insert((task, now_ns));
                Ok(())
            }
        }
    }

    /// Lets the task that only events named run on `cpu` since the first of them, unless it ran
    /// elsewhere since then, or it is `known` by now since when it runs.
    pub(super) fn settle(
        &mut self,
        cpu: u32,
        known: Option<usize>,
        now_ns: u64,
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let Some((task, since_ns)) = self.cpus[cpu as usize].claim.take() else { return Ok(()) };
        let found = self.tasks.get(task);
        let moved = found.left_ns > since_ns || found.dead;
        let runs_since_ns = found.cpu.map(|other| self.cpus[other as usize].since_ns);
        if known == Some(task) || moved || runs_since_ns.is_some_and(|other| other > since_ns) {
            return Ok(());
        }
        self.occupy(cpu, task, since_ns, now_ns, report)
    }

    /// The running task of a CPU, as far as events tell.
    pub(super) fn running(&self, cpu: u32) -> usize {
        let here = &self.cpus[cpu as usize];
        here.claim.map_or(here.current, |claim| claim.0)
    }

    /// Makes `task` the running one of `cpu` since `began_ns`, unless `task` runs already.
    pub(super) fn occupy(
        &mut self,
        cpu: u32,
        task: usize,
        began_ns: u64,
        now_ns: u64,
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let state = &self.cpus[cpu as usize];
        if state.current == task {
            self.cpus[cpu as usize].known = true;
            return Ok(());
        }
        report.repaired_switches += u64::from(state.known);
        let start_ns = self.first_ns.unwrap_or(now_ns);
        let (other, left_ns) = (self.tasks.get(task).cpu, self.tasks.get(task).left_ns);
        let elsewhere_ns = other.map_or(left_ns, |other| self.cpus[other as usize].since_ns);
        let earliest_ns = state.since_ns.max(elsewhere_ns).max(self.output.floor_ns());
        let at_ns = began_ns.max(earliest_ns).max(start_ns).min(now_ns);
        self.take_away(task, at_ns, report)?;
        let prev = self.cpus[cpu as usize].current;
        self.change(cpu, prev, SwitchState::Blocked, task, at_ns, report)
    }

    /// Lets the CPU on which `task` still counts as running be idle from `at_ns` on.
    pub(super) fn take_away(
        &mut self,
        task: usize,
        at_ns: u64,
        report: &mut ImportReport,
    ) -> io::Result<()> {
        let Some(cpu) = self.tasks.get(task).cpu else { return Ok(()) };
        report.repaired_switches += 1;
        self.change(cpu, task, SwitchState::Runnable, IDLE, at_ns, report)
    }
}

//! The text form of ftrace, as `trace-cmd report -t` prints it; our importer reads it back.

use std::collections::HashMap;
use std::io::{self, Write};

use super::{Names, Running};
use crate::{Event, History, SwitchState};

/// Writes switches, wakes, forks, migrations, frequencies, register states and accounted
/// times. What no kernel records (phases, licenses, overheads) is left out.
///
/// # Errors
/// What writing fails with.
pub fn ftrace(history: &History, output: impl Write) -> io::Result<()> {
    let header = &history.header;
    let mut text = Text {
        output,
        names: Names::new(header),
        running: Running::new(header.cpus),
        left: HashMap::new(),
        threads: header.threads_per_core.unwrap_or(1).max(1),
        cpus: header.cpus,
        context: if header.interrupts_known() { "..... " } else { "" },
    };
    writeln!(text.output, "# tracer: nop")?;
    for cpu in 0..header.cpus {
        text.line(header.start_ns, cpu, "tracing_mark_write: begin")?;
    }
    for record in &history.records {
        text.event(record.time_ns, &record.event)?;
    }
    text.line(header.end_ns, 0, "tracing_mark_write: end")?;
    text.output.flush()
}

struct Text<W> {
    output: W,
    names: Names,
    running: Running,
    /// CPU that each task left last.
    left: HashMap<u32, u32>,
    threads: u32,
    cpus: u32,
    /// That no interrupt did it, where that is known.
    context: &'static str,
}

impl<W: Write> Text<W> {
    fn line(&mut self, time_ns: u64, cpu: u32, event: &str) -> io::Result<()> {
        self.line_as(time_ns, cpu, self.running.on(cpu), self.context, event)
    }

    fn line_as(
        &mut self,
        time_ns: u64,
        cpu: u32,
        task: u32,
        context: &str,
        event: &str,
    ) -> io::Result<()> {
        let comm = if task == 0 { "<idle>".to_owned() } else { self.names.of(task, cpu).0 };
        let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        writeln!(
            self.output,
            "{comm:>16}-{task:<7} [{cpu:03}] {context}{seconds:>5}.{ns:09}: {event}"
        )
    }

    fn event(&mut self, time_ns: u64, event: &Event) -> io::Result<()> {
        match *event {
            Event::Switch { cpu, prev, state, next } => {
                self.switch(time_ns, cpu, (prev, state), next)
            }
            Event::Wake { task, by, cpu } => {
                let (comm, prio) = self.names.of(task, cpu);
                let event =
                    format!("sched_waking: comm={comm} pid={task} prio={prio} target_cpu={cpu:03}");
                match self.running.cpu_of(by) {
                    Some(here) => self.line(time_ns, here, &event),
                    None => {
                        let running = self.running.on(cpu);
                        self.line_as(time_ns, cpu, running, "d.h.. ", &event)
                    }
                }
            }
            Event::Fork { task, by } => {
                let here = self.running.cpu_of(by).unwrap_or(0);
                let parent = self.names.of(by, here).0;
                let child = self.names.of(task, here).0;
                let event = format!(
                    "sched_process_fork: comm={parent} pid={by} child_comm={child} \
                     child_pid={task}"
                );
                self.line(time_ns, here, &event)
            }
            Event::Migrate { task, from, to } => {
                let (comm, prio) = self.names.of(task, to);
                let event = format!(
                    "sched_migrate_task: comm={comm} pid={task} prio={prio} orig_cpu={from} \
                     dest_cpu={to}"
                );
                self.line(time_ns, to, &event)
            }
            Event::Frequency { core, khz } => self.frequency(time_ns, core, khz),
            Event::Registers { task, xfeatures } => {
                let Some(&cpu) = self.left.get(&task) else { return Ok(()) };
                let event = format!(
                    "x86_fpu_regs_deactivated: x86/fpu: 0x0 load: 1 xfeatures: {xfeatures:x} \
                     xcomp_bv: 0"
                );
                self.line_as(time_ns, cpu, task, self.context, &event)
            }
            Event::Runtime { task, ns } => {
                let here = self.running.cpu_of(task).unwrap_or(0);
                let comm = self.names.of(task, here).0;
                let event = format!("sched_stat_runtime: comm={comm} pid={task} runtime={ns} [ns]");
                self.line(time_ns, here, &event)
            }
            Event::Phase { .. }
            | Event::Overhead { .. }
            | Event::License { .. }
            | Event::Decision { .. } => Ok(()),
        }
    }

    fn switch(
        &mut self,
        time_ns: u64,
        cpu: u32,
        (prev, state): (u32, SwitchState),
        next: u32,
    ) -> io::Result<()> {
        let (prev_comm, prev_prio) = self.names.of(prev, cpu);
        let (next_comm, next_prio) = self.names.of(next, cpu);
        let letter = match state {
            SwitchState::Runnable => 'R',
            SwitchState::Blocked => 'S',
            SwitchState::Dead => 'X',
        };
        let event = format!(
            "sched_switch: prev_comm={prev_comm} prev_pid={prev} prev_prio={prev_prio} \
             prev_state={letter} ==> next_comm={next_comm} next_pid={next} next_prio={next_prio}"
        );
        self.line_as(time_ns, cpu, prev, self.context, &event)?;
        self.running.switch(cpu, prev, next);
        self.left.insert(prev, cpu);
        Ok(())
    }

    /// A line for each CPU of the core.
    fn frequency(&mut self, time_ns: u64, core: u32, khz: u32) -> io::Result<()> {
        let first = core.saturating_mul(self.threads);
        for cpu in first..first.saturating_add(self.threads).min(self.cpus) {
            self.line(time_ns, cpu, &format!("cpu_frequency: state={khz} cpu_id={cpu}"))?;
        }
        Ok(())
    }
}

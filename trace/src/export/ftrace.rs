//! The text form of ftrace, as `trace-cmd report -t` prints it; the import reads this text back.

use std::io::{self, Write};

use super::kernel::{Traced, Tracer, state_of};
use super::names::Names;
use crate::{Event, History};

/// Writes every record, those that no kernel knows (licenses, decisions, phases, overheads) as
/// events of our own. Not carried: applications, processes, topology and facts of the header,
/// programs that tasks begin, messages, and promises of wakers.
///
/// # Errors
/// Errors of `output`.
pub fn ftrace(history: &History, output: impl Write) -> io::Result<()> {
    let header = &history.header;
    let mut tracer = Tracer::new(header);
    let mut text = Text { output, names: Names::new(header) };
    let interrupt = header.interrupts_known().then_some(false);
    writeln!(text.output, "# tracer: nop")?;
    for cpu in 0..header.cpus {
        text.line(header.start_ns, (cpu, 0), interrupt, "tracing_mark_write: begin")?;
    }
    for record in &history.records {
        tracer.trace(&record.event, |traced| {
            let event = text.event(&traced);
            let Traced { cpu, current, interrupt, .. } = traced;
            text.line(record.time_ns, (cpu, current), interrupt, &event)
        })?;
    }
    text.line(header.end_ns, (0, tracer.on(0)), interrupt, "tracing_mark_write: end")?;
    text.output.flush()
}

struct Text<W> {
    output: W,
    names: Names,
}

impl<W: Write> Text<W> {
    fn line(
        &mut self,
        time_ns: u64,
        (cpu, task): (u32, u32),
        interrupt: Option<bool>,
        event: &str,
    ) -> io::Result<()> {
        let context = match interrupt {
            None => "",
            Some(false) => "..... ",
            Some(true) => "d.h.. ",
        };
        let (comm, _) = self.names.of(task, cpu);
        let comm = if task == 0 { "<idle>" } else { &comm };
        let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        writeln!(
            self.output,
            "{comm:>16}-{task:<7} [{cpu:03}] {context}{seconds:>5}.{ns:09}: {event}"
        )
    }

    /// Name and fields of an event, as the kernel prints them.
    fn event(&self, traced: &Traced) -> String {
        let here = traced.cpu;
        match traced.event {
            Event::Switch { cpu, prev, state, next } => {
                let (_, letter) = state_of(state);
                let (prev_comm, prev_prio) = self.names.of(prev, cpu);
                let (next_comm, next_prio) = self.names.of(next, cpu);
                format!(
                    "sched_switch: prev_comm={prev_comm} prev_pid={prev} prev_prio={prev_prio} \
                     prev_state={letter} ==> next_comm={next_comm} next_pid={next} \
                     next_prio={next_prio}"
                )
            }
            Event::Wake { task, cpu, .. } => {
                let (comm, prio) = self.names.of(task, cpu);
                format!("sched_waking: comm={comm} pid={task} prio={prio} target_cpu={cpu:03}")
            }
            Event::Fork { task, by } => {
                let (parent, _) = self.names.of(by, here);
                let (child, _) = self.names.of(task, here);
                format!(
                    "sched_process_fork: comm={parent} pid={by} child_comm={child} \
                     child_pid={task}"
                )
            }
            Event::Migrate { task, from, to } => {
                let (comm, prio) = self.names.of(task, to);
                format!(
                    "sched_migrate_task: comm={comm} pid={task} prio={prio} orig_cpu={from} \
                     dest_cpu={to}"
                )
            }
            Event::Frequency { core, khz } => {
                format!("cpu_frequency: state={khz} cpu_id={core}")
            }
            Event::Registers { xfeatures, .. } => format!(
                "x86_fpu_regs_deactivated: x86/fpu: 0x0 load: 1 xfeatures: {xfeatures:x} \
                 xcomp_bv: 0"
            ),
            Event::Runtime { task, ns } => {
                let (comm, _) = self.names.of(task, here);
                format!("sched_stat_runtime: comm={comm} pid={task} runtime={ns} [ns]")
            }
            Event::License { core, level, rate_permille } => {
                format!("license: core={core} level={level} rate_permille={rate_permille}")
            }
            Event::Decision { victim, culprit, slice_ns, refund_ns, bill_ns, .. } => format!(
                "decision: victim={victim} culprit={culprit} slice_ns={slice_ns} \
                 refund_ns={refund_ns} bill_ns={bill_ns}"
            ),
            Event::Phase { task, class, rate_permille, stall_permille } => format!(
                "phase: task={task} class={class} rate_permille={rate_permille} \
                 stall_permille={stall_permille}"
            ),
            Event::Overhead { ns, .. } => format!("overhead: ns={ns}"),
            Event::Exec { .. }
            | Event::Send { .. }
            | Event::Unsent { .. }
            | Event::Receive { .. }
            | Event::Stack { .. }
            | Event::Counters { .. }
            | Event::Pause { .. } => unreachable!("not carried"),
        }
    }
}

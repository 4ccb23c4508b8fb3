//! Records as events of the kernel: with Perfetto's own message where one exists, else as generic
//! events, as `traced_probes` writes those of unknown tracepoints.

use crate::Event;
use crate::export::kernel::{Traced, state_of};
use crate::export::names::Names;
use crate::perfetto::{event, generic};
use crate::protobuf::Message;

/// The `FtraceEvent`.
pub fn event_of(names: &Names, time_ns: u64, traced: &Traced) -> Message {
    /// `TRACE_FLAG_HARDIRQ` (include/linux/trace_events.h, 6.18).
    const IN_INTERRUPT: u64 = 0x08;
    let (field, message) = payload(names, traced);
    let head =
        Message::default().number(event::TIME, time_ns).number(event::PID, traced.current.into());
    let head = match traced.interrupt {
        Some(interrupt) => head.number(event::FLAGS, u64::from(interrupt) * IN_INTERRUPT),
        None => head,
    };
    head.message(field, &message)
}

fn payload(names: &Names, traced: &Traced) -> (u64, Message) {
    let here = traced.cpu;
    match traced.event {
        Event::Switch { cpu, prev, state, next } => {
            let (next_comm, next_prio) = names.of(next, cpu);
            let message = task(names, prev, cpu)
                .number(4, state_of(state).0)
                .bytes(5, next_comm.as_bytes())
                .number(6, next.into())
                .number(7, next_prio as u64);
            (event::SWITCH, message)
        }
        Event::Wake { task: woken, cpu, .. } => {
            (event::WAKING, task(names, woken, cpu).number(4, 1).number(5, cpu.into()))
        }
        Event::Fork { task: child, by } => {
            let message = Message::default()
                .bytes(1, names.of(by, here).0.as_bytes())
                .number(2, by.into())
                .bytes(3, names.of(child, here).0.as_bytes())
                .number(4, child.into());
            (event::FORK, message)
        }
        Event::Migrate { task: moved, from, to } => {
            let message = task(names, moved, to).number(4, from.into()).number(5, to.into());
            (event::MIGRATE, message)
        }
        Event::Frequency { core, khz } => {
            (event::FREQUENCY, Message::default().number(1, khz.into()).number(2, core.into()))
        }
        _ => (event::GENERIC, generic_of(names, traced)),
    }
}

/// Name, number and priority of a task.
fn task(names: &Names, task: u32, cpu: u32) -> Message {
    let (comm, prio) = names.of(task, cpu);
    let message = Message::default().bytes(1, comm.as_bytes()).number(2, task.into());
    message.number(3, prio as u64)
}

/// The `GenericFtraceEvent`, with the names that text of ftrace has.
fn generic_of(names: &Names, traced: &Traced) -> Message {
    let named = |name: &str| Message::default().bytes(generic::NAME, name.as_bytes());
    match traced.event {
        Event::Runtime { task, ns } => {
            let (comm, _) = names.of(task, traced.cpu);
            let event = text(named("sched_stat_runtime"), "comm", &comm);
            numbers(event, &[("pid", task.into()), ("runtime", ns)])
        }
        Event::Registers { xfeatures, .. } => {
            let fields = [("load_fpu", 1), ("xfeatures", xfeatures)];
            numbers(named("x86_fpu_regs_deactivated"), &fields)
        }
        Event::License { core, level, rate_permille } => numbers(
            named("license"),
            &[
                ("core", core.into()),
                ("level", level.into()),
                ("rate_permille", rate_permille.into()),
            ],
        ),
        Event::Decision { victim, culprit, slice_ns, refund_ns, bill_ns, .. } => numbers(
            named("decision"),
            &[
                ("victim", victim.into()),
                ("culprit", culprit.into()),
                ("slice_ns", slice_ns),
                ("refund_ns", refund_ns),
                ("bill_ns", bill_ns),
            ],
        ),
        Event::Phase { task, class, rate_permille, stall_permille } => {
            let event = text(named("phase"), "class", &class.to_string());
            let fields = [
                ("task", task.into()),
                ("rate_permille", rate_permille.into()),
                ("stall_permille", stall_permille.into()),
            ];
            numbers(event, &fields)
        }
        Event::Overhead { ns, .. } => numbers(named("overhead"), &[("ns", ns)]),
        Event::Switch { .. }
        | Event::Wake { .. }
        | Event::Fork { .. }
        | Event::Migrate { .. }
        | Event::Frequency { .. } => unreachable!("Perfetto knows these"),
        Event::Exec { .. }
        | Event::Send { .. }
        | Event::Unsent { .. }
        | Event::Receive { .. }
        | Event::Stack { .. }
        | Event::Counters { .. }
        | Event::Pause { .. } => {
            unreachable!("not carried")
        }
    }
}

fn text(event: Message, name: &str, text: &str) -> Message {
    let field = Message::default().bytes(generic::FIELD_NAME, name.as_bytes());
    event.message(generic::FIELD, &field.bytes(generic::FIELD_TEXT, text.as_bytes()))
}

fn numbers(event: Message, fields: &[(&str, u64)]) -> Message {
    fields.iter().fold(event, |event, &(name, number)| {
        let field = Message::default().bytes(generic::FIELD_NAME, name.as_bytes());
        event.message(generic::FIELD, &field.number(generic::FIELD_NUMBER, number))
    })
}

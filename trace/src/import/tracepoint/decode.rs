//! The fields of an event out of its bytes.

use super::States;
use super::format::{Field, Format, Location};
use crate::export::ORDER;
use crate::import::entry::{self, Named, Payload, Span};
use crate::import::own::own;
use crate::import::{ImportError, Place};

/// The bytes of one event.
#[derive(Clone, Copy)]
pub struct Raw<'b>(pub &'b [u8]);

impl<'b> Raw<'b> {
    fn number(&self, field: Field) -> Option<u64> {
        let bytes = self.0.get(field.offset..)?.get(..field.size)?;
        if bytes.len() > 8 {
            return None;
        }
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// A process number; the kernel's are signed 32-bit numbers.
    fn pid(&self, field: Field) -> Option<u32> {
        u32::try_from(self.number(field)?).ok().filter(|&pid| pid <= i32::MAX as u32)
    }

    /// Priorities are 32-bit numbers that may be negative.
    fn prio(&self, field: Field) -> Option<i32> {
        Some(u32::try_from(self.number(field)?).ok()?.cast_signed())
    }

    fn cpu(&self, field: Field) -> Option<u32> {
        entry::cpu(u32::try_from(self.number(field)?).ok()?)
    }

    /// A string, up to its end mark.
    fn string(&self, field: Field) -> Option<&'b [u8]> {
        let (start, size) = match field.location {
            Location::Here => (field.offset, field.size),
            Location::Event | Location::Field => {
                let number = u32::try_from(self.number(field)?).ok()?;
                let from = match field.location {
                    Location::Field => field.offset.checked_add(field.size)?,
                    _ => 0,
                };
                (from.checked_add((number & 0xffff) as usize)?, (number >> 16) as usize)
            }
        };
        let bytes = self.0.get(start..)?.get(..size)?;
        Some(&bytes[..memchr::memchr(0, bytes).unwrap_or(size)])
    }

    fn task(&self, fields: &TaskFields, text: &mut Vec<u8>) -> Option<Named> {
        let start = text.len();
        text.extend_from_slice(self.string(fields.comm)?);
        let name = Span::new(start, text.len());
        let prio = match fields.prio {
            Some(prio) => Some(self.prio(prio)?),
            None => None,
        };
        Some(Named { name, pid: self.pid(fields.pid)?, prio })
    }
}

/// Where an event names a task.
#[derive(Clone, Debug)]
struct TaskFields {
    comm: Field,
    pid: Field,
    prio: Option<Field>,
}

/// How the records of one event are read.
#[derive(Clone, Debug)]
pub struct Decoder {
    event: Event,
    order: Option<Field>,
}

#[derive(Clone, Debug)]
enum Event {
    Switch { prev: TaskFields, state: Field, states: States, next: TaskFields },
    Waking { task: TaskFields, cpu: Field },
    Wakeup { task: TaskFields, cpu: Field },
    WakeupNew { task: TaskFields, cpu: Field },
    Migrate { task: TaskFields, from: Field, to: Field },
    Fork { parent: TaskFields, child: TaskFields },
    Exit { task: TaskFields },
    Runtime { task: TaskFields, ns: Field },
    Mark { loaded: Field, xfeatures: Field },
    Frequency { khz: Field, cpu: Field },
    Softirq { name: String, vector: Option<Field> },
    Own { name: String, fields: Vec<(String, Field)> },
    Same(Payload),
}

/// A field that the description of an event lacks.
struct MissingField(&'static str);

impl Decoder {
    /// A decoder of the event that `format` describes.
    pub fn of(format: &Format) -> Result<Self, ImportError> {
        Self::new(format).map_err(|MissingField(field)| {
            let event = crate::clean(format.name.as_bytes());
            let what = format!("the description of the event {event} lacks the field {field}");
            ImportError::Malformed { place: Place::Start, what }
        })
    }

    fn new(format: &Format) -> Result<Self, MissingField> {
        let field = |name: &'static str| format.field(&[name]).ok_or(MissingField(name));
        let task = |comm, pid, prio: Option<&'static str>| {
            let prio = prio.map(field).transpose()?;
            Ok(TaskFields { comm: field(comm)?, pid: field(pid)?, prio })
        };
        let woken = || {
            // `cpu` until 2.6.32.
            let cpu = format.field(&["target_cpu", "cpu"]).ok_or(MissingField("target_cpu"))?;
            Ok((task("comm", "pid", Some("prio"))?, cpu))
        };
        let event = match &format.name[..] {
            "sched_switch" => Event::Switch {
                prev: task("prev_comm", "prev_pid", Some("prev_prio"))?,
                state: field("prev_state")?,
                states: States::parse(&format.print).unwrap_or_default(),
                next: task("next_comm", "next_pid", Some("next_prio"))?,
            },
            "sched_waking" => woken().map(|(task, cpu)| Event::Waking { task, cpu })?,
            "sched_wakeup" => woken().map(|(task, cpu)| Event::Wakeup { task, cpu })?,
            "sched_wakeup_new" => woken().map(|(task, cpu)| Event::WakeupNew { task, cpu })?,
            "sched_migrate_task" => Event::Migrate {
                task: task("comm", "pid", Some("prio"))?,
                from: field("orig_cpu")?,
                to: field("dest_cpu")?,
            },
            "sched_process_fork" => Event::Fork {
                parent: task("parent_comm", "parent_pid", None)?,
                child: task("child_comm", "child_pid", None)?,
            },
            "sched_process_exec" => Event::Same(Payload::Exec),
            "sched_process_exit" => Event::Exit { task: task("comm", "pid", Some("prio"))? },
            "sched_stat_runtime" => {
                Event::Runtime { task: task("comm", "pid", None)?, ns: field("runtime")? }
            }
            "x86_fpu_regs_deactivated" => Event::Mark {
                // The flag before 5.2, and before 4.15.
                loaded: format
                    .field(&["load_fpu", "initialized", "fpregs_active"])
                    .ok_or(MissingField("load_fpu"))?,
                xfeatures: field("xfeatures")?,
            },
            "cpu_frequency" => Event::Frequency { khz: field("state")?, cpu: field("cpu_id")? },
            name @ ("license" | "decision" | "phase" | "overhead") => {
                Event::Own { name: name.to_owned(), fields: format.fields().to_vec() }
            }
            name @ ("softirq_raise" | "softirq_entry" | "softirq_exit") => {
                Event::Softirq { name: name.to_owned(), vector: format.field(&["vec"]) }
            }
            name => {
                Event::Same(Payload::interrupt(name.as_bytes(), None).unwrap_or(Payload::Other))
            }
        };
        Ok(Self { event, order: format.field(&[ORDER]) })
    }

    /// Which event of the same time came first, where our own export says.
    pub fn order(&self, raw: Raw) -> u64 {
        self.order.and_then(|order| raw.number(order)).unwrap_or(0)
    }

    /// Reads an event, whose names go into `text`; `None` if the event is shorter than its fields.
    pub fn decode(&self, raw: Raw, text: &mut Vec<u8>) -> Option<Payload> {
        Some(match &self.event {
            Event::Switch { prev, state, states, next } => {
                let prev = raw.task(prev, text)?;
                let letter = states.letter(raw.number(*state)?);
                return Payload::switch(prev, letter, raw.task(next, text)?);
            }
            Event::Waking { task, cpu } => {
                Payload::Waking { task: raw.task(task, text)?, cpu: raw.cpu(*cpu)? }
            }
            Event::Wakeup { task, cpu } => {
                Payload::Wakeup { task: raw.task(task, text)?, cpu: raw.cpu(*cpu)? }
            }
            Event::WakeupNew { task, cpu } => {
                Payload::WakeupNew { task: raw.task(task, text)?, cpu: raw.cpu(*cpu)? }
            }
            Event::Migrate { task, from, to } => Payload::Migrate {
                task: raw.task(task, text)?,
                from: raw.cpu(*from)?,
                to: raw.cpu(*to)?,
            },
            Event::Fork { parent, child } => {
                Payload::Fork { parent: raw.task(parent, text)?, child: raw.task(child, text)? }
            }
            Event::Exit { task } => Payload::Exit { task: raw.task(task, text)? },
            Event::Runtime { task, ns } => {
                Payload::Runtime { task: raw.task(task, text)?, ns: raw.number(*ns)? }
            }
            Event::Mark { loaded, xfeatures } => Payload::Mark {
                loaded: raw.number(*loaded)? == 1,
                xfeatures: raw.number(*xfeatures)?,
            },
            Event::Frequency { khz, cpu } => Payload::Frequency {
                khz: u32::try_from(raw.number(*khz)?).ok()?,
                cpu: raw.cpu(*cpu)?,
            },
            Event::Softirq { name, vector } => {
                let vector = vector.and_then(|vector| raw.number(vector));
                Payload::interrupt(name.as_bytes(), vector).unwrap_or(Payload::Other)
            }
            Event::Own { name, fields } => {
                let find = |wanted: &str| fields.iter().find(|field| field.0 == wanted);
                let number = |name: &str| raw.number(find(name)?.1);
                let string = |name: &str| raw.string(find(name)?.1);
                Payload::Own(own(name.as_bytes(), number, string)?)
            }
            Event::Same(payload) => payload.clone(),
        })
    }
}

//! An event of the kernel out of its message. Fields that a message lacks are 0 or empty, as in
//! every protocol buffer.

use crate::import::entry::{self, Head, Interrupt, Named, Payload, Span};
use crate::import::own::own;
use crate::import::tracepoint::{States, in_interrupt};
use crate::perfetto::{event, generic};
use crate::protobuf::{Fields, Value};

/// Highest number of a field that is read from the message of an event.
const SLOTS: usize = 7;

/// The fields of a small message.
#[derive(Clone, Copy)]
pub struct Slots<'b>([Option<Value<'b>>; SLOTS + 1]);

impl<'b> Slots<'b> {
    /// The fields; `None` if the bytes are damaged.
    pub fn of(message: &'b [u8]) -> Option<Self> {
        let mut slots = [None; SLOTS + 1];
        for field in Fields::new(message) {
            let (number, value) = field.ok()?;
            if let Some(slot) = usize::try_from(number).ok().and_then(|at| slots.get_mut(at)) {
                *slot = Some(value);
            }
        }
        Some(Self(slots))
    }

    pub fn bytes(&self, field: u64) -> &'b [u8] {
        self.0[field as usize].and_then(Value::bytes).unwrap_or_default()
    }

    pub fn number<T: TryFrom<u64> + Default>(&self, field: u64) -> Option<T> {
        self.0[field as usize].map_or(Some(T::default()), Value::number)
    }

    /// A process number; the kernel's are signed 32-bit numbers.
    pub fn pid(&self, field: u64) -> Option<u32> {
        self.number(field).filter(|&pid: &u32| pid <= i32::MAX as u32)
    }

    fn cpu(&self, field: u64) -> Option<u32> {
        self.number(field).and_then(entry::cpu)
    }

    fn prio(&self, field: u64) -> Option<i32> {
        self.0[field as usize].map_or(Some(0), Value::signed)
    }

    /// A task whose name, number and maybe priority are in these fields.
    fn task(&self, [name, pid]: [u64; 2], prio: Option<u64>, text: &mut Vec<u8>) -> Option<Named> {
        let name = append(self.bytes(name), text);
        let prio = prio.map(|prio| self.prio(prio).ok_or(())).transpose().ok()?;
        Some(Named { name, pid: self.pid(pid)?, prio })
    }
}

/// Adds a name to the text of an entry; no kernel's has more bytes than are taken.
pub fn append(name: &[u8], text: &mut Vec<u8>) -> Span {
    let start = text.len();
    text.extend_from_slice(&name[..name.len().min(crate::COMM_MAX)]);
    Span::new(start, text.len())
}

/// Reads an `FtraceEvent`, whose names go into `text`; `None` for a damaged one.
pub fn event(cpu: u32, bytes: &[u8], text: &mut Vec<u8>) -> Option<(Head, Payload)> {
    let mut head = Head { cpu: Some(cpu), ..Head::default() };
    let mut time_ns = None;
    let mut payload = Payload::Other;
    for field in Fields::new(bytes) {
        match field.ok()? {
            (event::TIME, value) => time_ns = Some(value.number()?),
            (event::PID, value) => {
                head.tid = value.number().filter(|&pid: &u32| pid <= i32::MAX as u32);
            }
            (event::FLAGS, value) => head.interrupt = in_interrupt(value.number::<u64>()?),
            (kind, Value::Bytes(bytes)) => payload = payload_of(kind, bytes, text)?,
            (_, Value::Number(_)) => {}
        }
    }
    head.time_ns = time_ns?;
    Some((head, payload))
}

fn payload_of(kind: u64, bytes: &[u8], text: &mut Vec<u8>) -> Option<Payload> {
    if kind == event::GENERIC {
        return generic_of(bytes, text);
    }
    if let Some(payload) = interrupt(kind) {
        return Some(payload);
    }
    let slots = || Slots::of(bytes);
    let woken = |text: &mut Vec<u8>| {
        let slots = slots()?;
        Some((slots.task([1, 2], Some(3), text)?, slots.cpu(5)?))
    };
    Some(match kind {
        event::SWITCH => {
            let slots = slots()?;
            let prev = slots.task([1, 2], Some(3), text)?;
            let letter = States::default().letter(slots.number(4)?);
            return Payload::switch(prev, letter, slots.task([5, 6], Some(7), text)?);
        }
        event::WAKING => woken(text).map(|(task, cpu)| Payload::Waking { task, cpu })?,
        event::WAKEUP => woken(text).map(|(task, cpu)| Payload::Wakeup { task, cpu })?,
        event::WAKEUP_NEW => woken(text).map(|(task, cpu)| Payload::WakeupNew { task, cpu })?,
        event::MIGRATE => {
            let slots = slots()?;
            let task = slots.task([1, 2], Some(3), text)?;
            Payload::Migrate { task, from: slots.cpu(4)?, to: slots.cpu(5)? }
        }
        event::FORK => {
            let slots = slots()?;
            let parent = slots.task([1, 2], None, text)?;
            Payload::Fork { parent, child: slots.task([3, 4], None, text)? }
        }
        event::EXEC => Payload::Exec,
        event::EXIT => Payload::Exit { task: slots()?.task([1, 2], Some(4), text)? },
        event::FREQUENCY => {
            let slots = slots()?;
            Payload::Frequency { khz: slots.number(1)?, cpu: slots.cpu(2)? }
        }
        _ => Payload::Other,
    })
}

fn interrupt(kind: u64) -> Option<Payload> {
    let (begins, of) = match kind {
        event::SOFTIRQ_ENTRY => (true, Interrupt::Soft),
        event::SOFTIRQ_EXIT => (false, Interrupt::Soft),
        event::LOCAL_TIMER_ENTRY | event::HRTIMER_ENTRY => (true, Interrupt::Timer),
        event::LOCAL_TIMER_EXIT | event::HRTIMER_EXIT => (false, Interrupt::Timer),
        event::IRQ_ENTRY | event::IPI_ENTRY => (true, Interrupt::Device),
        event::IRQ_EXIT | event::IPI_EXIT => (false, Interrupt::Device),
        _ => return None,
    };
    Some(Payload::Interrupt { begins, of, vector: None })
}

/// An event that Perfetto has no message for: its fields have names.
fn generic_of(bytes: &[u8], text: &mut Vec<u8>) -> Option<Payload> {
    let mut name: &[u8] = b"";
    let mut fields = Vec::new();
    for field in Fields::new(bytes) {
        match field.ok()? {
            (generic::NAME, Value::Bytes(bytes)) => name = bytes,
            (generic::FIELD, Value::Bytes(bytes)) => fields.push(Slots::of(bytes)?),
            _ => {}
        }
    }
    let find = |wanted: &str| {
        fields.iter().find(|field| field.bytes(generic::FIELD_NAME) == wanted.as_bytes())
    };
    let number = |name: &str| {
        let field = find(name)?;
        let given = |at: u64| field.0[at as usize].and_then(Value::number::<u64>);
        given(generic::FIELD_NUMBER).or_else(|| given(generic::FIELD_SIGNED))
    };
    let string = |name: &str| find(name).map(|field| field.bytes(generic::FIELD_TEXT));
    Some(match name {
        b"sched_stat_runtime" => {
            let pid = u32::try_from(number("pid")?).ok().filter(|&pid| pid <= i32::MAX as u32)?;
            let name = append(string("comm")?, text);
            Payload::Runtime { task: Named { name, pid, prio: None }, ns: number("runtime")? }
        }
        b"x86_fpu_regs_deactivated" => {
            Payload::Mark { loaded: number("load_fpu")? == 1, xfeatures: number("xfeatures")? }
        }
        _ => Payload::interrupt(name, number("vec"))
            .or_else(|| own(name, number, string).map(Payload::Own))
            .unwrap_or(Payload::Other),
    })
}

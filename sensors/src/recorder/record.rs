//! A record in the layout that the BPF program writes.

/// The event of a record; `enum kind` of `recorder.bpf.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A task that exists at the start.
    Task,
    /// The task that runs on the record's CPU, at the start and at the end.
    Running,
    /// A task left the CPU to `other`.
    Switch,
    /// `other` woke a task, whose CPU is `value`.
    Wake,
    /// A task goes from the CPU `value` to the CPU `other`.
    Migrate,
    /// `other` began a task.
    Fork,
    /// A task runs another program; before, its number was `other`.
    Exec,
    /// The registers of the task that leaves were saved; `value` is XSTATE_BV.
    Registers,
    /// The CPU `other` runs at `value` kHz.
    Frequency,
    /// A marked function begins or ends; `value` is the cookie of the probe.
    Class,
    /// The scheduler chooses a CPU for the program that a task is about to begin.
    Balance,
    /// A task begins to write `other` bytes to the channel `value`.
    Send,
    /// Of a message that was begun, `other` bytes were not written to the channel `value`.
    Unsent,
    /// A task has read `other` bytes from the channel `value`.
    Receive,
    /// The stack of the task that leaves; `value` is its number among [`super::Stacks`].
    Stack,
    /// What the counters of the CPU counted since its last switch; its next switch follows.
    Counters,
}

const KINDS: [Kind; 16] = [
    Kind::Task,
    Kind::Running,
    Kind::Switch,
    Kind::Wake,
    Kind::Migrate,
    Kind::Fork,
    Kind::Exec,
    Kind::Registers,
    Kind::Frequency,
    Kind::Class,
    Kind::Balance,
    Kind::Send,
    Kind::Unsent,
    Kind::Receive,
    Kind::Stack,
    Kind::Counters,
];

const KERNEL_THREAD: u8 = 1;
const BLOCKED: u8 = 2;
const DEAD: u8 = 4;
const INTERRUPT: u8 = 8;
const SYNC: u8 = 16;
const NOT_SYNC: u8 = 32;

/// Bytes of a record without the description of a task.
const SHORT: usize = 32;
/// Bytes of a record with the description.
const LONG: usize = 64;
/// Bytes of a record with a stack.
const STACK: usize = SHORT + FRAMES * 8;
/// Most functions of a recorded stack.
const FRAMES: usize = 48;

/// Bytes of a record with counts.
const COUNTS: usize = SHORT + COUNTERS_MAX * 8;
/// Counters that a CPU may have.
pub const COUNTERS_MAX: usize = 8;

/// Name and priority of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Name, ended by a zero where shorter.
    pub comm: [u8; 16],
    /// Priority as the kernel counts: 100..=139 are nice levels -20..=19.
    pub prio: i32,
    /// Number of its control group of version 2: that of the folder.
    pub control_group: u64,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// Time of the event, by CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Where.
    pub cpu: u32,
    /// The event.
    pub kind: Kind,
    /// By kind; in records that describe a task the ns accounted to it so far.
    pub value: u64,
    /// The task of the event.
    pub tid: u32,
    /// Its process.
    pub pid: u32,
    /// By kind.
    pub other: u32,
    /// Whether the task is a thread of the kernel.
    pub kernel: bool,
    /// Whether the task that left waits.
    pub blocked: bool,
    /// Whether the task that left ended.
    pub dead: bool,
    /// Whether an interrupt caused the event.
    pub interrupt: bool,
    /// Whether the waker promised to wait soon, where the kernel was seen to be told.
    pub sync: Option<bool>,
    /// Name and priority, in records that have them.
    pub description: Option<Description>,
    /// Counts by position among [`super::COUNTED`], in records of counters.
    pub counts: Option<[u64; COUNTERS_MAX]>,
}

impl Raw {
    /// Reads a record; `None` for bytes that are no record.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let long = bytes.len() == LONG;
        let kind = *KINDS.get(usize::from(*bytes.get(30)?).checked_sub(1)?)?;
        let flags = *bytes.get(SHORT - 1)?;
        let description = long.then(|| Description {
            comm: array(bytes, SHORT),
            prio: i32::from_ne_bytes(array(bytes, 48)),
            control_group: u64::from_ne_bytes(array(bytes, 56)),
        });
        let is_counts = kind == Kind::Counters && bytes.len() == COUNTS;
        let count = |at: usize| u64::from_ne_bytes(array(bytes, SHORT + at * 8));
        Some(Self {
            time_ns: u64::from_ne_bytes(array(bytes, 0)),
            value: u64::from_ne_bytes(array(bytes, 8)),
            tid: u32::from_ne_bytes(array(bytes, 16)),
            pid: u32::from_ne_bytes(array(bytes, 20)),
            other: u32::from_ne_bytes(array(bytes, 24)),
            cpu: u32::from(u16::from_ne_bytes(array(bytes, 28))),
            kind,
            kernel: flags & KERNEL_THREAD != 0,
            blocked: flags & BLOCKED != 0,
            dead: flags & DEAD != 0,
            interrupt: flags & INTERRUPT != 0,
            sync: (flags & (SYNC | NOT_SYNC) != 0).then_some(flags & SYNC != 0),
            description,
            counts: is_counts.then(|| std::array::from_fn(count)),
        })
    }
}

/// The addresses of a record of a stack, the innermost first; `None` for other records.
#[must_use]
pub fn addresses(bytes: &[u8]) -> Option<Vec<u64>> {
    let raw = Raw::parse(bytes)?;
    if raw.kind != Kind::Stack || bytes.len() != STACK {
        return None;
    }
    let count = usize::try_from(raw.value / 8).unwrap_or(FRAMES).min(FRAMES);
    Some((0..count).map(|frame| u64::from_ne_bytes(array(bytes, SHORT + frame * 8))).collect())
}

/// `N` bytes from `at` on; the caller has checked the length.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_switch_are_where_the_program_puts_them() {
        let mut bytes = [0; LONG];
        bytes[0] = 7;
        bytes[8] = 9;
        bytes[16] = 11;
        bytes[20] = 10;
        bytes[24] = 12;
        bytes[29] = 1;
        bytes[30] = 3;
        bytes[31] = 1 | 2;
        bytes[32..36].copy_from_slice(b"x265");
        bytes[48] = 120;
        bytes[56..58].copy_from_slice(&300u16.to_ne_bytes());
        let raw = Raw::parse(&bytes).unwrap();
        assert_eq!((raw.time_ns, raw.value, raw.tid, raw.pid, raw.other), (7, 9, 11, 10, 12));
        assert_eq!((raw.cpu, raw.kind), (256, Kind::Switch));
        assert_eq!([raw.kernel, raw.blocked, raw.dead, raw.interrupt], [true, true, false, false]);
        let description = raw.description.unwrap();
        assert_eq!((&description.comm[..5], description.prio), (&b"x265\0"[..], 120));
        assert_eq!(description.control_group, 300);
    }

    #[test]
    fn a_stack_has_as_many_addresses_as_its_record_says() {
        let mut bytes = [0; STACK];
        bytes[30] = 15;
        bytes[SHORT..SHORT + 2].copy_from_slice(&[1, 2]);
        for (said, count) in [(0, 0), (8, 1), (16, 2), (u64::MAX, FRAMES)] {
            bytes[8..16].copy_from_slice(&u64::to_ne_bytes(said));
            assert_eq!(addresses(&bytes).unwrap().len(), count);
        }
        assert_eq!(addresses(&bytes).unwrap()[0], 513);
        assert_eq!(addresses(&bytes[..STACK - 8]), None);
        bytes[30] = 8;
        assert_eq!(addresses(&bytes), None);
    }

    #[test]
    fn counts_are_in_order() {
        let mut bytes = [0; COUNTS];
        bytes[30] = 16;
        bytes[SHORT] = 3;
        bytes[SHORT + 57] = 1;
        let counts = Raw::parse(&bytes).unwrap().counts.unwrap();
        assert_eq!((counts[0], counts[7]), (3, 256));
        bytes[30] = 3;
        assert_eq!(Raw::parse(&bytes).unwrap().counts, None);
    }

    #[test]
    fn short_ones_have_no_name_and_what_is_none_is_refused() {
        let mut bytes = [0; SHORT];
        assert_eq!(Raw::parse(&bytes), None);
        bytes[30] = 8;
        assert_eq!(Raw::parse(&bytes).unwrap().description, None);
        assert_eq!(Raw::parse(&bytes).unwrap().counts, None);
        bytes[30] = 17;
        assert_eq!(Raw::parse(&bytes), None);
        assert_eq!(Raw::parse(&bytes[..31]), None);
    }
}

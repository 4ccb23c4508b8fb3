//! Entries: the common form that every reader gives a recording, in the recording's order.

use crate::{Event, SwitchState};

/// An event: task, CPU, time and payload. Names are parts of `text`.
pub struct Entry {
    pub text: Vec<u8>,
    pub head: Head,
    pub payload: Payload,
}

/// The fields that a recorder gives every event.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Name of the running task, as recorded.
    pub name: Span,
    /// Process of the running task, if recorded.
    pub process: Option<u32>,
    /// The running task; `None` if the recorder wrote `-1`.
    pub tid: Option<u32>,
    /// CPU of the event, if recorded.
    pub cpu: Option<u32>,
    /// Time of the event.
    pub time_ns: u64,
    /// Whether the event happened in an interrupt, if recorded (by ftrace only).
    pub interrupt: Option<bool>,
}

/// A part of an entry's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Bytes `start..end`; no text of an entry has 4 GiB.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end.max(start) as u32 }
    }

    /// The part from `start` on, if `start` is within the text.
    pub fn from(self, start: usize) -> Option<Self> {
        (start <= self.end as usize)
            .then(|| Self::new(start.max(self.start as usize), self.end as usize))
    }

    /// The bytes themselves.
    pub fn of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// A task as named by a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: Span,
    /// Its id, the same for every observer.
    pub pid: u32,
    /// Priority as the kernel counts: 100..=139 are nice levels -20..=19.
    pub prio: Option<i32>,
}

/// The event with its own fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    Switch {
        prev: Named,
        state: SwitchState,
        idle_wait: bool,
        next: Named,
    },
    Waking {
        task: Named,
        cpu: u32,
    },
    Wakeup {
        task: Named,
        cpu: u32,
    },
    WakeupNew {
        task: Named,
        cpu: u32,
    },
    Migrate {
        task: Named,
        from: u32,
        to: u32,
    },
    Fork {
        parent: Named,
        child: Named,
    },
    Exec,
    Exit {
        task: Named,
    },
    Runtime {
        task: Named,
        ns: u64,
    },
    Mark {
        loaded: bool,
        xfeatures: u64,
    },
    Frequency {
        khz: u32,
        cpu: u32,
    },
    Lost {
        events: u64,
    },
    /// An interrupt begins or ends on the line's CPU.
    Interrupt {
        begins: bool,
        of: Interrupt,
        /// Number of a softirq, where the recording says so.
        vector: Option<u32>,
    },
    /// The softirq of that number is to run on the line's CPU.
    Raised {
        vector: u32,
    },
    /// An event of our own exports.
    Own(Event),
    Other,
}

/// Kinds of interrupts of which each has to be recorded for every waker to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// A softirq: timers of the wheel, network, completed input and output.
    Soft,
    /// The timer of the CPU, which runs the precise timers.
    Timer,
    /// Any other.
    Device,
}

impl Payload {
    /// A switch, with the letter that the kernel prints for the state
    /// (`task_state_to_char`, include/linux/sched.h, 6.18).
    pub fn switch(prev: Named, letter: u8, next: Named) -> Option<Self> {
        let state = match letter {
            b'R' => SwitchState::Runnable,
            b'X' | b'Z' | b'x' => SwitchState::Dead,
            b'S' | b'D' | b'T' | b't' | b'P' | b'I' | b'K' | b'W' | b'N' => SwitchState::Blocked,
            _ => return None,
        };
        Some(Self::Switch { prev, state, idle_wait: letter == b'I', next })
    }

    /// The meaning of an event of interrupts, by its name and its number of a softirq.
    pub fn interrupt(event: &[u8], vector: Option<u64>) -> Option<Self> {
        let vector = vector.and_then(|vector| u32::try_from(vector).ok());
        if event == b"softirq_raise" {
            return vector.map(|vector| Self::Raised { vector });
        }
        let (begins, of) = match event.strip_suffix(b"_entry") {
            Some(of) => (true, of),
            None => (false, event.strip_suffix(b"_exit")?),
        };
        let of = match of {
            b"softirq" => Interrupt::Soft,
            b"local_timer" | b"hrtimer_expire" => Interrupt::Timer,
            b"irq_handler" | b"call_function" | b"call_function_single" | b"irq_work" => {
                Interrupt::Device
            }
            _ => return None,
        };
        Some(Self::Interrupt { begins, of, vector })
    }

    /// Where its name stands in [`KINDS`].
    pub fn kind(&self) -> usize {
        match self {
            Self::Switch { .. } => 0,
            Self::Waking { .. } => 1,
            Self::Wakeup { .. } => 2,
            Self::WakeupNew { .. } => 3,
            Self::Migrate { .. } => 4,
            Self::Fork { .. } => 5,
            Self::Exec => 6,
            Self::Exit { .. } => 7,
            Self::Runtime { .. } => 8,
            Self::Mark { .. } => 9,
            Self::Frequency { .. } => 10,
            Self::Lost { .. } => 11,
            Self::Interrupt { .. } | Self::Raised { .. } => 12,
            Self::Own(_) => 13,
            Self::Other => 14,
        }
    }
}

/// Names of events, in the order of [`Payload::kind`].
pub const KINDS: [&str; 15] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
    "sched_stat_runtime",
    "x86_fpu_regs_deactivated",
    "cpu_frequency",
    "lost",
    "interrupt",
    "evenkeel",
    "other",
];

/// The CPU of that number; `None` for a number that no history can have.
pub fn cpu(number: u32) -> Option<u32> {
    (number < crate::CPUS_MAX).then_some(number)
}

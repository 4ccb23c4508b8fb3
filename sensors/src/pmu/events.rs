//! What can be asked of a PMU, and which event of which CPU answers?
//!
//! The answers are in `table.rs`, which `cargo xtask gen` writes from Intel's event lists
//! (intel/perfmon 6dadedf3aa48) and from Table 3.2 of the dissertation.

use super::code::Code;
use super::refusal::Refusal;

macro_rules! questions {
    ($($variant:ident, $name:literal, $sentence:literal;)*) => {
        /// What can be asked of a PMU.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Question {
            $(#[doc = $sentence] $variant,)*
        }

        impl Question {
            /// All, in order.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Its name, which is that of the signal in CPU tables.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The question in words.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }
        }
    };
}

questions! {
    Cycles, "cycles", "Core cycles while not halted.";
    RefCycles, "ref-cycles", "Reference cycles while not halted.";
    License0, "license-0", "Core cycles at license level 0.";
    License1, "license-1", "Core cycles at license level 1.";
    License2, "license-2", "Core cycles at license level 2.";
    Throttle, "throttle", "Core cycles throttled for a change of the license level.";
    License0Narrow, "license-0-narrow",
        "Core cycles at level 0 that instructions of 128 bits or less demand.";
    License0Avx2Light, "license-0-avx2-light",
        "Core cycles at level 0 that light 256-bit instructions demand.";
    License1Avx2Heavy, "license-1-avx2-heavy",
        "Core cycles at level 1 that heavy 256-bit instructions demand.";
    License1Avx512Light, "license-1-avx512-light",
        "Core cycles at level 1 that light 512-bit instructions demand.";
    StallsL2Miss, "stalls-l2-miss", "Cycles stalled while a load misses L2.";
    BoundOnStores, "bound-on-stores", "Cycles stalled by a full store buffer.";
    Fp256, "fp-256", "Floating-point instructions of 256 bits that retired.";
    Fp512, "fp-512", "Floating-point instructions of 512 bits that retired.";
    Fp16x256, "fp16-256", "Half-precision instructions of 256 bits that retired.";
    Fp16x512, "fp16-512", "Half-precision instructions of 512 bits that retired.";
    Int256, "int-256", "Integer instructions of 256 bits that retired.";
    Avx256, "avx-256", "All 256-bit instructions that retired, approximately.";
    AmxBusy, "amx-busy", "Cycles with a busy unit of AMX.";
}

/// Whose events a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of the logical CPU.
    Thread,
    /// Those of the core: both siblings read the same count.
    Core,
}

/// An event that answers a question on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The question.
    pub question: Question,
    /// Intel's names; of several events the unit masks are combined.
    pub names: &'static [&'static str],
    /// Event number.
    pub event: u8,
    /// Unit mask.
    pub umask: u8,
    /// Counter mask: cycles with at least as many events are counted; 0: events are.
    pub cmask: u8,
    /// Whose events are counted.
    pub scope: Scope,
    /// Bits of the general counters that can count the event, with and without hyper-threading;
    /// 0: a fixed counter does.
    pub counters: [u8; 2],
    /// What the count does not show.
    pub misses: &'static str,
}

impl Event {
    /// Event, unit mask and counter mask as `IA32_PERFEVTSELx` has them (SDM 20.2.1.1). The events
    /// of fixed counters are those that perf itself defines.
    #[must_use]
    pub fn code(&self) -> Code {
        match self.question {
            Question::Cycles => Code::CYCLES,
            Question::RefCycles => Code::REF_CYCLES,
            _ => {
                let [event, umask, cmask] = [self.event, self.umask, self.cmask].map(u64::from);
                Code::raw(event | umask << 8 | cmask << 24)
            }
        }
    }
}

/// Models of a CPU family, by what CPUID says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Model.
    pub number: u32,
    /// First and last stepping.
    pub steppings: (u32, u32),
}

/// A generation of CPUs with the same events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Microarchitecture {
    /// Intel's abbreviation, such as `SKX`.
    pub abbreviation: &'static str,
    /// Name of the microarchitecture.
    pub name: &'static str,
    /// CPU family.
    pub family: u32,
    /// Models of the family.
    pub models: &'static [Model],
    /// Where the codes come from.
    pub source: &'static str,
    /// One event for each question that the PMU answers.
    pub events: &'static [Event],
}

impl Microarchitecture {
    /// The event that answers a question; `None`: this CPU has none.
    #[must_use]
    pub fn event(&self, question: Question) -> Option<&'static Event> {
        self.events.iter().find(|event| event.question == question)
    }

    /// Whether all the questions can be answered at the same time, while no other program uses a
    /// counter. Questions without an event, and fixed counters, take no room.
    #[must_use]
    pub fn fits(&self, questions: &[Question], hyper_threading: bool) -> bool {
        let position = usize::from(!hyper_threading);
        let bits = questions.iter().filter_map(|&question| Some(self.event(question)?.counters));
        let sets: Vec<u8> = bits.map(|sets| sets[position]).filter(|&set| set != 0).collect();
        // Hall's condition; it needs only the sets themselves, since of two sets of the lists one
        // contains the other.
        let is_enough = |&room: &u8| {
            let within = sets.iter().filter(|&&set| set & !room == 0).count();
            within <= room.count_ones() as usize
        };
        sets.iter().all(is_enough)
    }
}

/// The code of the event that answers a question on a CPU. Cycles and reference cycles are defined
/// by perf for all CPUs, known or not.
///
/// # Errors
/// [`Refusal::UnknownCpu`] and [`Refusal::NoEvent`].
pub fn code(cpu: Option<&Microarchitecture>, question: Question) -> Result<Code, Refusal> {
    match question {
        Question::Cycles => Ok(Code::CYCLES),
        Question::RefCycles => Ok(Code::REF_CYCLES),
        _ => {
            let cpu = cpu.ok_or(Refusal::UnknownCpu)?;
            cpu.event(question).map(Event::code).ok_or(Refusal::NoEvent)
        }
    }
}
